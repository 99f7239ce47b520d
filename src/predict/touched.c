/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/touched.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Eight bytes; an entry of an older stretch is free. */
struct touched_cell {
	uint64_t granule, stretch;
	uint64_t bits; /* a byte of bits for each kind */
};

/*
 * A long range would be as many cells; it is kept as it is, and the cells in it
 * stay as they were. Ranges of one kind do not overlap, and ascend.
 */
enum { LONG = 4096 };

struct touched_range {
	uint64_t low, high; /* bytes from low on, below high */
};

/* No address is above; what would end there ends here. */
#define END (UINT64_MAX - 8)

void touched_init(struct touched *t)
{
	*t = (struct touched){.stretch = 1};
}

void touched_release(struct touched *t)
{
	free(t->cells);
	for (unsigned k = 0; k < TOUCHED_KINDS; k++)
		free(t->ranges[k].all);
}

void touched_anew(struct touched *t)
{
	t->stretch++;
	t->used = 0;
	for (unsigned k = 0; k < TOUCHED_KINDS; k++)
		t->ranges[k].count = 0;
}

static uint64_t end_of(uint64_t address, uint64_t length)
{
	if (address >= END)
		return address;
	return length < END - address ? address + length : END;
}

static struct touched_cell *find(const struct touched *t, uint64_t granule)
{
	uint64_t at = granule / 8 * 0x9e3779b97f4a7c15ull >> 20;

	for (;; at++) {
		struct touched_cell *cell = &t->cells[at & (t->size - 1)];

		if (cell->stretch != t->stretch || cell->granule == granule)
			return cell;
	}
}

static void grow(struct touched *t)
{
	struct touched larger = *t;

	larger.size = t->size ? t->size * 2 : 256;
	larger.cells = mem_zalloc(larger.size, sizeof *larger.cells);
	for (uint64_t i = 0; i < t->size; i++)
		if (t->cells[i].stretch == t->stretch)
			*find(&larger, t->cells[i].granule) = t->cells[i];
	free(t->cells);
	*t = larger;
}

/* Index of the first range that ends above the address. */
static uint64_t range_at(const struct touched_ranges *r, uint64_t address)
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

static void make_room(struct touched_ranges *r)
{
	if (r->count == r->room) {
		r->room = r->room ? r->room * 2 : 16;
		r->all = mem_resize(r->all, r->room, sizeof *r->all);
	}
}

static void add_range(struct touched_ranges *r, uint64_t low, uint64_t high)
{
	uint64_t first = range_at(r, low), end = first;

	for (; end < r->count && r->all[end].low <= high; end++) {
		low = r->all[end].low < low ? r->all[end].low : low;
		high = r->all[end].high > high ? r->all[end].high : high;
	}
	make_room(r);
	memmove(r->all + first + 1, r->all + end, (r->count - end) * sizeof *r->all);
	r->all[first] = (struct touched_range){low, high};
	r->count += 1 - (end - first);
}

static void touch_range(struct touched *t, uint64_t low, uint64_t high, unsigned kinds)
{
	for (unsigned k = 0; k < TOUCHED_KINDS; k++)
		if (kinds >> k & 1)
			add_range(&t->ranges[k], low, high);
}

/* Takes the bytes out of the ranges that they lie in. One that becomes empty stays, and has no byte that
 * could be looked for. */
static void cut_range(struct touched_ranges *r, uint64_t low, uint64_t high)
{
	for (uint64_t i = range_at(r, low); i < r->count && r->all[i].low < high; i++) {
		struct touched_range was = r->all[i];

		r->all[i].high = was.low < low ? low : was.low;
		if (was.high > high) {
			add_range(r, high, was.high);
			break;
		}
	}
}

void touched_forget(struct touched *t, uint64_t address, uint64_t length)
{
	uint64_t end = end_of(address, length);

	for (unsigned k = 0; k < TOUCHED_KINDS; k++)
		cut_range(&t->ranges[k], address, end);
	for (uint64_t q = address; t->size && q < end; q = (q & ~7ull) + 8) {
		struct touched_cell *cell = find(t, q & ~7ull);

		/* Blocks are aligned, so the rest of a granule is nobody's. */
		if (cell->stretch == t->stretch)
			cell->bits = 0;
	}
}

