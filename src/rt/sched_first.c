/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * With events=first: has the thread done this kind of access to these bytes
 * before, in the stretch at hand? What it touched is kept as granules in a hash table. A long
 * range would be as many of them as it has words, gigabytes of table for
 * gigabytes of data; it is kept as it is, and there are never more ranges than one for
 * each 4 KB that were touched.
 *
 * src/predict/count.c does the same for traces.
 */
#include "rt/event_inl.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <sys/mman.h>

enum { LONG = 4096, KINDS = 2 };

/* Of one kind they ascend and do not touch each other. */
struct range {
	uint64_t low, high; /* bytes from low on, below high */
};

struct ranges {
	struct range *all;
	uint64_t count, room;
};

/* Granules touched in the stretch at hand, by hashing; an entry of an older stretch is free. */
struct sched_table {
	uint64_t stretch;
	uint64_t call;      /* that the last access was in */
	uint64_t calls;     /* that the trace has heard of */
	uint64_t *by_depth; /* those that are open */
	uint64_t size, used;
	struct cell {
		uint64_t granule;
		uint64_t stretch;
		uint64_t bits;
	} *cells;
	struct ranges ranges[KINDS]; /* read, written */
};

static struct cell *find(struct sched_table *table, uint64_t granule)
{
	uint64_t at = granule / 8 * 0x9e3779b97f4a7c15ull >> 20;

	for (;; at++) {
		struct cell *cell = &table->cells[at & (table->size - 1)];

		if (cell->stretch != table->stretch || cell->granule == granule)
			return cell;
	}
}

static void *map(uint64_t length)
{
	long p = sys6(mmap, 0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return sys_failed(p) ? NULL : (void *)p;
}

static bool grow(struct sched_table *table)
{
	struct sched_table larger = *table;

	larger.size = table->size ? table->size * 2 : 4096;
	larger.cells = map(larger.size * sizeof *larger.cells);
	if (!larger.cells)
		return false;
	for (uint64_t i = 0; i < table->size; i++)
		if (table->cells[i].stretch == table->stretch)
			*find(&larger, table->cells[i].granule) = table->cells[i];
	if (table->cells)
		sys2(munmap, table->cells, table->size * sizeof *table->cells);
	*table = larger;
	return true;
}

void sched_count_stretch(struct sched_thread *me)
{
	if (me->table) {
		me->table->stretch++;
		me->table->used = 0;
		for (unsigned k = 0; k < KINDS; k++)
			me->table->ranges[k].count = 0;
	}
}

static struct sched_table *table_of(struct sched_thread *me)
{
	enum { DEPTHS = (1 << 18) + 8 }; /* as many as a thread has frames */

	if (me->table)
		return me->table;
	me->table = map(sizeof *me->table);
	if (!me->table)
		return NULL;
	me->table->stretch = 1;
	me->table->by_depth = map(DEPTHS * sizeof(uint64_t));
	return me->table;
}

static void entered(struct sched_thread *me, uint64_t depth) ATOMSAN_KEEPS_REGISTERS COLD;
static void entered(struct sched_thread *me, uint64_t depth) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_table *table = table_of(me);
	const struct atomsan_frame *frame = rt_self.frames + depth;
	/* A part of the frame below is no other call: a trace need not have heard of it. */
	bool part =
		frame->function->more_flags & ATOMSAN_FN_PART >> 16 && frame->receiver == frame[-1].receiver;

	if (table && table->by_depth)
		table->by_depth[depth] = !part ? ++table->calls : depth ? table->by_depth[depth - 1] : 0;
}

