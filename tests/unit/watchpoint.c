/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of watchpoints against a plain reading of what a race is: a window's
 * bytes and an access's share one, one of the two writes, and not both are
 * atomic or of one thread. And threads that set and claim at the same time.
 */
#include "rt/watchpoint.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct atomsan_site site;

static struct watchpoint_access access_of(uint64_t address, uint64_t length, uint32_t thread, unsigned kinds,
					  bool marked)
{
	return (struct watchpoint_access){address, length, &site, thread, (uint8_t)kinds, marked};
}

/* Is a byte of [a, a + n) in [b, b + m), by looking at each? */
static bool share(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
	for (uint64_t i = a; i < a + n; i++)
		for (uint64_t k = b; k < b + m; k++)
			if (i == k)
				return true;
	return false;
}

/* All lengths and places around two granules, all kinds. */
static void overlaps(void **state)
{
	enum { BASE = 0x7f0000000ff8, LENGTHS = 20 };
	uint64_t hits = 0;

	watchpoint_start();
	for (uint64_t at = BASE; at < BASE + 16; at++)
		for (uint64_t n = 1; n <= LENGTHS; n++)
			for (uint64_t pick = 0; pick < 3; pick++)
				for (uint64_t other = BASE - 4; other < BASE + 20; other += 3)
					for (uint64_t m = 1; m <= LENGTHS; m += 1 + m / 3) {
						struct watchpoint_access mine = access_of(at, n, 1, 2, false),
									 his = access_of(other, m, 2, 1,
											 false);
						struct watchpoint *w = watchpoint_set(&mine, pick), *claimed;
						uint64_t first = at >> 3, last = (at + n - 1) >> 3;
						uint64_t begin = (first + pick % (last - first + 1)) << 3,
							 end = begin + 8;
						bool expected;

						assert_non_null(w);
						begin = begin < at ? at : begin;
						end = end > at + n ? at + n : end;
						expected = share(begin, end - begin, other, m);
						claimed = watchpoint_claim(&his);
						assert_int_equal(claimed != NULL, expected);
						if (expected)
							assert_true(watchpoint_near(other, m));
						if (!claimed) {
							assert_int_equal(watchpoint_close(w),
									 WATCHPOINT_MISSED);
							continue;
						}
						hits++;
						assert_ptr_equal(claimed, w);
						assert_int_equal(watchpoint_close(w), WATCHPOINT_WAIT);
						assert_null(watchpoint_claim(&his));
						claimed->other = his;
						watchpoint_tell(claimed);
						assert_int_equal(watchpoint_close(w), WATCHPOINT_HIT);
						watchpoint_free(w);
					}
	assert_true(hits > 1000);
	assert_int_equal(watchpoint_active, 0);
	for (int i = 0; i <= WATCHPOINT_CELLS; i++)
		assert_true(watchpoint_cells[i] == WATCHPOINT_CLEAR);
}

static void kinds(void **state)
{
	watchpoint_start();
	for (unsigned mine = 1; mine <= 3; mine++)
		for (unsigned his = 1; his <= 3; his++)
			for (int marks = 0; marks < 4; marks++)
				for (uint32_t thread = 1; thread <= 2; thread++) {
					struct watchpoint_access a = access_of(64, 8, 1, mine, marks & 1),
								 b = access_of(64, 4, thread, his, marks & 2);
					struct watchpoint *w = watchpoint_set(&a, 0);
					bool race =
						thread != 1 && (mine | his) & WATCHPOINT_WRITE && marks != 3;
					struct watchpoint *claimed = watchpoint_claim(&b);

					assert_int_equal(claimed != NULL, race);
					if (claimed) {
						watchpoint_tell(claimed);
						watchpoint_free(w);
					} else {
						watchpoint_close(w);
					}
				}
}

/* What inlined code compares with differs exactly where something is watched. */
static void cells(void **state)
{
	struct watchpoint *set[WATCHPOINT_PLACES + 8];
	unsigned count = 0;

	watchpoint_start();
	for (uint64_t i = 0; i < WATCHPOINT_PLACES + 8; i++) {
		struct watchpoint_access a = access_of(i * 24, 8, 1, 2, false);

		set[count] = watchpoint_set(&a, 0);
		count += set[count] != NULL;
	}
	/* There are so many places and no more. */
	assert_int_equal(count, WATCHPOINT_PLACES);
	for (uint64_t i = 0; i < WATCHPOINT_CELLS; i++)
		assert_int_equal(watchpoint_cells[i] != WATCHPOINT_CLEAR, i % 3 == 0 && i / 3 < count);
	assert_true(watchpoint_cells[WATCHPOINT_CELLS] == watchpoint_cells[0]);
	/* The same cell again, far away. */
	struct watchpoint_access far = access_of(3 * WATCHPOINT_CELLS * 8, 8, 1, 2, false);

	assert_null(watchpoint_set(&far, 0));
	/* A range over everything runs into one of them. */
	struct watchpoint_access all = access_of(0, 1 << 20, 2, 1, false);
	struct watchpoint *claimed = watchpoint_claim(&all);

	assert_non_null(claimed);
	watchpoint_tell(claimed);
	for (unsigned i = 0; i < count; i++)
		if (watchpoint_close(set[i]) == WATCHPOINT_HIT)
			watchpoint_free(set[i]);
	assert_int_equal(watchpoint_active, 0);
}

/* Who claims finds what was set, whole, and each claim is seen by who set it, once. */
enum { THREADS = 4, ROUNDS = 20000, ADDRESSES = 16 };
static uint64_t claims, hits;

static void *contend(void *argument)
{
	uint32_t me = (uint32_t)(uintptr_t)argument + 1;
	uint64_t random = me;

	for (int i = 0; i < ROUNDS; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		uint64_t address = 4096 + (random >> 40) % ADDRESSES * 8;
		struct watchpoint_access a = access_of(address, 8, me, 2, false);
		struct watchpoint *w = watchpoint_claim(&a);

		if (w) {
			if (w->mine.address != address || w->mine.thread == me)
				abort();
			w->other = a;
			__atomic_fetch_add(&claims, 1, __ATOMIC_RELAXED);
			watchpoint_tell(w);
		}
		w = watchpoint_set(&a, 0);
		if (!w)
			continue;
		for (int spin = 0; spin < 40; spin++)
			__asm__ volatile("pause");
		enum watchpoint_end end;

		while ((end = watchpoint_close(w)) == WATCHPOINT_WAIT)
			sched_yield();
		if (end == WATCHPOINT_HIT) {
			if (w->other.address != address || w->other.thread == me)
				abort();
			__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
			watchpoint_free(w);
		}
	}
	return NULL;
}

static void contention(void **state)
{
	pthread_t threads[THREADS];

	watchpoint_start();
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, contend, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(claims, hits);
	assert_int_equal(watchpoint_active, 0);
	for (int i = 0; i <= WATCHPOINT_CELLS; i++)
		assert_true(watchpoint_cells[i] == WATCHPOINT_CLEAR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlaps),
		cmocka_unit_test(kinds),
		cmocka_unit_test(cells),
		cmocka_unit_test(contention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
