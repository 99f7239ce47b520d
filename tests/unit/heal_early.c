/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Standing in line before the first lock: once for the units that the thread is
 * in, and again when one of them changes, when a section is over, and as long as
 * there is one that it could not have.
 */
#include "rt/heal_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SECTIONS = 3 };

__thread struct heal_thread heal_self = {.number = 1};
static struct atomsan_heal_variable variables[SECTIONS];
static struct atomsan_heal_section sections[SECTIONS];
static uint32_t serial, looks, order;
static bool refused[SECTIONS];

uint32_t heal_unit_serial(void)
{
	return serial;
}

struct atomsan_heal_section *heal_next_whole(uint32_t *n, uint64_t *frame)
{
	looks += !*n;
	*frame = 16;
	return *n < SECTIONS ? &sections[(*n)++] : NULL;
}

struct atomsan_heal_variable *heal_leader(struct atomsan_heal_variable *variable)
{
	return variable;
}

uint32_t heal_variable_node(struct atomsan_heal_variable *variable)
{
	return HEAL_LOCKS + (uint32_t)(variable - variables);
}

void heal_order_taken(uint32_t node)
{
	(void)node;
	order++;
}

bool heal_gate_pass(uint32_t node, const struct heal_wish *wish)
{
	assert_true(wish->early);
	if (refused[node - HEAL_LOCKS])
		return false;
	variables[node - HEAL_LOCKS].gate.word = heal_self.number;
	variables[node - HEAL_LOCKS].gate.count = 1;
	return true;
}

void heal_close_section(struct heal_open *open)
{
	struct atomsan_heal_gate *gate = &variables[open->nodes[0] - HEAL_LOCKS].gate;

	gate->word = gate->count = 0;
	*open = heal_self.open[--heal_self.open_count];
	heal_self.closed++;
}

/* Comes to lock; true: it looked which units it is in. */
static bool locks(void)
{
	uint32_t before = looks;

	heal_early();
	return looks != before;
}

static int begin(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SECTIONS; i++) {
		sections[i] =
			(struct atomsan_heal_section){.variable = &variables[i], .flags = ATOMSAN_HEAL_WHOLE};
		memset(&variables[i], 0, sizeof variables[i]);
		refused[i] = false;
	}
	heal_self.open_count = 0;
	heal_self.early_serial = 0;
	serial = 1;
	return 0;
}

static void once(void **state)
{
	(void)state;
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
	assert_false(locks());
	/* Another unit. */
	serial += 2;
	assert_true(locks());
	assert_false(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
}

static void again_after_an_end(void **state)
{
	(void)state;
	assert_true(locks());
	heal_close_section(&heal_self.open[1]);
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
	assert_true(heal_early_leave());
	assert_int_equal(heal_self.open_count, 0);
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
	assert_false(locks());
}

static void again_while_one_is_refused(void **state)
{
	(void)state;
	refused[2] = true;
	assert_true(locks());
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS - 1);
	refused[2] = false;
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
	assert_false(locks());
}

/* A gate that the thread keeps, and is not inside of, may be taken away from it. */
static void again_while_one_is_kept(void **state)
{
	(void)state;
	variables[0].gate.word = heal_self.number;
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS - 1);
	variables[0].gate.word = 0;
	assert_true(locks());
	assert_int_equal(heal_self.open_count, SECTIONS);
}

static void always_where_nobody_knows(void **state)
{
	(void)state;
	serial = 0;
	assert_true(locks());
	assert_true(locks());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(once, begin),
		cmocka_unit_test_setup(again_after_an_end, begin),
		cmocka_unit_test_setup(again_while_one_is_refused, begin),
		cmocka_unit_test_setup(again_while_one_is_kept, begin),
		cmocka_unit_test_setup(always_where_nobody_knows, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
