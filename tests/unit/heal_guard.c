/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock that a variable is used under: one for a whole table, one for each
 * object, none. It is trusted when it was seen often enough, and never again
 * after an access without it.
 */
#include "rt/heal_guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

__thread struct heal_thread heal_self;

static void hold(const void *lock, bool shared)
{
	heal_self.held_count = lock != NULL;
	heal_self.held[0] = (struct heal_held){.object = lock, .times = 1, .shared = shared};
}

enum { OBJECTS = 8 };
static struct object {
	long lock, pad[300], value;
} objects[OBJECTS];
static long table_lock;

/* How many of so many accesses, going round all objects, were found to be guarded. */
static unsigned use(struct atomsan_heal_variable *variable, const void *table, unsigned times)
{
	unsigned guarded = 0;

	for (unsigned i = 0; i < times; i++) {
		struct object *object = &objects[i % OBJECTS];

		hold(table ? table : &object->lock, false);
		guarded += heal_guard_covers(variable, &object->value, false);
		assert_int_equal(heal_guard_held(&variable->guard, &object->value, false),
				 heal_guard_trusted(&variable->guard));
	}
	return guarded;
}

static void one_for_all(void **state)
{
	struct atomsan_heal_variable variable = {0};

	(void)state;
	assert_int_equal(use(&variable, &table_lock, HEAL_TRUSTED), 0);
	assert_int_equal(use(&variable, &table_lock, 100), 100);
	/* Not the one of the first object, by its distance. */
	hold((const char *)&objects[1].value + variable.guard.distance, false);
	assert_false(heal_guard_held(&variable.guard, &objects[1].value, false));
}

static void one_for_each(void **state)
{
	struct atomsan_heal_variable variable = {0};

	(void)state;
	assert_int_equal(use(&variable, NULL, HEAL_TRUSTED), 0);
	assert_int_equal(use(&variable, NULL, 100), 100);
	/* Not the first object's, for another one. */
	hold(&objects[0].lock, false);
	assert_false(heal_guard_held(&variable.guard, &objects[1].value, false));
}

static void never_again(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct atomsan_heal_variable variable = {0};

		use(&variable, NULL, HEAL_TRUSTED + 10);
		assert_true(heal_guard_trusted(&variable.guard));
		/* Without a lock, under another object's, or under one that is shared. */
		hold(way == 0 ? NULL : way == 1 ? &objects[2].lock : &objects[3].lock, way == 2);
		assert_false(heal_guard_covers(&variable, &objects[3].value, false));
		assert_int_equal(use(&variable, NULL, 2 * HEAL_TRUSTED), 0);
	}
}

/* Who only reads may share it. */
static void readers(void **state)
{
	struct atomsan_heal_variable variable = {0};

	(void)state;
	use(&variable, NULL, HEAL_TRUSTED + 10);
	hold(&objects[3].lock, true);
	assert_true(heal_guard_covers(&variable, &objects[3].value, true));
	assert_true(heal_guard_trusted(&variable.guard));
}

/* Entry and end of a section are elements of one array: what counts is where it began. */
static void guessed_anew(void **state)
{
	struct atomsan_heal_guard guard = {0};

	(void)state;
	heal_guard_learn(&guard, &objects[0].lock, &objects[0].value);
	assert_true(heal_guard_is(&guard, &objects[1].value, &objects[1].lock));
	assert_true(heal_guard_is(&guard, &objects[1].value, &objects[0].lock));
	heal_guard_learn(&guard, &objects[1].lock, &objects[1].value);
	assert_false(heal_guard_is(&guard, &objects[2].value, &objects[0].lock));
	assert_true(heal_guard_is(&guard, &objects[2].value, &objects[2].lock));
	heal_guard_learn(&guard, &table_lock, &objects[2].value);
	assert_true(heal_guard_is(&guard, &objects[5].value, &table_lock));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_for_all), cmocka_unit_test(one_for_each), cmocka_unit_test(never_again),
		cmocka_unit_test(readers),     cmocka_unit_test(guessed_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