void sched_count_entered(uint64_t depth) ATOMSAN_KEEPS_REGISTERS
{
	if (!sched.counts_all)
		entered(rt_self.sched, depth);
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

static bool make_room(struct ranges *r)
{
	uint64_t room = r->room ? r->room * 2 : 4096 / sizeof(struct range);
	struct range *larger = map(room * sizeof *larger);

	if (!larger)
		return false;
	for (uint64_t i = 0; i < r->count; i++)
		larger[i] = r->all[i];
	if (r->all)
		sys2(munmap, r->all, r->room * sizeof *r->all);
	r->all = larger;
	r->room = room;
	return true;
}

/* False: there is no memory, and the range is forgotten. */
static bool add_range(struct ranges *r, uint64_t low, uint64_t high)
{
	uint64_t first = range_at(r, low), end = first;

	/* One that ends right where this begins stands before those that end above it. */
	if (first && r->all[first - 1].high == low)
		end = --first;
	for (; end < r->count && r->all[end].low <= high; end++) {
		low = r->all[end].low < low ? r->all[end].low : low;
		high = r->all[end].high > high ? r->all[end].high : high;
	}
	if (end == first) {
		if (r->count == r->room && !make_room(r))
			return false;
		for (uint64_t i = r->count; i > first; i--)
			r->all[i] = r->all[i - 1];
		r->count++;
	} else {
		for (uint64_t i = end; i < r->count; i++)
			r->all[first + 1 + i - end] = r->all[i];
		r->count -= end - first - 1;
	}
	r->all[first] = (struct range){low, high};
	return true;
}

/* Bits of the granule that lie in ranges. */
static uint64_t bits_in_ranges(const struct sched_table *table, uint64_t granule)
{
	uint64_t bits = 0;

	for (unsigned k = 0; k < KINDS; k++) {
		const struct ranges *r = &table->ranges[k];

		for (uint64_t i = range_at(r, granule); i < r->count && r->all[i].low < granule + 8; i++)
			for (unsigned b = 0; b < 8; b++)
				if (granule + b >= r->all[i].low && granule + b < r->all[i].high)
					bits |= 1ull << (8 * k + b);
	}
	return bits;
}

static uint64_t bits_of(uint64_t from, uint64_t end, uint64_t kinds_of_access)
{
	uint64_t count = 8 - (from & 7);

	return (((1ull << (count < end - from ? count : end - from)) - 1) << (from & 7)) * kinds_of_access;
}

/* Where the ranges of all these kinds that the address lies in end; the address itself if it is not in them.
 */
static uint64_t past_ranges(const struct sched_table *table, uint64_t address, uint64_t kinds_of_access)
{
	uint64_t past = UINT64_MAX;

	for (unsigned k = 0; k < KINDS; k++) {
		const struct ranges *r = &table->ranges[k];
		uint64_t i = range_at(r, address);

		if (!(kinds_of_access >> 8 * k & 1))
			continue;
		if (i == r->count || r->all[i].low > address)
			return address;
		if (r->all[i].high < past)
			past = r->all[i].high;
	}
	return past;
}

/* Granules are looked at up to the first byte that is new, so not many more than there are in the table. */
static bool first_of_range(struct sched_table *table, uint64_t p, uint64_t end, uint64_t kinds_of_access)
{
	bool first = false;

	for (uint64_t q = p; q < end && !first;) {
		uint64_t past = past_ranges(table, q, kinds_of_access);
		const struct cell *cell = NULL;

		if (past > q) {
			q = past;
			continue;
		}
		if (table->size)
			cell = find(table, q & ~7ull);
		first = bits_of(q, end, kinds_of_access) & ~bits_in_ranges(table, q & ~7ull) &
			~(cell && cell->stretch == table->stretch ? cell->bits : 0);
		q = (q & ~7ull) + 8;
	}
	for (unsigned k = 0; k < KINDS; k++)
		if (kinds_of_access >> 8 * k & 1 && !add_range(&table->ranges[k], p, end))
			return true;
	return first;
}

/* Takes the bytes out of the range that they lie in. */
static void cut_range(struct ranges *r, uint64_t low, uint64_t high)
{
	for (uint64_t i = range_at(r, low); i < r->count && r->all[i].low < high; i++) {
		struct range was = r->all[i];

		r->all[i].high = was.low < low ? low : was.low;
		/* Empty ones are passed over where a range is looked for. */
		if (was.high > high && (r->count < r->room || make_room(r))) {
			for (uint64_t k = r->count++; k > i + 1; k--)
				r->all[k] = r->all[k - 1];
			r->all[++i] = (struct range){high, was.high};
		}
	}
}

void sched_count_forget(struct sched_thread *me, const void *p, uint64_t length)
{
	struct sched_table *table = me->table;
	uint64_t start = (uint64_t)p, end = start + length;

	if (!table)
		return;
	for (unsigned k = 0; k < KINDS; k++)
		cut_range(&table->ranges[k], start, end);
	for (uint64_t q = start; table->size && q < end; q = (q & ~7ull) + 8) {
		struct cell *cell = find(table, q & ~7ull);

		if (cell->stretch == table->stretch)
			cell->bits = 0;
	}
}

bool sched_count_first(struct sched_thread *me, const void *p, uint64_t length, uint64_t kinds_of_access)
{
	struct sched_table *table = table_of(me);
	uint64_t end = (uint64_t)p + length, call;
	bool first = false;

	if (!table || !table->by_depth)
		return true;
	/* Frames are brought up to date first. */
	event_frames();
	call = rt_self.written > rt_self.frames ? table->by_depth[rt_self.written - rt_self.frames - 1] : 0;
	if (table->call != call) {
		table->call = call;
		sched_count_stretch(me);
	}
	if (length > LONG)
		return first_of_range(table, (uint64_t)p, end, kinds_of_access);
	for (uint64_t q = (uint64_t)p; q < end; q = (q & ~7ull) + 8) {
		uint64_t bits = bits_of(q, end, kinds_of_access), known = 0;
		struct cell *cell;

		if (table->ranges[0].count || table->ranges[1].count)
			known = bits_in_ranges(table, q & ~7ull);
		if (table->used * 2 >= table->size && !grow(table))
			return true;
		cell = find(table, q & ~7ull);
		if (cell->stretch != table->stretch) {
			*cell = (struct cell){q & ~7ull, table->stretch, 0};
			table->used++;
		}
		first |= ((cell->bits | known) & bits) != bits;
		cell->bits |= bits;
	}
	return first;
}
