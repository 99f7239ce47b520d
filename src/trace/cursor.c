/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/cursor.h"

#include "trace/stream.h"
#include "trace/word_inl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((noinline, cold))

const char *trace_op_text(unsigned op)
{
	switch (op) {
#define X(number, name, text, object, value, other) \
	case number:                                \
		return text;
		TRACE_OPS(X)
#undef X
	}
	return NULL;
}

/* Which op numbers there are, for the decoder. */
static const uint8_t known_op[1 << TRACE_OP_BITS] = {
#define X(number, name, text, object, value, other) [number] = 1,
	TRACE_OPS(X)
#undef X
};

/* Of an access that is many. */
enum { STRIDED_PREFIXES = 1 << TRACE_PREFIX_VALUE | 1 << TRACE_PREFIX_OTHER };

static COLD int damage(struct trace_cursor *c, const struct stream *s, const char *what)
{
	const struct trace_thread *thread = &c->trace->threads[s->thread];
	uint64_t block = c->source ? 0 : thread->first[s->blocks - 1].offset;
	uint64_t inside = (uint64_t)(s->at - s->start);

	if (c->source)
		err_set(&c->err,
			"%s: the event at byte %" PRIu64 " of window %" PRIu32 " of thread number %" PRIu32
			" is damaged: %s",
			c->trace->path, inside, s->blocks, thread->number, what);
	else if (s->start == s->unpacked)
		err_set(&c->err,
			"%s: the event at byte %" PRIu64 " of the packed block at offset %" PRIu64
			" (thread number %" PRIu32 ") is damaged: %s",
			c->trace->path, inside, block, thread->number, what);
	else
		err_set(&c->err,
			"%s: the event at offset %" PRIu64 " (thread number %" PRIu32 ") is damaged: %s",
			c->trace->path, block + sizeof(struct trace_block) + inside, thread->number, what);
	c->failed = true;
	return -1;
}

/* 1: the next block of the thread is there, 0: no more. */
static COLD int next_block(struct trace_cursor *c, struct stream *s)
{
	const struct trace_thread *thread = &c->trace->threads[s->thread];
	const struct trace_extent *e;

	/* What was read is not needed again, and a long trace would fill the memory. The kernel maps more
	 * than it is asked for, so now and then all is let go; what is still in use comes back. */
	if (c->trace->mapped && !(++c->blocks_read % 256))
		madvise((void *)c->trace->map, c->trace->size, MADV_DONTNEED);
	if (s->blocks == thread->count)
		return 0;
	e = &thread->first[s->blocks++];
	s->cut = e->cut;
	if (e->unpacked && e->cut) { /* nothing can be had of it */
		s->at = s->end = s->start = NULL;
		return 1;
	}
	if (e->unpacked) {
		if (s->room < e->unpacked) {
			free(s->unpacked);
			s->unpacked = mem_alloc(e->unpacked);
			s->room = e->unpacked;
		}
		if (trace_unpack(c->trace, e, s->unpacked, &c->err)) {
			c->failed = true;
			return -1;
		}
		s->start = s->unpacked;
		s->end = s->start + e->unpacked;
	} else {
		s->start = c->trace->map + e->offset + sizeof(struct trace_block);
		s->end = s->start + e->payload;
	}
	s->at = s->start;
	return 1;
}

static inline bool before(struct waiting a, struct waiting b)
{
	return a.key < b.key || (a.key == b.key && a.stream < b.stream);
}

/* Puts `item` in the place of number i, whose subtrees are in order. */
static void heap_put(struct trace_cursor *c, uint32_t i, struct waiting item)
{
	struct waiting *heap = c->heap;
	uint32_t n = c->waiting, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], item))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

void stream_leave(struct trace_cursor *c)
{
	c->current = c->waiting ? &c->streams[c->heap[0].stream] : NULL;
	if (c->waiting && --c->waiting)
		heap_put(c, 0, c->heap[c->waiting]);
}

/* The current thread is at its end: the one that waits lowest goes on. */
static void leave(struct trace_cursor *c)
{
	free(c->current->unpacked);
	free(c->current->steps);
	c->current->unpacked = NULL;
	c->current->steps = NULL;
	c->current->room = 0;
	stream_leave(c);
}

/* The current thread is at an event with this stamp: 1 if it may go on. */
static inline int take_turn(struct trace_cursor *c, struct stream *s, uint64_t stamp)
{
	struct waiting top;

	if (stamp >= c->bound) {
		stream_leave(c);
		return 0;
	}
	if (!c->waiting || stamp < c->heap[0].key)
		return 1;
	top = c->heap[0];
	if (stamp == top.key)
		return damage(c, s, "another thread has the same stamp");
	heap_put(c, 0, (struct waiting){stamp, (uint32_t)(s - c->streams)});
	c->current = &c->streams[top.stream];
	return 0;
}

