/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/watchpoint.h"

enum watchpoint_state { FREE, BUSY, OPEN, CLAIMED, TOLD, STATE_BITS = 3, STATE_MASK = 7 };

uint64_t watchpoint_cells[WATCHPOINT_CELLS + 1];
uint64_t watchpoint_active, watchpoint_granules[WATCHPOINT_PLACES];
static struct watchpoint table[WATCHPOINT_PLACES];
static uint64_t taken; /* places, from before they are in use until after */

void watchpoint_start(void)
{
	for (unsigned i = 0; i <= WATCHPOINT_CELLS; i++)
		watchpoint_cells[i] = WATCHPOINT_CLEAR;
	for (unsigned i = 0; i < WATCHPOINT_PLACES; i++)
		table[i].state = 0;
	watchpoint_active = taken = 0;
}

/* The bytes of a granule that an access has. */
static uint32_t bytes_of(const struct watchpoint_access *access, uint64_t granule)
{
	uint64_t begin = granule << 3, end = begin + 8, last = access->address + access->length;
	uint64_t from = access->address > begin ? access->address - begin : 0;
	uint64_t to = last < end ? last - begin : 8;

	return (0xffu >> (8 - (to - from))) << from;
}

static bool take_cell(uint64_t index)
{
	uint64_t clear = WATCHPOINT_CLEAR;

	if (!__atomic_compare_exchange_n(&watchpoint_cells[index], &clear, 0, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	/* An access of two granules that begins in the last cell. */
	if (!index)
		__atomic_store_n(&watchpoint_cells[WATCHPOINT_CELLS], 0, __ATOMIC_RELAXED);
	return true;
}

static void give_cell_back(uint64_t index)
{
	if (!index)
		__atomic_store_n(&watchpoint_cells[WATCHPOINT_CELLS], WATCHPOINT_CLEAR, __ATOMIC_RELAXED);
	__atomic_store_n(&watchpoint_cells[index], WATCHPOINT_CLEAR, __ATOMIC_RELEASE);
}

/* A place, or NULL. */
static struct watchpoint *take_place(void)
{
	uint64_t now = __atomic_load_n(&taken, __ATOMIC_RELAXED), place;

	do {
		if (!~now)
			return NULL;
		place = ~now & (now + 1);
		/* Pairs with the release in watchpoint_free(). */
	} while (!__atomic_compare_exchange_n(&taken, &now, now | place, true, __ATOMIC_ACQUIRE,
					      __ATOMIC_RELAXED));
	return &table[__builtin_ctzll(place)];
}

static uint64_t bit_of(const struct watchpoint *w)
{
	return 1ull << (w - table);
}

struct watchpoint *watchpoint_set(const struct watchpoint_access *access, uint64_t pick)
{
	uint64_t first = access->address >> 3, last = (access->address + access->length - 1) >> 3;
	uint64_t granule = first + pick % (last - first + 1), index = granule % WATCHPOINT_CELLS, number;
	struct watchpoint *w;

	if (!take_cell(index))
		return NULL;
	w = take_place();
	if (!w) {
		give_cell_back(index);
		return NULL;
	}
	number = (__atomic_load_n(&w->state, __ATOMIC_RELAXED) & ~(uint64_t)STATE_MASK) + (1 << STATE_BITS);
	__atomic_store_n(&w->state, number + BUSY, __ATOMIC_RELAXED);
	/* What claim() looks at, perhaps on its way to the use before. */
	__atomic_store_n(&watchpoint_granules[w - table], granule, __ATOMIC_RELAXED);
	__atomic_store_n(&w->bytes, bytes_of(access, granule), __ATOMIC_RELAXED);
	__atomic_store_n(&w->mine.thread, access->thread, __ATOMIC_RELAXED);
	__atomic_store_n(&w->mine.kinds, access->kinds, __ATOMIC_RELAXED);
	__atomic_store_n(&w->mine.marked, access->marked, __ATOMIC_RELAXED);
	w->mine.address = access->address;
	w->mine.length = access->length;
	w->mine.site = access->site;
	/* Pairs with the acquire in watchpoint_claim(). */
	__atomic_store_n(&w->state, number + OPEN, __ATOMIC_RELEASE);
	__atomic_fetch_or(&watchpoint_active, bit_of(w), __ATOMIC_RELEASE);
	return w;
}

static bool conflicts(const struct watchpoint *w, const struct watchpoint_access *access)
{
	return __atomic_load_n(&w->mine.thread, __ATOMIC_RELAXED) != access->thread &&
	       (__atomic_load_n(&w->mine.kinds, __ATOMIC_RELAXED) | access->kinds) & WATCHPOINT_WRITE &&
	       !(__atomic_load_n(&w->mine.marked, __ATOMIC_RELAXED) && access->marked);
}

static bool claim(struct watchpoint *w, const struct watchpoint_access *access, uint64_t first, uint64_t last)
{
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE);
	uint64_t granule = __atomic_load_n(&watchpoint_granules[w - table], __ATOMIC_RELAXED);

	if ((state & STATE_MASK) != OPEN || granule < first || granule > last ||
	    !(__atomic_load_n(&w->bytes, __ATOMIC_RELAXED) & bytes_of(access, granule)) ||
	    !conflicts(w, access))
		return false;
	/* If it is another use by now, its number is another, too, and what was read above does not count. */
	return __atomic_compare_exchange_n(&w->state, &state, (state & ~(uint64_t)STATE_MASK) + CLAIMED,
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

struct watchpoint *watchpoint_claim(const struct watchpoint_access *access)
{
	uint64_t first = access->address >> 3, last = (access->address + access->length - 1) >> 3;
	uint64_t places = __atomic_load_n(&watchpoint_active, __ATOMIC_ACQUIRE);

	for (; places; places &= places - 1) {
		struct watchpoint *w = &table[__builtin_ctzll(places)];

		if (claim(w, access, first, last))
			return w;
	}
	return NULL;
}

void watchpoint_tell(struct watchpoint *w)
{
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_RELAXED);

	/* Pairs with the acquire in watchpoint_close(). */
	__atomic_store_n(&w->state, (state & ~(uint64_t)STATE_MASK) + TOLD, __ATOMIC_RELEASE);
}

enum watchpoint_end watchpoint_close(struct watchpoint *w)
{
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE);

	if ((state & STATE_MASK) == OPEN &&
	    __atomic_compare_exchange_n(&w->state, &state, (state & ~(uint64_t)STATE_MASK) + BUSY, false,
					__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		watchpoint_free(w);
		return WATCHPOINT_MISSED;
	}
	return (state & STATE_MASK) == TOLD ? WATCHPOINT_HIT : WATCHPOINT_WAIT;
}

void watchpoint_free(struct watchpoint *w)
{
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_RELAXED);

	__atomic_fetch_and(&watchpoint_active, ~bit_of(w), __ATOMIC_RELAXED);
	give_cell_back(watchpoint_granules[w - table] % WATCHPOINT_CELLS);
	__atomic_store_n(&w->state, (state & ~(uint64_t)STATE_MASK) + FREE, __ATOMIC_RELAXED);
	/* Pairs with the acquire in take_place(). */
	__atomic_fetch_and(&taken, ~bit_of(w), __ATOMIC_RELEASE);
}
