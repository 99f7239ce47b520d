/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/count.h"

#include <stdlib.h>
#include <string.h>

enum { NOT, COUNTS, SITED, FAILED };

/* As in rt/sched_count.c; atomic operations are among them, for a trace has them as operations. */
static const unsigned char kinds[256] = {
	[TRACE_OP_CREATE] = COUNTS,
	[TRACE_OP_JOIN] = COUNTS,
	[TRACE_OP_DETACH] = COUNTS,
	[TRACE_OP_LOCK] = COUNTS,
	[TRACE_OP_UNLOCK] = COUNTS,
	[TRACE_OP_RDLOCK] = COUNTS,
	[TRACE_OP_LOCK_FAILED] = FAILED,
	[TRACE_OP_LOCK_INIT] = COUNTS,
	[TRACE_OP_LOCK_DESTROY] = COUNTS,
	[TRACE_OP_WAIT] = COUNTS,
	[TRACE_OP_WAKE] = COUNTS,
	[TRACE_OP_SIGNAL] = COUNTS,
	[TRACE_OP_BROADCAST] = COUNTS,
	[TRACE_OP_BARRIER_INIT] = COUNTS,
	[TRACE_OP_BARRIER_ENTER] = COUNTS,
	[TRACE_OP_BARRIER_LEAVE] = COUNTS,
	[TRACE_OP_SEM_INIT] = COUNTS,
	[TRACE_OP_SEM_POST] = COUNTS,
	[TRACE_OP_SEM_WAIT] = COUNTS,
	[TRACE_OP_SEM_FAILED] = FAILED,
	[TRACE_OP_ONCE_BEGIN] = COUNTS,
	[TRACE_OP_ONCE_END] = COUNTS,
	[TRACE_OP_ONCE_SEEN] = COUNTS,
	[TRACE_OP_FENCE] = COUNTS,
	[TRACE_OP_ATOMIC_LOAD] = COUNTS,
	[TRACE_OP_ATOMIC_STORE] = COUNTS,
	[TRACE_OP_ATOMIC_RMW] = COUNTS,
	[TRACE_OP_ATOMIC_FAILED] = COUNTS,
	[TRACE_OP_ALLOC] = SITED,
	[TRACE_OP_FREE] = SITED,
	[TRACE_OP_MAP] = SITED,
	[TRACE_OP_UNMAP] = SITED,
	[TRACE_OP_FORK] = COUNTS,
	[TRACE_OP_EXEC] = COUNTS,
	[TRACE_OP_CANCEL] = COUNTS,
	[TRACE_OP_UNIT_BEGIN] = COUNTS,
	[TRACE_OP_UNIT_END] = COUNTS,
};

/* What a thread touched in the stretch at hand; an entry of an older stretch is free. */
struct cell {
	uint64_t granule, stretch;
	uint64_t bits;
};

/*
 * A long range would be as many cells; it is kept as it is, and the cells in it
 * stay as they were. Ranges of one kind do not overlap, and ascend.
 */
enum { LONG = 4096, KINDS = 2 };

struct range {
	uint64_t low, high; /* bytes from low on, below high */
};

struct ranges {
	struct range *all;
	uint64_t count, room;
};

/* A place that is none, for failed attempts: they repeat each other wherever they come from. */
#define FAILED_PLACE UINT64_MAX

struct thread {
	uint64_t done;
	uint64_t last_object, last_place;
	uint32_t handlers; /* signal handlers under way */
	uint64_t calls;    /* of functions, so far */
	uint64_t *open;    /* those that are, outermost first */
	uint64_t depth, depth_room;
	uint64_t call; /* that the last access was in */
	uint64_t stretch;
	struct cell *cells;
	uint64_t size, used;
	struct ranges ranges[KINDS]; /* read, written */
};

struct count {
	const struct trace *trace;
	bool every;
	struct thread *threads;
};

struct count *count_new_as(const struct trace *trace, bool every)
{
	struct count *count = mem_zalloc(1, sizeof *count);

	count->trace = trace;
	count->every = every;
	count->threads = mem_zalloc(trace->thread_count ? trace->thread_count : 1, sizeof *count->threads);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		count->threads[i].stretch = 1;
	return count;
}

struct count *count_new(const struct trace *trace)
{
	return count_new_as(trace, trace->header.flags & TRACE_UNFILTERED);
}

void count_free(struct count *count)
{
	if (!count)
		return;
	for (uint32_t i = 0; i < count->trace->thread_count; i++) {
		free(count->threads[i].cells);
		free(count->threads[i].open);
		for (unsigned k = 0; k < KINDS; k++)
			free(count->threads[i].ranges[k].all);
	}
	free(count->threads);
	free(count);
}

