/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/std.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How often a thread has a lock: text knows no re-entrant locks, so only the
 * first acquisition and the last release are written. */
struct hold {
	uint64_t lock;
	uint32_t thread;
	uint32_t depth; /* 0: the slot is free unless used is set */
	bool used;
};

/* Functions that a thread has open, and the outermost one. */
struct open {
	uint64_t frames;
	const char *outermost;
};

struct exporter {
	struct trace *trace;
	FILE *out;
	bool imported;
	bool functions;
	struct hold *holds;
	uint64_t hold_room, hold_count;
	struct open *open; /* by thread */
};

static struct hold *find_hold(struct exporter *x, uint64_t lock, uint32_t thread)
{
	uint64_t i = (lock ^ (uint64_t)thread << 40) * 0x9e3779b97f4a7c15ull >> 20;

	for (i &= x->hold_room - 1; x->holds[i].used; i = (i + 1) & (x->hold_room - 1))
		if (x->holds[i].lock == lock && x->holds[i].thread == thread)
			break;
	return &x->holds[i];
}

static struct hold *hold(struct exporter *x, uint64_t lock, uint32_t thread)
{
	struct hold *h;

	if (x->hold_count * 2 >= x->hold_room) {
		struct hold *old = x->holds;
		uint64_t room = x->hold_room;

		x->hold_room = room ? room * 2 : 256;
		x->holds = mem_zalloc(x->hold_room, sizeof *x->holds);
		for (uint64_t i = 0; i < room; i++)
			if (old[i].used)
				*find_hold(x, old[i].lock, old[i].thread) = old[i];
		free(old);
	}
	h = find_hold(x, lock, thread);
	if (!h->used) {
		*h = (struct hold){.lock = lock, .thread = thread, .used = true};
		x->hold_count++;
	}
	return h;
}

static void put_hex(FILE *out, char letter, uint64_t value)
{
	char text[20];
	char *p = text + sizeof text;

	do
		*--p = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	*--p = letter;
	fwrite_unlocked(p, 1, (size_t)(text + sizeof text - p), out);
}

/* A name that came from a program may have what the text uses to separate. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc_unlocked((unsigned char)*name <= ' ' || strchr("|()", *name) ? '_' : *name, out);
}

static void put_thread(struct exporter *x, uint32_t number)
{
	int64_t index = trace_thread_index(x->trace, number);
	const char *name = trace_std_name(x->trace, TRACE_STD_THREADS, number);

	if (name)
		fputs_unlocked(name, x->out);
	else if (index >= 0)
		fputs_unlocked(trace_thread_name(x->trace, (uint32_t)index), x->out);
	else
		fprintf(x->out, "T?%" PRIu32, number);
}

static void put_object(struct exporter *x, enum std_op op, uint64_t address)
{
	bool lock = op == STD_ACQ || op == STD_REL;
	const char *name =
		x->imported ? trace_std_name(x->trace, lock ? TRACE_STD_LOCKS : TRACE_STD_VARIABLES, address)
			    : NULL;

	if (name)
		fputs_unlocked(name, x->out);
	else
		put_hex(x->out, lock ? 'L' : 'V', address);
}

static void put_place(struct exporter *x, uint32_t number)
{
	struct trace_site site;

	putc_unlocked('|', x->out);
	if (!x->imported)
		fprintf(x->out, "%" PRIu32, number);
	else if (!trace_site(x->trace, number, &site, NULL) && site.file)
		fputs_unlocked(site.file, x->out);
	putc_unlocked('\n', x->out);
}

static void put_op(struct exporter *x, const struct trace_event *e, enum std_op op)
{
	static const char *const texts[] = {
#define X(name, text) "|" text,
		STD_OPS(X)
#undef X
	};

	put_thread(x, x->trace->threads[e->thread].number);
	fputs_unlocked(texts[op], x->out);
}

/* Lines whose name is a variable or a lock. */
static void line(struct exporter *x, const struct trace_event *e, enum std_op op, uint64_t address)
{
	put_op(x, e, op);
	putc_unlocked('(', x->out);
	put_object(x, op, address);
	putc_unlocked(')', x->out);
	put_place(x, e->site);
}

static void thread_line(struct exporter *x, const struct trace_event *e, enum std_op op)
{
	put_op(x, e, op);
	putc_unlocked('(', x->out);
	put_thread(x, (uint32_t)e->value);
	putc_unlocked(')', x->out);
	put_place(x, e->site);
}