/* A CREATE event names the child. */
static COLD void name_child(struct trace *trace, uint32_t parent, uint32_t number)
{
	struct trace_thread *p = &trace->threads[parent];
	int64_t child = trace_thread_index(trace, number);
	uint32_t nth = ++p->children;

	if (child < 0 || trace->threads[child].name)
		return;
	/* A chain of thousands of creations would give names of thousands of
	 * digits, and all of them together would be quadratic. */
	if (strlen(trace_thread_name(trace, parent)) > 200)
		return;
	if (p->name && !strcmp(p->name, "T0"))
		trace->threads[child].name = mem_textf("T%" PRIu32, nth);
	else
		trace->threads[child].name = mem_textf("%s.%" PRIu32, trace_thread_name(trace, parent), nth);
}

/* Finds the module of a site, and keeps it for the next event. */
static COLD bool find_site(struct trace_cursor *c, uint64_t site)
{
	const struct trace_module_table *m = trace_site_module(c->trace, site);

	if (!m && c->source && c->source->tables(c))
		m = trace_site_module(c->trace, site);
	if (!m)
		return false;
	c->first_site = m->first_site;
	c->sites = m->sites;
	c->site_data = m->site_data;
	return true;
}

static inline bool has_site(struct trace_cursor *c, uint64_t site)
{
	return likely(site - c->first_site < c->sites) || find_site(c, site);
}

static COLD bool find_function(struct trace_cursor *c, uint64_t function)
{
	const struct trace_module_table *m = trace_function_module(c->trace, function);

	if (!m && c->source && c->source->tables(c))
		m = trace_function_module(c->trace, function);
	if (!m)
		return false;
	c->first_function = m->first_function;
	c->functions = m->functions;
	return true;
}

/* Kind and size of an access from its site. */
static inline void site_access(const struct trace_cursor *c, struct trace_event *e)
{
	const uint8_t *raw = c->site_data + (e->site - c->first_site) * sizeof(struct atomsan_site);
	uint16_t size;

	memcpy(&size, raw + offsetof(struct atomsan_site, size), sizeof size);
	e->access = raw[offsetof(struct atomsan_site, kind)];
	e->value = size;
}

/* An access that says itself what it does: see abi/trace.h. */
static int finish_access(struct trace_cursor *c, struct stream *s, struct trace_event *e, uint64_t value)
{
	bool told = e->prefixes & 1 << TRACE_PREFIX_VALUE;

	if (e->site == TRACE_NO_SITE) {
		e->access = ATOMSAN_CALL;
		e->value = 0;
	} else if (!has_site(c, e->site)) {
		return damage(c, s, "its site is not in the trace");
	} else {
		site_access(c, e);
	}
	if (told) {
		e->step = (uint16_t)e->value;
		e->value = value;
	}
	e->found = e->access != ATOMSAN_CALL && e->prefixes & 1 << TRACE_PREFIX_OTHER;
	if (e->access == ATOMSAN_CALL)
		e->access = e->other == 1 ? ATOMSAN_WRITE : ATOMSAN_READ;
	else if (e->access > ATOMSAN_ATOMIC_RMW && e->access != ATOMSAN_OBJECT && e->access != ATOMSAN_UPDATE)
		return damage(c, s, "its site is no access");
	return 0;
}

static int check_stamp(struct trace_cursor *c, struct stream *s, uint64_t stamp)
{
	if (stamp <= s->last)
		return damage(c, s, "its stamp is not higher than the one before");
	if (c->trace->header.state == TRACE_FINISHED && stamp >= c->trace->header.next_stamp)
		return damage(c, s, "its stamp was never given out");
	return take_turn(c, s, stamp);
}

/*
 * Every event but the plainest. Prefixes are gathered first; if the event then
 * turns out to be another thread's turn, the stream stays where it was and the
 * same words are read again later.
 * 1: an event, 0: none from this block or another thread's turn, -1: damage.
 */