uint64_t count_done(const struct count *count, uint32_t thread)
{
	return count->threads[thread].done;
}

static struct cell *find(const struct thread *t, uint64_t granule)
{
	uint64_t at = granule / 8 * 0x9e3779b97f4a7c15ull >> 20;

	for (;; at++) {
		struct cell *cell = &t->cells[at & (t->size - 1)];

		if (cell->stretch != t->stretch || cell->granule == granule)
			return cell;
	}
}

static void grow(struct thread *t)
{
	struct thread larger = *t;

	larger.size = t->size ? t->size * 2 : 256;
	larger.cells = mem_zalloc(larger.size, sizeof *larger.cells);
	for (uint64_t i = 0; i < t->size; i++)
		if (t->cells[i].stretch == t->stretch)
			*find(&larger, t->cells[i].granule) = t->cells[i];
	free(t->cells);
	*t = larger;
}

static void new_stretch(struct thread *t)
{
	t->stretch++;
	t->used = 0;
	for (unsigned k = 0; k < KINDS; k++)
		t->ranges[k].count = 0;
}

/* Index of the first range that ends above the address. */
static uint64_t range_at(const struct ranges *r, uint64_t address)
{
	uint64_t low = 0, high = r->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (r->all[middle].high <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_range(struct ranges *r, uint64_t low, uint64_t high)
{
	uint64_t first = range_at(r, low), end = first;

	for (; end < r->count && r->all[end].low <= high; end++) {
		low = r->all[end].low < low ? r->all[end].low : low;
		high = r->all[end].high > high ? r->all[end].high : high;
	}
	if (r->count + 1 > r->room) {
		r->room = r->room ? r->room * 2 : 16;
		r->all = mem_resize(r->all, r->room, sizeof *r->all);
	}
	memmove(r->all + first + 1, r->all + end, (r->count - end) * sizeof *r->all);
	r->all[first] = (struct range){low, high};
	r->count += 1 - (end - first);
}

/* Bits of the granule that lie in ranges. */
static uint64_t bits_in_ranges(const struct thread *t, uint64_t granule)
{
	uint64_t bits = 0;

	for (unsigned k = 0; k < KINDS; k++) {
		const struct ranges *r = &t->ranges[k];

		for (uint64_t i = range_at(r, granule); i < r->count && r->all[i].low < granule + 8; i++)
			for (unsigned b = 0; b < 8; b++)
				if (granule + b >= r->all[i].low && granule + b < r->all[i].high)
					bits |= 1ull << (8 * k + b);
	}
	return bits;
}

static uint64_t bits_of(uint64_t from, uint64_t end, uint64_t bits_of_byte)
{
	uint64_t n = 8 - (from & 7);

	return (((1ull << (n < end - from ? n : end - from)) - 1) << (from & 7)) * bits_of_byte;
}

/* Up to the first byte that is new; then the rest need not be looked at. */
static bool first_of_range(struct thread *t, uint64_t p, uint64_t end, uint64_t bits_of_byte)
{
	bool first = false;

	for (uint64_t q = p; q < end && !first;) {
		uint64_t bits = bits_of(q, end, bits_of_byte), past = UINT64_MAX;
		const struct cell *cell = t->size ? find(t, q & ~7ull) : NULL;

		/* What lies in ranges of all its kinds is passed over at once. */
		for (unsigned k = 0; k < KINDS; k++) {
			uint64_t i = range_at(&t->ranges[k], q);

			if (!(bits_of_byte >> 8 * k & 1))
				continue;
			if (i == t->ranges[k].count || t->ranges[k].all[i].low > q)
				past = q;
			else if (t->ranges[k].all[i].high < past)
				past = t->ranges[k].all[i].high;
		}
		if (past > q) {
			q = past;
			continue;
		}
		bits &= ~bits_in_ranges(t, q & ~7ull);
		first = bits & ~(cell && cell->stretch == t->stretch ? cell->bits : 0);
		q = (q & ~7ull) + 8;
	}
	for (unsigned k = 0; k < KINDS; k++)
		if (bits_of_byte >> 8 * k & 1)
			add_range(&t->ranges[k], p, end);
	return first;
}

/* Takes the bytes out of the range that they lie in. */
static void cut_range(struct ranges *r, uint64_t low, uint64_t high)
{
	for (uint64_t i = range_at(r, low); i < r->count && r->all[i].low < high; i++) {
		struct range was = r->all[i];

		r->all[i].high = was.low < low ? low : was.low;
		/* Empty ones are passed over where a range is looked for. */
		if (was.high > high) {
			add_range(r, high, was.high);
			i++;
		}
	}
}

/* Of these bytes nothing is done yet. */
static void forget(struct thread *t, uint64_t start, uint64_t length)
{
	for (unsigned k = 0; k < KINDS; k++)
		cut_range(&t->ranges[k], start, start + length);
	for (uint64_t q = start; t->size && q < start + length; q = (q & ~7ull) + 8) {
		struct cell *cell = find(t, q & ~7ull);

		if (cell->stretch == t->stretch)
			cell->bits = 0;
	}
}

static bool first_of_kind(struct thread *t, uint64_t p, uint64_t length, uint64_t bits_of_byte)
{
	uint64_t end = length < UINT64_MAX - 8 - p ? p + length : UINT64_MAX - 8;
	uint64_t call = t->depth ? t->open[t->depth - 1] : 0;
	bool first = false;

	if (t->call != call) {
		t->call = call;
		new_stretch(t);
	}
	if (length > LONG)
		return first_of_range(t, p, end, bits_of_byte);
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8) {
		uint64_t bits = bits_of(q, end, bits_of_byte), known = 0;
		struct cell *cell;

		if (t->ranges[0].count || t->ranges[1].count)
			known = bits_in_ranges(t, q & ~7ull);
		if (t->used * 2 >= t->size)
			grow(t);
		cell = find(t, q & ~7ull);
		if (cell->stretch != t->stretch) {
			*cell = (struct cell){q & ~7ull, t->stretch, 0};
			t->used++;
		}
		first |= ((cell->bits | known) & bits) != bits;
		cell->bits |= bits;
	}
	return first;
}

static void done(struct thread *t, uint64_t events, uint64_t object, uint64_t place)
{
	t->done += events;
	t->last_object = object;
	t->last_place = place;
}

static void one_access(const struct count *count, struct thread *t, const struct trace_event *e,
		       uint64_t address, uint64_t length)
{
	enum { READS = 1, WRITES = 0x100 };
	bool update = e->access == ATOMSAN_UPDATE;
	bool writes = update || e->access == ATOMSAN_WRITE;

	if (!count->every && !first_of_kind(t, address, length,
					    update   ? READS | WRITES
					    : writes ? WRITES
						     : READS))
		return;
	if (!writes && t->last_object == address && t->last_place == e->site)
		return;
	done(t, update ? 2 : 1, address, e->site);
}

/* A loop that was told of when it was over is as many events as it made steps: who is scheduled does them
 * one by one. */
static void access_event(const struct count *count, struct thread *t, const struct trace_event *e)
{
	if (e->access == ATOMSAN_OBJECT)
		return;
	if (!e->step) {
		one_access(count, t, e, e->address, e->value);
		return;
	}
	for (uint64_t at = 0; at < e->value; at += e->step)
		one_access(count, t, e, e->address + at, e->step);
}

static bool ends_stretch(const struct trace_event *e)
{
	return e->op != TRACE_OP_FREE && (e->op != TRACE_OP_ALLOC || e->value > TRACE_SMALL_BLOCK);
}

static void op_event(struct thread *t, const struct trace_event *e)
{
	unsigned kind = kinds[e->op];
	uint64_t place = kind == FAILED ? FAILED_PLACE : e->site;
	bool may_repeat = kind == FAILED || e->op == TRACE_OP_ATOMIC_LOAD || e->op == TRACE_OP_ATOMIC_FAILED;

	if (e->op == TRACE_OP_SIGNAL_BEGIN)
		t->handlers++;
	else if (e->op == TRACE_OP_SIGNAL_END && t->handlers)
		t->handlers--;
	if (t->handlers)
		return;
	if (e->op == TRACE_OP_ALLOC && e->value <= TRACE_SMALL_BLOCK)
		forget(t, e->address, e->value);
	if (kind == NOT || (kind == SITED && e->site == TRACE_NO_SITE))
		return;
	if (may_repeat && t->last_object == e->address && t->last_place == place)
		return;
	done(t, 1, e->address, place);
	if (ends_stretch(e))
		new_stretch(t);
}

static void enter(struct thread *t)
{
	if (t->depth == t->depth_room) {
		t->depth_room = t->depth_room ? t->depth_room * 2 : 64;
		t->open = mem_resize(t->open, t->depth_room, sizeof *t->open);
	}
	t->open[t->depth++] = ++t->calls;
}

uint64_t count_event(struct count *count, const struct trace_event *e)
{
	struct thread *t = &count->threads[e->thread];

	switch (e->kind) {
	case TRACE_ENTER:
		enter(t);
		break;
	case TRACE_EXIT:
		t->depth -= e->frames < t->depth ? e->frames : t->depth;
		break;
	case TRACE_ACCESS:
		if (!t->handlers)
			access_event(count, t, e);
		break;
	case TRACE_OP:
		op_event(t, e);
		break;
	}
	return t->done;
}