/* Bits of the granule that lie in ranges. */
static uint64_t bits_in_ranges(const struct touched *t, uint64_t granule)
{
	uint64_t bits = 0;

	for (unsigned k = 0; k < TOUCHED_KINDS; k++) {
		const struct touched_ranges *r = &t->ranges[k];

		for (uint64_t i = range_at(r, granule); i < r->count && r->all[i].low < granule + 8; i++)
			for (unsigned b = 0; b < 8; b++)
				if (granule + b >= r->all[i].low && granule + b < r->all[i].high)
					bits |= 1ull << (8 * k + b);
	}
	return bits;
}

/* A bit for each byte of the granule at `from` that lies below the end, for each of the kinds. */
static uint64_t bits_of(uint64_t from, uint64_t end, unsigned kinds)
{
	uint64_t n = 8 - (from & 7);
	uint64_t bits = ((1ull << (n < end - from ? n : end - from)) - 1) << (from & 7);

	return (kinds & TOUCHED_READ ? bits : 0) | (kinds & TOUCHED_WRITTEN ? bits << 8 : 0);
}

/* Short: its cells are marked. */
static bool first_of_cells(struct touched *t, uint64_t address, uint64_t end, unsigned kinds)
{
	bool first = false;

	for (uint64_t q = address; q < end; q = (q & ~7ull) + 8) {
		uint64_t bits = bits_of(q, end, kinds), known = 0;
		struct touched_cell *cell;

		if (t->ranges[0].count || t->ranges[1].count)
			known = bits_in_ranges(t, q & ~7ull);
		if (t->used * 2 >= t->size)
			grow(t);
		cell = find(t, q & ~7ull);
		if (cell->stretch != t->stretch) {
			*cell = (struct touched_cell){q & ~7ull, t->stretch, 0};
			t->used++;
		}
		first |= ((cell->bits | known) & bits) != bits;
		cell->bits |= bits;
	}
	return first;
}

/* What the cell knows of one kind, as runs of bytes inside the limits. */
static void add_runs(struct touched_ranges *known, const struct touched_cell *cell, unsigned kind,
		     struct touched_range limits)
{
	unsigned bits = cell->bits >> 8 * kind & 0xff;

	for (unsigned b = 0; b < 8; b++) {
		uint64_t byte = cell->granule + b;

		if (!(bits >> b & 1) || byte < limits.low || byte >= limits.high)
			continue;
		if (known->count && known->all[known->count - 1].high == byte) {
			known->all[known->count - 1].high++;
			continue;
		}
		make_room(known);
		known->all[known->count++] = (struct touched_range){byte, byte + 1};
	}
}