static int next_any(struct trace_cursor *c, struct stream *s, struct trace_event *e)
{
	const uint8_t *p = s->at;
	uint64_t prefix[4] = {0};
	uint64_t word, stamp = 0, site = 0, number;
	unsigned prefixes = 0, words;
	bool by_prefix;
	int turn;

	for (;; p += 8) {
		if (s->end - p < 8 || !(word = word_load(p))) {
			s->at = s->end; /* prefixes without their event: the writer was cut short */
			return 0;
		}
		if (word == TRACE_EXIT && !prefixes) {
			s->at = p + 8; /* a place given up */
			continue;
		}
		if (word_kind(word) != TRACE_PREFIX)
			break;
		prefix[word_id(word) & 3] = word_payload(word);
		prefixes |= 1u << (word_id(word) & 3);
	}
	words = word_count(word);
	if (!words)
		return damage(c, s, "its kind is not known");
	if (words == 2) {
		if (s->end - p < 16) {
			if (!s->cut)
				return damage(c, s, "the block ends inside it");
			s->at = s->end;
			return 0;
		}
		site = word_load(p + 8) & TRACE_OP_SITE_MAX;
		stamp = word_load(p + 8) >> TRACE_STAMP_SHIFT;
	}
	*e = (struct trace_event){.kind = (uint8_t)word_kind(word),
				  .thread = s->thread,
				  .prefixes = (uint8_t)prefixes,
				  .other = prefix[TRACE_PREFIX_OTHER]};
	number = word_id(word);
	by_prefix = number == TRACE_ID_MAX;
	if (e->kind == TRACE_OP) {
		e->op = (uint8_t)number;
		e->flags = (uint16_t)(number >> TRACE_OP_BITS);
		number = site;
		by_prefix = number == TRACE_OP_SITE_MAX;
		if (!known_op[e->op])
			return damage(c, s, "its operation is not known");
	}
	/* All ones is a count like any other, unless a prefix says more. */
	if (e->kind == TRACE_EXIT)
		by_prefix = prefixes & 1 << TRACE_PREFIX_SITE;
	if (by_prefix) {
		if (!(prefixes & 1 << TRACE_PREFIX_SITE))
			return damage(c, s, "the prefix with its number is missing");
		number = prefix[TRACE_PREFIX_SITE];
		if (number > UINT32_MAX)
			return damage(c, s, "its number is impossible");
	}
	e->address = prefixes & 1 << TRACE_PREFIX_REGION
			     ? word_address(word) | prefix[TRACE_PREFIX_REGION] << TRACE_ADDRESS_BITS
			     : word_expand(c->trace->header.regions, word_address(word));
	/* An operation whose site is known may do with the key of what its thread did before. */
	if (words == 2 && (stamp || !site)) {
		turn = check_stamp(c, s, stamp);
		if (turn <= 0)
			return turn;
		s->last = stamp;
		e->stamped = true;
	}
	e->key = s->last;
	switch (e->kind) {
	case TRACE_ACCESS:
	case TRACE_STAMPED:
		e->kind = TRACE_ACCESS;
		e->site = (uint32_t)number;
		if (finish_access(c, s, e, prefix[TRACE_PREFIX_VALUE]))
			return -1;
		if (!e->found || !(prefixes & 1 << TRACE_PREFIX_VALUE))
			break;
		if (words != 1 || prefixes != STRIDED_PREFIXES || e->access == ATOMSAN_OBJECT ||
		    !strided_begin(s, word, prefix[TRACE_PREFIX_VALUE], prefix[TRACE_PREFIX_OTHER], p + 8))
			return damage(c, s, "it cannot be so many accesses");
		return 0;
	case TRACE_SWITCH:
		/* Two events: the exit now, the entry when these words are read again. */
		s->left = !s->left;
		if (s->left) {
			*e = (struct trace_event){
				.kind = TRACE_EXIT, .thread = s->thread, .key = s->last, .frames = 1};
			return 1;
		}
		e->kind = TRACE_ENTER;
		/* fall through */
	case TRACE_ENTER:
		e->function = (uint32_t)number;
		e->value = prefix[TRACE_PREFIX_VALUE];
		if (number - c->first_function >= c->functions && !find_function(c, number))
			return damage(c, s, "its function is not in the trace");
		/* No receiver is 0, not the beginning of region 0. */
		if (!word_address(word) && !(prefixes & 1 << TRACE_PREFIX_REGION))
			e->address = 0;
		break;
	case TRACE_EXIT:
		e->frames = (uint32_t)number;
		if (!e->frames)
			return damage(c, s, "it leaves no frame");
		e->address = 0;
		break;
	case TRACE_OP:
		e->site = (uint32_t)number;
		e->value = prefix[TRACE_PREFIX_VALUE];
		if (e->site != TRACE_NO_SITE && !has_site(c, e->site))
			return damage(c, s, "its site is not in the trace");
		if (e->op == TRACE_OP_CREATE && c->merged)
			name_child(c->trace, s->thread, (uint32_t)e->value);
		break;
	}
	s->at = p + 8 * words;
	return 1;
}

