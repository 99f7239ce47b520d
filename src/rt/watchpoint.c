/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/watchpoint.h"

enum watchpoint_state { FREE, BUSY, OPEN, CLAIMED, TOLD, STATE_BITS = 3, STATE_MASK = 7 };

uint64_t watchpoint_cells[WATCHPOINT_CELLS + 1];
uint32_t watchpoint_active;
static struct watchpoint table[WATCHPOINT_CELLS];

void watchpoint_start(void)
{
	for (unsigned i = 0; i <= WATCHPOINT_CELLS; i++)
		watchpoint_cells[i] = WATCHPOINT_CLEAR;
	for (unsigned i = 0; i < WATCHPOINT_CELLS; i++)
		table[i].state = 0;
	watchpoint_active = 0;
}

/* The bytes of a granule that an access has. */
static uint32_t bytes_of(const struct watchpoint_access *access, uint64_t granule)
{
	uint64_t begin = granule << 3, end = begin + 8, last = access->address + access->length;
	uint64_t from = access->address > begin ? access->address - begin : 0;
	uint64_t to = last < end ? last - begin : 8;

	return (0xffu >> (8 - (to - from))) << from;
}

static void show(uint64_t index, uint64_t value)
{
	__atomic_store_n(&watchpoint_cells[index], value, __ATOMIC_RELAXED);
	/* An access of two granules that begins in the last cell. */
	if (!index)
		__atomic_store_n(&watchpoint_cells[WATCHPOINT_CELLS], value, __ATOMIC_RELAXED);
}

struct watchpoint *watchpoint_set(const struct watchpoint_access *access, uint64_t pick)
{
	uint64_t first = access->address >> 3, last = (access->address + access->length - 1) >> 3;
	uint64_t granule = first + pick % (last - first + 1), index = granule % WATCHPOINT_CELLS;
	struct watchpoint *w = &table[index];
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_RELAXED);

	/* Acquire pairs with the release of who freed it. */
	if ((state & STATE_MASK) != FREE ||
	    !__atomic_compare_exchange_n(&w->state, &state, state + (1 << STATE_BITS) + BUSY, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return NULL;
	state = (state & ~(uint64_t)STATE_MASK) + (1 << STATE_BITS);
	w->granule = granule;
	w->bytes = bytes_of(access, granule);
	w->mine = *access;
	/* Pairs with the acquire in watchpoint_claim(). */
	__atomic_store_n(&w->state, state + OPEN, __ATOMIC_RELEASE);
	__atomic_fetch_add(&watchpoint_active, 1, __ATOMIC_RELAXED);
	show(index, 0);
	return w;
}

static bool conflicts(const struct watchpoint *w, const struct watchpoint_access *access)
{
	return w->mine.thread != access->thread && (w->mine.kinds | access->kinds) & WATCHPOINT_WRITE &&
	       !(w->mine.marked && access->marked);
}

static bool claim(struct watchpoint *w, const struct watchpoint_access *access, uint64_t first, uint64_t last)
{
	uint64_t state = __atomic_load_n(&w->state, __ATOMIC_ACQUIRE), granule = w->granule;

	if ((state & STATE_MASK) != OPEN || granule < first || granule > last ||
	    !(w->bytes & bytes_of(access, granule)) || !conflicts(w, access))
		return false;
	/* If it is another use by now, its number is another, too, and what was read above does not count. */
	return __atomic_compare_exchange_n(&w->state, &state, (state & ~(uint64_t)STATE_MASK) + CLAIMED,
					   false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

struct watchpoint *watchpoint_claim(const struct watchpoint_access *access)
{
	uint64_t first = access->address >> 3, last = (access->address + access->length - 1) >> 3;
	uint64_t count = last - first < WATCHPOINT_CELLS ? last - first + 1 : WATCHPOINT_CELLS;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t index = (first + i) % WATCHPOINT_CELLS;

		if (__atomic_load_n(&watchpoint_cells[index], __ATOMIC_RELAXED) != WATCHPOINT_CLEAR &&
		    claim(&table[index], access, first, last))
			return &table[index];
	}
	return 0;
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

	show((uint64_t)(w - table), WATCHPOINT_CLEAR);
	__atomic_fetch_sub(&watchpoint_active, 1, __ATOMIC_RELAXED);
	/* Pairs with the acquire in watchpoint_set(). */
	__atomic_store_n(&w->state, (state & ~(uint64_t)STATE_MASK) + FREE, __ATOMIC_RELEASE);
}