static int by_low(const void *a, const void *b)
{
	const struct touched_range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* The bytes inside the limits that are touched in this kind, as ranges that ascend and have gaps between
 * them. */
static struct touched_ranges known_of(const struct touched *t, unsigned kind, struct touched_range limits)
{
	const struct touched_ranges *r = &t->ranges[kind];
	struct touched_ranges known = {0};
	uint64_t granule = limits.low & ~7ull, kept = 0;

	for (uint64_t i = range_at(r, limits.low); i < r->count && r->all[i].low < limits.high; i++) {
		make_room(&known);
		known.all[known.count++] = r->all[i];
	}
	/* Whichever are fewer, cells that there are or granules that there could be. */
	if (t->size < (limits.high - granule) / 8) {
		for (uint64_t i = 0; i < t->size; i++)
			if (t->cells[i].stretch == t->stretch)
				add_runs(&known, &t->cells[i], kind, limits);
	} else {
		for (; granule < limits.high && t->size; granule += 8) {
			const struct touched_cell *cell = find(t, granule);

			if (cell->stretch == t->stretch)
				add_runs(&known, cell, kind, limits);
		}
	}
	if (!known.count)
		return known;
	qsort(known.all, known.count, sizeof *known.all, by_low);
	for (uint64_t i = 1; i < known.count; i++) {
		if (known.all[i].low > known.all[kept].high)
			known.all[++kept] = known.all[i];
		else if (known.all[i].high > known.all[kept].high)
			known.all[kept].high = known.all[i].high;
	}
	known.count = kept + 1;
	return known;
}

static struct touched_ranges in_both(struct touched_ranges a, struct touched_ranges b)
{
	struct touched_ranges both = {0};

	for (uint64_t i = 0, j = 0; i < a.count && j < b.count;) {
		uint64_t low = a.all[i].low > b.all[j].low ? a.all[i].low : b.all[j].low;
		uint64_t high = a.all[i].high < b.all[j].high ? a.all[i].high : b.all[j].high;

		if (low < high) {
			make_room(&both);
			both.all[both.count++] = (struct touched_range){low, high};
		}
		if (a.all[i].high < b.all[j].high)
			i++;
		else
			j++;
	}
	free(a.all);
	free(b.all);
	return both;
}

/*
 * The steps touch different bytes, so none makes another one known: those are
 * known that lie in what was touched before, whole.
 */
static struct touched_steps steps_of_range(struct touched *t, struct touched_range limits, uint64_t step,
					   unsigned kinds)
{
	uint64_t steps = (limits.high - limits.low + step - 1) / step;
	struct touched_steps s = {.steps = steps, .fresh = steps, .last = steps - 1, .first = true};
	struct touched_ranges known = kinds == TOUCHED_READ ? known_of(t, 0, limits)
				      : kinds == TOUCHED_WRITTEN
					      ? known_of(t, 1, limits)
					      : in_both(known_of(t, 0, limits), known_of(t, 1, limits));

	for (uint64_t i = 0; i < known.count; i++) {
		uint64_t low = known.all[i].low > limits.low ? known.all[i].low - limits.low : 0;
		uint64_t from = (low + step - 1) / step;
		uint64_t to =
			known.all[i].high >= limits.high ? steps : (known.all[i].high - limits.low) / step;

		if (from >= to)
			continue;
		s.fresh -= to - from;
		s.first &= from != 0;
		if (to == steps)
			s.last = from - 1;
	}
	free(known.all);
	touch_range(t, limits.low, limits.high, kinds);
	return s;
}

/* Up to the first byte that is new; then the rest need not be looked at. */
static bool first_of_range(struct touched *t, uint64_t address, uint64_t end, unsigned kinds)
{
	bool first = false;

	for (uint64_t q = address; q < end && !first;) {
		uint64_t bits = bits_of(q, end, kinds), past = UINT64_MAX;
		const struct touched_cell *cell = t->size ? find(t, q & ~7ull) : NULL;

		/* What lies in ranges of all its kinds is passed over at once. */
		for (unsigned k = 0; k < TOUCHED_KINDS; k++) {
			uint64_t i = range_at(&t->ranges[k], q);

			if (!(kinds >> k & 1))
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
	touch_range(t, address, end, kinds);
	return first;
}

bool touched_first(struct touched *t, uint64_t address, uint64_t length, unsigned kinds)
{
	uint64_t end = end_of(address, length);

	if (end - address > LONG)
		return first_of_range(t, address, end, kinds);
	return first_of_cells(t, address, end, kinds);
}

struct touched_steps touched_steps(struct touched *t, uint64_t address, uint64_t length, uint64_t step,
				   unsigned kinds)
{
	uint64_t end = end_of(address, length);
	struct touched_steps s = {0};

	if (end - address > LONG)
		return steps_of_range(t, (struct touched_range){address, end}, step, kinds);
	for (uint64_t q = address; q < end; q = end_of(q, step), s.steps++) {
		uint64_t past = end_of(q, step);

		if (!first_of_cells(t, q, past < end ? past : end, kinds))
			continue;
		s.fresh++;
		s.last = s.steps;
		s.first |= s.steps == 0;
	}
	return s;
}
