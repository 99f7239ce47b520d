/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/nametable.h"
#include "trace/std.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *std_parse(const char *line, size_t length, struct std_line *parts)
{
	static const struct {
		const char *text;
		size_t length;
	} ops[] = {
#define X(name, text) {text, sizeof text - 1},
		STD_OPS(X)
#undef X
	};
	const char *end = line + length;
	const char *bar = memchr(line, '|', length), *second, *open;
	size_t op_length;
	unsigned op;

	second = bar ? memchr(bar + 1, '|', (size_t)(end - bar - 1)) : NULL;
	if (!second)
		return "is not of the form thread|op(name)|place";
	if (memchr(line, 0, length))
		return "has a NUL byte";
	if (bar == line)
		return "has no thread";
	open = memchr(bar + 1, '(', (size_t)(second - bar - 1));
	op_length = (size_t)((open ? open : second) - bar - 1);
	for (op = 0; op < STD_OP_COUNT; op++)
		if (op_length == ops[op].length && !memcmp(bar + 1, ops[op].text, op_length))
			break;
	if (op == STD_OP_COUNT)
		return "has an operation other than r, w, acq, rel, fork, join, begin, end";
	if (open && second[-1] != ')')
		return "has no closing parenthesis after the name";
	*parts = (struct std_line){.op = (enum std_op)op,
				   .thread = line,
				   .thread_length = (size_t)(bar - line),
				   .name = open ? open + 1 : second,
				   .name_length = open ? (size_t)(second - open - 2) : 0,
				   .place = second + 1,
				   .place_length = (size_t)(end - second - 1),
				   .bare = !open};
	if (!parts->name_length && op != STD_BEGIN && op != STD_END)
		return "has no name in parentheses";
	return NULL;
}

/* Who has a lock, to mark re-entrant use. */
struct holder {
	uint32_t thread; /* number + 1; 0: nobody */
	uint32_t depth;
};

struct importer {
	struct trace_writer *writer;
	struct nametable names[TRACE_STD_ITEMS];
	struct nametable places;
	uint32_t (*sites)[STD_OP_COUNT]; /* by place and op; 0: not yet */
	struct holder *holders;          /* by lock */
	uint8_t *started;                /* by thread */
	uint32_t *parents;               /* by thread: number + 1 of who forked it */
	uint32_t site_room, holder_room, thread_room;
	uint32_t latest; /* thread of the event before, number + 1 */
};

/* Makes room for index in an array of zeros. */
static void *room_for(void *array, uint32_t *room, uint32_t index, size_t size)
{
	uint32_t more;

	if (index < *room)
		return array;
	more = index * 2 + 64;
	array = mem_resize(array, more, size);
	memset((char *)array + *room * size, 0, (more - *room) * size);
	*room = more;
	return array;
}

static uint32_t thread_number(struct importer *im, const char *name, size_t length)
{
	uint32_t room = im->thread_room;
	uint32_t number = nametable_number(&im->names[TRACE_STD_THREADS], name, length);

	im->started = room_for(im->started, &room, number, sizeof *im->started);
	im->parents = room_for(im->parents, &im->thread_room, number, sizeof *im->parents);
	return number;
}

static uint32_t site_number(struct importer *im, const struct std_line *line)
{
	static const uint8_t kinds[STD_OP_COUNT] = {
		[STD_R] = ATOMSAN_READ,     [STD_W] = ATOMSAN_WRITE,   [STD_ACQ] = ATOMSAN_CALL,
		[STD_REL] = ATOMSAN_CALL,   [STD_FORK] = ATOMSAN_CALL, [STD_JOIN] = ATOMSAN_CALL,
		[STD_BEGIN] = ATOMSAN_CALL, [STD_END] = ATOMSAN_CALL,
	};
	uint32_t place = nametable_number(&im->places, line->place, line->place_length);
	uint32_t *site;

	im->sites = room_for(im->sites, &im->site_room, place, sizeof *im->sites);
	site = &im->sites[place][line->op];
	if (!*site) {
		struct trace_site new = {.file = nametable_name(&im->places, place),
					 .kind = kinds[line->op],
					 .size = line->op <= STD_W ? 8 : 0};

		*site = trace_writer_site(im->writer, &new);
	}
	return *site;
}

/* The runtime marks a lock that its thread has already, and so does the import. */
static uint16_t lock_flags(struct importer *im, uint32_t lock, uint32_t thread, bool acquire)
{
	struct holder *h;

	im->holders = room_for(im->holders, &im->holder_room, lock, sizeof *im->holders);
	h = &im->holders[lock];
	if (acquire && h->thread == thread + 1) {
		h->depth++;
		return TRACE_LOCK_RECURSIVE;
	}
	if (acquire) {
		*h = (struct holder){thread + 1, 1};
	} else if (h->thread == thread + 1) {
		if (--h->depth)
			return TRACE_LOCK_RECURSIVE;
		h->thread = 0;
	}
	return 0;
}