static void unit_line(struct exporter *x, const struct trace_event *e, enum std_op op, const char *function)
{
	const char *name = x->imported ? trace_std_name(x->trace, TRACE_STD_UNITS, e->address) : "unit";

	put_op(x, e, op);
	if (function) {
		putc_unlocked('(', x->out);
		put_name(x->out, function);
		putc_unlocked(')', x->out);
	} else if (name) {
		putc_unlocked('(', x->out);
		fputs_unlocked(name, x->out);
		putc_unlocked(')', x->out);
	}
	put_place(x, e->kind == TRACE_OP ? e->site : TRACE_NO_SITE);
}

static void acquire(struct exporter *x, const struct trace_event *e, uint64_t lock)
{
	if (x->imported || !hold(x, lock, e->thread)->depth++)
		line(x, e, STD_ACQ, lock);
}

/* A lock that was taken before the recording began is not released either. */
static void release(struct exporter *x, const struct trace_event *e, uint64_t lock)
{
	struct hold *h = x->imported ? NULL : hold(x, lock, e->thread);

	if (!h || (h->depth && !--h->depth))
		line(x, e, STD_REL, lock);
}

static void leave(struct exporter *x, const struct trace_event *e, uint64_t frames)
{
	struct open *open = &x->open[e->thread];

	if (open->frames && open->frames <= frames)
		unit_line(x, e, STD_END, open->outermost);
	open->frames -= frames < open->frames ? frames : open->frames;
}

static void enter(struct exporter *x, const struct trace_event *e)
{
	struct open *open = &x->open[e->thread];
	struct trace_function f = {0};

	if (open->frames++)
		return;
	trace_function(x->trace, e->function, &f, NULL);
	open->outermost = f.name ? f.name : "function";
	unit_line(x, e, STD_BEGIN, open->outermost);
}

static void export_op(struct exporter *x, const struct trace_event *e)
{
	switch (e->op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		acquire(x, e, e->address);
		break;
	case TRACE_OP_UNLOCK:
		release(x, e, e->address);
		break;
	case TRACE_OP_WAIT:
		release(x, e, e->value);
		break;
	case TRACE_OP_WAKE:
		acquire(x, e, e->value);
		break;
	case TRACE_OP_CREATE:
		thread_line(x, e, STD_FORK);
		break;
	case TRACE_OP_END:
		leave(x, e, UINT64_MAX);
		break;
	case TRACE_OP_JOIN:
		thread_line(x, e, STD_JOIN);
		break;
	case TRACE_OP_ATOMIC_LOAD:
	case TRACE_OP_ATOMIC_FAILED:
		line(x, e, STD_R, e->address);
		break;
	case TRACE_OP_ATOMIC_RMW:
		line(x, e, STD_R, e->address);
		line(x, e, STD_W, e->address);
		break;
	case TRACE_OP_ATOMIC_STORE:
		line(x, e, STD_W, e->address);
		break;
	case TRACE_OP_UNIT_BEGIN:
		unit_line(x, e, STD_BEGIN, NULL);
		break;
	case TRACE_OP_UNIT_END:
		unit_line(x, e, STD_END, NULL);
		break;
	}
}

static void export_access(struct exporter *x, const struct trace_event *e)
{
	if (e->access == ATOMSAN_OBJECT)
		return;
	if (e->access != ATOMSAN_WRITE && e->access != ATOMSAN_ATOMIC_STORE)
		line(x, e, STD_R, e->address);
	if (e->access != ATOMSAN_READ && e->access != ATOMSAN_ATOMIC_LOAD)
		line(x, e, STD_W, e->address);
}

int std_export(struct trace *trace, FILE *out, const struct std_options *options, struct err *err)
{
	struct exporter x = {.trace = trace,
			     .out = out,
			     .imported = trace->header.flags & TRACE_IMPORTED,
			     .functions = options->functions,
			     .open = mem_zalloc(trace->thread_count + 1, sizeof *x.open)};
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event e;
	int got;

	while ((got = trace_next(cursor, &e)) > 0 && !ferror(out)) {
		if (e.kind == TRACE_ACCESS)
			export_access(&x, &e);
		else if (e.kind == TRACE_OP)
			export_op(&x, &e);
		else if (x.functions && e.kind == TRACE_ENTER)
			enter(&x, &e);
		else if (x.functions)
			leave(&x, &e, e.frames);
	}
	if (got < 0 && err)
		*err = *trace_cursor_error(cursor);
	trace_cursor_close(cursor);
	free(x.holds);
	free(x.open);
	return got < 0 ? -1 : 0;
}
