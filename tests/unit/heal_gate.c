/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gates, at the moments at which another thread could look: a lock's gate counts
 * until it is open, and who may not wait gets a gate that is only kept.
 */
#include "rt/heal_gate.h"
#include "rt/heal_patience.h"
#include "rt/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct atomsan_heal_section section = {.id = "section"};
static struct atomsan_heal_gate *opened;
static uint32_t closed_then, owner_then;
static bool forbidden;
static unsigned barriers;

/* ---- what the gates stand on ---- */

bool heal_wait_scheduled(const void *gate, uint64_t until, bool *late)
{
	(void)gate, (void)until, (void)late;
	return false;
}

/* Called behind the opening: what does another thread find now? */
void heal_wake_scheduled(const void *gate)
{
	opened = (struct atomsan_heal_gate *)gate;
	owner_then = heal_owner(opened);
	closed_then = heal_use.closed;
}

bool heal_scheduled(void)
{
	return false;
}

bool heal_has_barrier(void)
{
	return true;
}

bool heal_barrier(void)
{
	barriers++;
	return true;
}

bool heal_order_forbids(uint32_t node)
{
	(void)node;
	return forbidden;
}

bool heal_early_leave(void)
{
	return false;
}

uint64_t heal_patience(const struct atomsan_heal_section *with, uint64_t limit, uint64_t now)
{
	(void)with, (void)now;
	return limit;
}

void heal_patience_lost(struct atomsan_heal_section *with, uint64_t limit, uint64_t since, uint64_t now)
{
	(void)with, (void)limit, (void)since, (void)now;
}

void heal_lock_tell(void)
{
}

void heal_tell_forget(void)
{
}

void heal_count_forget(void)
{
}

uint64_t heal_now(void)
{
	static uint64_t now;

	return now += 1000000;
}

void heal_nap(void)
{
}

bool heal_is_over(uint32_t slot, uint64_t now, struct heal_wait *wait)
{
	(void)slot, (void)now, (void)wait;
	return false;
}

int heal_tid_of(uint32_t number)
{
	(void)number;
	return 0;
}

uint64_t rt_task_ran(int tid)
{
	(void)tid;
	return 0;
}

bool rt_task_asleep(int tid)
{
	(void)tid;
	return false;
}

/* ---- tests ---- */

static int begin(void **state)
{
	(void)state;
	heal_self.number = 1;
	heal_settings = (struct heal_settings){.timeout = 5000000, .keeps = true};
	opened = NULL;
	forbidden = false;
	barriers = 0;
	return 0;
}

/* Who finds that nobody has a lock's gate takes the lock, and wants the gate next. */
static void counts_until_it_is_open(void **state)
{
	struct heal_wish wish = {.section = &section, .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE};
	uint32_t node = heal_lock_node(&section);

	(void)state;
	assert_true(heal_gate_pass(node, &wish));
	assert_int_equal(heal_use.closed, 1);
	heal_gate_release(node);
	assert_ptr_equal(opened, heal_gate_of(node));
	assert_int_equal(owner_then, 0);
	assert_int_equal(closed_then, 1);
	assert_int_equal(heal_use.closed, 0);
}

/* One that somebody else has broken open, and counted, is not counted again. */
static void is_counted_once(void **state)
{
	struct heal_wish wish = {.section = &section, .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE};
	uint32_t node = heal_lock_node(&section);

	(void)state;
	assert_true(heal_gate_pass(node, &wish));
	heal_gate_of(node)->word = 0;
	heal_use.closed = 0;
	heal_gate_release(node);
	assert_null(opened);
	assert_int_equal(heal_use.closed, 0);
	heal_gate_of(node)->count = 0;
}

/* Thread 2 has kept the gate and is elsewhere; thread 3 has asked for it and was stopped before it had
 * looked. */
static void kept_and_asked_for(void **state)
{
	static struct atomsan_heal_variable variable;
	struct heal_wish wish = {.section = &section, .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE};
	uint32_t node = heal_variable_node(&variable);

	(void)state;
	forbidden = true;
	variable.gate.word = 2 | HEAL_WAITED;
	variable.kept = 1;
	assert_true(heal_gate_pass(node, &wish));
	assert_int_equal(barriers, 1);
	assert_int_equal(heal_owner(&variable.gate), 1);
	assert_int_equal(section.counter[ATOMSAN_HEAL_SCHEDULED], 0);
	heal_gate_release(node);
}

/* One that its owner is inside of is not waited for. */
static void closed_and_forbidden(void **state)
{
	static struct atomsan_heal_variable variable;
	struct heal_wish wish = {.section = &section, .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE};
	uint32_t node = heal_variable_node(&variable);

	(void)state;
	heal_self.number = 2;
	assert_true(heal_gate_pass(node, &wish));
	heal_self.number = 1;
	forbidden = true;
	assert_false(heal_gate_pass(node, &wish));
	assert_int_equal(section.counter[ATOMSAN_HEAL_SCHEDULED], 1);
	assert_int_equal(heal_owner(&variable.gate), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counts_until_it_is_open, begin),
		cmocka_unit_test_setup(is_counted_once, begin),
		cmocka_unit_test_setup(kept_and_asked_for, begin),
		cmocka_unit_test_setup(closed_and_forbidden, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