int trace_next(struct trace_cursor *c, struct trace_event *e)
{
	struct stream *s;

	while (!c->failed) {
		int got;

		s = c->current;
		if (unlikely(!s)) {
			if (!c->source || !c->source->refill(c))
				break;
			continue;
		}
		if (likely(s->end - s->at >= 8)) {
			uint64_t word = word_load(s->at);

			if (likely(word_kind(word) == TRACE_ACCESS) &&
			    likely(word_id(word) - c->first_site < c->sites)) {
				*e = (struct trace_event){
					.kind = TRACE_ACCESS,
					.key = s->last,
					.thread = s->thread,
					.site = word_id(word),
					.address = word_expand(c->trace->header.regions, word_address(word))};
				site_access(c, e);
				if (likely((e->access <= ATOMSAN_ATOMIC_RMW || e->access == ATOMSAN_UPDATE) &&
					   e->site != TRACE_ID_MAX)) {
					s->at += 8;
					return 1;
				}
			}
		}
		got = next_any(c, s, e);
		if (got)
			return got;
		if (s != c->current || s->at != s->end || strided_end(s))
			continue;
		if (c->source) {
			c->source->more(c, s);
			continue;
		}
		got = next_block(c, s);
		if (got < 0)
			return -1;
		if (!got)
			leave(c);
	}
	return c->failed ? -1 : 0;
}

bool trace_run_begin(const struct trace_cursor *c, struct trace_run *run)
{
	const struct stream *s = c->current;

	if (!s || c->failed || !c->sites)
		return false;
	*run = (struct trace_run){.at = s->at,
				  .end = s->end,
				  .regions = c->trace->header.regions,
				  .first_site = c->first_site,
				  .sites = c->sites,
				  .thread = s->thread};
	return true;
}

void trace_run_end(struct trace_cursor *c, const struct trace_run *run)
{
	c->current->at = run->at;
}

static bool empty(const struct stream *s)
{
	return s->end - s->at < 8 || !word_load(s->at);
}

uint64_t stream_stamp(const struct stream *s)
{
	const uint8_t *p = s->at;

	while (s->end - p >= 16 && word_kind(word_load(p)) == TRACE_PREFIX)
		p += 8;
	if (s->end - p < 16 || word_count(word_load(p)) != 2)
		return 0;
	return word_load(p + 8) >> TRACE_STAMP_SHIFT;
}

void stream_begin(struct trace_cursor *c)
{
	for (uint32_t i = c->waiting / 2; i-- > 0;)
		heap_put(c, i, c->heap[i]);
	stream_leave(c);
}

static struct trace_cursor *make(struct trace *trace, uint32_t from, uint32_t count)
{
	struct trace_cursor *c = mem_zalloc(1, sizeof *c);

	c->trace = trace;
	c->bound = UINT64_MAX;
	c->streams = mem_zalloc(count ? count : 1, sizeof *c->streams);
	c->stream_count = count;
	for (uint32_t i = 0; i < count; i++)
		c->streams[i].thread = from + i;
	return c;
}

struct trace_cursor *trace_cursor_open(struct trace *trace)
{
	struct trace_cursor *c = make(trace, 0, trace->thread_count);
	uint32_t n = 0;

	c->merged = true;
	c->heap = mem_alloc((trace->thread_count + 1) * sizeof *c->heap);
	for (uint32_t i = 0; i < trace->thread_count && !c->failed; i++) {
		int got = 1;

		/* A thread that was killed before its first event has nothing to wait with. */
		while (empty(&c->streams[i]) && (got = next_block(c, &c->streams[i])) > 0)
			;
		if (got <= 0)
			continue;
		c->heap[n++] = (struct waiting){stream_stamp(&c->streams[i]), i};
	}
	c->waiting = n;
	stream_begin(c);
	if (n) {
		struct trace_thread *main = &trace->threads[c->current->thread];

		if (!main->name)
			main->name = mem_text("T0");
		/* Names are made anew, so that a second run through the trace counts the same. */
		for (uint32_t i = 0; i < trace->thread_count; i++)
			trace->threads[i].children = 0;
	}
	return c;
}

struct trace_cursor *trace_cursor_open_thread(struct trace *trace, uint32_t index)
{
	struct trace_cursor *c;

	BUG_ON(index >= trace->thread_count);
	c = make(trace, index, 1);
	c->current = c->streams;
	return c;
}

void trace_cursor_close(struct trace_cursor *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->stream_count; i++) {
		free(c->streams[i].unpacked);
		free(c->streams[i].steps);
	}
	free(c->streams);
	free(c->heap);
	free(c);
}

const struct err *trace_cursor_error(const struct trace_cursor *c)
{
	return &c->err;
}

int trace_name_threads(struct trace *trace, struct err *err)
{
	struct trace_cursor *c = trace_cursor_open(trace);
	struct trace_event e;
	int got;

	while ((got = trace_next(c, &e)) > 0)
		;
	if (got < 0 && err)
		*err = c->err;
	trace_cursor_close(c);
	return got;
}
