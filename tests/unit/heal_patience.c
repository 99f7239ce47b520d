/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How long a section is worth waiting for: what is waited in vain is bounded,
 * whatever comes, what was not in vain costs nothing, and patience comes back.
 */
#include "rt/heal_patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MS = 1000000, LIMIT = 100 * MS };

static struct atomsan_heal_section section;
static uint64_t now;

static int begin(void **state)
{
	memset(&section, 0, sizeof section);
	now = 1234567 * (uint64_t)MS;
	return 0;
}

/* Waits as long as it may, in vain. */
static uint64_t wait_in_vain(void)
{
	uint64_t most = heal_patience(&section, LIMIT, now), began = now;

	now += most;
	heal_patience_lost(&section, LIMIT, began, now);
	return most;
}

static void test_first_waits_are_whole(void **state)
{
	for (int i = 0; i < 4; i++)
		assert_int_equal(wait_in_vain(), LIMIT);
	assert_true(wait_in_vain() < LIMIT);
	assert_int_equal(heal_patience(NULL, LIMIT, now), LIMIT);
}

/* One after the other, with next to nothing in between: each is shorter, until it is none. */
static void test_waits_become_shorter(void **state)
{
	uint64_t before = LIMIT, least = LIMIT;

	for (int i = 0; i < 100; i++) {
		uint64_t waited;

		now += 1000;
		waited = wait_in_vain();
		assert_true(waited <= before);
		before = waited;
		least = waited < least ? waited : least;
	}
	assert_int_equal(least, 0);
}

static void test_in_vain_is_bounded(void **state)
{
	srand(1);
	for (int run = 0; run < 200; run++) {
		uint64_t start, vain = 0;
		unsigned pause = 1 + (unsigned)rand() % (50 * MS);

		begin(NULL);
		start = now;
		for (int i = 0; i < 500; i++) {
			now += (unsigned)rand() % pause;
			vain += wait_in_vain();
			assert_true(vain <= 5ull * LIMIT + (now - start) / 16);
		}
	}
}

static void test_patience_comes_back(void **state)
{
	while (wait_in_vain())
		;
	now += 16 * 50 * (uint64_t)MS;
	/* Half a limit has come together. */
	assert_in_range(heal_patience(&section, LIMIT, now), 49 * MS, 53 * MS);
	now += 16 * 400 * (uint64_t)MS;
	for (int i = 0; i < 4; i++)
		assert_int_equal(wait_in_vain(), LIMIT);
}

/* A hundred threads that wait for the same in vain have not waited a hundred times. */
static void test_at_once_counts_once(void **state)
{
	for (int thread = 0; thread < 100; thread++)
		heal_patience_lost(&section, LIMIT, now, now + LIMIT);
	now += LIMIT;
	for (int i = 0; i < 3; i++)
		assert_int_equal(wait_in_vain(), LIMIT);
	assert_true(wait_in_vain() < LIMIT);
}

/* A process that was stopped for an hour in the middle of a wait need not pay for it for a day. */
static void test_debts_have_an_end(void **state)
{
	uint64_t hour = 3600ull * 1000 * MS;

	heal_patience_lost(&section, LIMIT, now, now + hour);
	now += hour + 16 * 5 * (uint64_t)LIMIT;
	assert_int_equal(wait_in_vain(), LIMIT);
}

static void test_no_limit_is_no_wait(void **state)
{
	assert_int_equal(heal_patience(&section, 0, now), 0);
	heal_patience_lost(&section, 0, now, now + MS);
	assert_int_equal(heal_patience(&section, 0, now + MS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_waits_are_whole, begin),
		cmocka_unit_test_setup(test_waits_become_shorter, begin),
		cmocka_unit_test_setup(test_in_vain_is_bounded, begin),
		cmocka_unit_test_setup(test_patience_comes_back, begin),
		cmocka_unit_test_setup(test_at_once_counts_once, begin),
		cmocka_unit_test_setup(test_debts_have_an_end, begin),
		cmocka_unit_test_setup(test_no_limit_is_no_wait, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
