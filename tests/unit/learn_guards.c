/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the program keeps whole by itself, held against the definition: random
 * runs of three threads with two locks and two locations, and for each two
 * accesses of one thread to one location the whole run is looked at again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "learn/guards.h"

enum { THREADS = 3, LOCKS = 2, CELLS = 2, EVENTS = 40, RUNS = 20000 };
enum what { LOCK, RDLOCK, UNLOCK, WAIT, WAKE, CREATE, JOIN, READ, WRITE, FREE, WHATS };
enum mode { NOT_HELD, ALONE, SHARED };

static struct event {
	enum what what;
	uint32_t thread, lock, cell;
	enum mode held[THREADS][LOCKS]; /* behind it */
	uint32_t alive;                 /* behind it */
} run[EVENTS];
static uint32_t count;

static uint32_t below(uint32_t bound)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % bound;
}

/* Can it happen now? What it does to locks and threads is done to it. */
static bool happen(struct event *e)
{
	enum mode *mine = &e->held[e->thread][e->lock];
	bool free = true, alone = true;

	for (uint32_t t = 0; t < THREADS; t++) {
		free &= e->held[t][e->lock] == NOT_HELD;
		alone &= e->held[t][e->lock] != ALONE;
	}
	switch (e->what) {
	case LOCK:
	case WAKE:
		*mine = ALONE;
		return free;
	case RDLOCK:
		alone &= *mine == NOT_HELD;
		*mine = SHARED;
		return alone;
	case UNLOCK:
	case WAIT:
		alone = *mine == ALONE || (*mine == SHARED && e->what == UNLOCK);
		*mine = NOT_HELD;
		return alone;
	case CREATE:
		e->alive++;
		return true;
	case JOIN:
		return --e->alive > 0;
	default:
		return true;
	}
}

static void make(void)
{
	struct event now = {.alive = 1};

	for (count = 0; count < EVENTS;) {
		struct event next = now;

		next.what = below(3) ? below(WHATS) : READ + below(2);
		if ((next.what == CREATE || next.what == JOIN) && below(3))
			continue;
		next.thread = below(THREADS);
		next.lock = below(LOCKS);
		next.cell = below(CELLS);
		if (happen(&next))
			run[count++] = now = next;
	}
}

static bool is_access(const struct event *e, uint32_t cell)
{
	return (e->what == READ || e->what == WRITE) && e->cell == cell;
}

/* All accesses to the location, from one that others could see on, are made under the lock. */
static bool guards(uint32_t lock, uint32_t from, uint32_t to, uint32_t cell)
{
	for (uint32_t k = from; k < to; k++)
		if (is_access(&run[k], cell) && run[k].alive > 1) {
			enum mode mode = run[k].held[run[k].thread][lock];

			if (mode == NOT_HELD || (mode == SHARED && run[k].what == WRITE))
				return false;
		}
	return true;
}

static bool defined(uint32_t i, uint32_t j)
{
	uint32_t cell = run[i].cell, begin = i, end = j, shared;
	bool alone = run[i].alive == 1;

	for (uint32_t k = i + 1; k <= j; k++)
		alone &= run[k].what != CREATE && run[k].what != JOIN;
	if (alone)
		return true;
	while (begin && !(run[begin - 1].what == FREE && run[begin - 1].cell == cell))
		begin--;
	while (end < count && !(run[end].what == FREE && run[end].cell == cell))
		end++;
	while (!is_access(&run[begin], cell))
		begin++;
	for (shared = begin; shared < end; shared++)
		if (is_access(&run[shared], cell) && run[shared].alive > 1 &&
		    run[shared].thread != run[begin].thread)
			break;
	if (shared == end)
		return true;
	for (uint32_t lock = 0; lock < LOCKS; lock++) {
		bool held = true;

		for (uint32_t k = i; k <= j; k++)
			held &= run[k].held[run[i].thread][lock] != NOT_HELD;
		if (held && guards(lock, shared, end, cell))
			return true;
	}
	return false;
}

static void tell(struct guards *g, const struct event *e)
{
	static const uint8_t ops[WHATS] = {[LOCK] = TRACE_OP_LOCK,     [RDLOCK] = TRACE_OP_RDLOCK,
					   [UNLOCK] = TRACE_OP_UNLOCK, [WAIT] = TRACE_OP_WAIT,
					   [WAKE] = TRACE_OP_WAKE,     [CREATE] = TRACE_OP_CREATE,
					   [JOIN] = TRACE_OP_JOIN};
	uint64_t lock = 0x1000 + e->lock * 64;
	struct trace_event op = {.kind = TRACE_OP, .thread = e->thread, .op = ops[e->what], .address = lock};

	if (e->what == WAIT || e->what == WAKE) {
		op.address = 0x2000;
		op.value = lock;
	}
	if (e->what == READ || e->what == WRITE)
		guards_access(g, e->thread, 0x3000 + e->cell * 8, 8, e->what == WRITE);
	else if (e->what == FREE)
		guards_forget(g, 0x3000 + e->cell * 8, 8);
	else
		guards_op(g, &op);
}

static void as_defined(void **state)
{
	uint32_t yes = 0, no = 0;

	for (uint32_t n = 0; n < RUNS; n++) {
		struct guards *g = guards_new();
		uint64_t since[EVENTS];

		make();
		for (uint32_t k = 0; k < count; k++)
			tell(g, &run[k]);
		guards_again(g);
		for (uint32_t j = 0; j < count; j++) {
			tell(g, &run[j]);
			since[j] = guards_now(g);
			if (run[j].what != READ && run[j].what != WRITE)
				continue;
			/* Back to where the location began. */
			for (uint32_t i = j; i-- && !(run[i].what == FREE && run[i].cell == run[j].cell);) {
				bool covered;

				if (!is_access(&run[i], run[j].cell) || run[i].thread != run[j].thread)
					continue;
				covered =
					guards_cover(g, run[j].thread, since[i], 0x3000 + run[j].cell * 8, 8);
				assert_int_equal(covered, defined(i, j));
				covered ? yes++ : no++;
			}
		}
		guards_free(g);
	}
	assert_true(yes > RUNS && no > RUNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_defined)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