static uint64_t number_at(struct importer *im, enum trace_std_item item, const struct std_line *line)
{
	return nametable_number(&im->names[item], line->name, line->name_length);
}

static void import_line(struct importer *im, const struct std_line *line)
{
	struct trace_event e = {.kind = TRACE_OP,
				.thread = thread_number(im, line->thread, line->thread_length)};
	uint64_t name;

	if (!im->started[e.thread]) {
		struct trace_event start = {.kind = TRACE_OP, .op = TRACE_OP_START, .thread = e.thread};

		if (im->parents[e.thread]) {
			start.other = im->parents[e.thread] - 1;
			start.prefixes = 1 << TRACE_PREFIX_OTHER;
		}
		trace_writer_event(im->writer, &start);
		im->started[e.thread] = 1;
		im->latest = e.thread + 1;
	}
	e.site = site_number(im, line);
	switch (line->op) {
	case STD_R:
	case STD_W:
		e.kind = TRACE_ACCESS;
		e.address = TRACE_STD_VARIABLE_BASE + 8 * number_at(im, TRACE_STD_VARIABLES, line);
		/* Stamped where threads take turns, so that the order is the text's. */
		e.stamped = im->latest != e.thread + 1;
		if (e.stamped)
			e.key = trace_writer_stamp(im->writer);
		break;
	case STD_ACQ:
	case STD_REL:
		e.op = line->op == STD_ACQ ? TRACE_OP_LOCK : TRACE_OP_UNLOCK;
		name = number_at(im, TRACE_STD_LOCKS, line);
		e.flags = lock_flags(im, (uint32_t)name, e.thread, line->op == STD_ACQ);
		e.address = TRACE_STD_LOCK_BASE + 8 * name;
		break;
	case STD_FORK:
	case STD_JOIN:
		e.op = line->op == STD_FORK ? TRACE_OP_CREATE : TRACE_OP_JOIN;
		e.value = thread_number(im, line->name, line->name_length);
		e.prefixes = 1 << TRACE_PREFIX_VALUE;
		if (line->op == STD_FORK && !im->parents[e.value])
			im->parents[e.value] = e.thread + 1;
		break;
	case STD_BEGIN:
	case STD_END:
		e.op = line->op == STD_BEGIN ? TRACE_OP_UNIT_BEGIN : TRACE_OP_UNIT_END;
		if (!line->bare)
			e.address = TRACE_STD_UNIT_BASE + 8 * number_at(im, TRACE_STD_UNITS, line);
		break;
	case STD_OP_COUNT:
		break;
	}
	trace_writer_event(im->writer, &e);
	im->latest = e.thread + 1;
}

static int import_lines(struct importer *im, const char *text, size_t size, const char *path, struct err *err)
{
	const char *end = text + size, *next;
	uint64_t number = 1, events = 0;

	for (; text < end; text = next, number++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		struct std_line line;
		const char *wrong;

		next = text + length + 1;
		if (!length) {
			if (!newline)
				break;
			continue;
		}
		wrong = std_parse(text, length, &line);
		if (wrong && !events)
			return err_set(err,
				       "%s: the file is neither a trace nor STD text: line %" PRIu64 " %s",
				       path, number, wrong);
		if (wrong)
			return err_set(err, "%s: line %" PRIu64 " %s", path, number, wrong);
		import_line(im, &line);
		events++;
		if (!newline)
			break;
	}
	if (!events)
		return err_set(err, "%s: the file has no events", path);
	return 0;
}

int std_import(const char *text, size_t size, const char *path, const char *to, struct err *err)
{
	struct importer im = {.writer = trace_writer_open(to, TRACE_IMPORTED | TRACE_UNFILTERED, err)};
	int failed;

	if (!im.writer)
		return -1;
	trace_writer_module(im.writer, path, NULL, 0);
	failed = import_lines(&im, text, size, path, err);
	for (uint32_t i = 0; i < TRACE_STD_ITEMS; i++) {
		if (!failed && im.names[i].count)
			trace_writer_meta(im.writer, TRACE_META_STD, i, im.names[i].text, im.names[i].length);
		nametable_release(&im.names[i]);
	}
	nametable_release(&im.places);
	free(im.sites);
	free(im.holders);
	free(im.started);
	free(im.parents);
	if (!failed)
		return trace_writer_finish(im.writer, err);
	trace_writer_abandon(im.writer);
	return -1;
}
