/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who pays for an access and a section to see each other. A section lets all
 * processors pass a fence where it seldom comes, or where accesses outside of
 * sections are so many that it is the cheaper of the two; else they fence
 * themselves.
 */
#include "rt/heal_gate.h"
#include "rt/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

__thread struct heal_thread heal_self;
struct heal_settings heal_settings;

enum { PASSES = 4096, MANY = 1000 };

struct atomsan_heal_gate *heal_gate_of(uint32_t node)
{
	(void)node;
	return NULL;
}

bool heal_wait_scheduled(const void *gate, uint64_t until, bool *late)
{
	(void)gate, (void)until, (void)late;
	fail_msg("there is nobody to be waited for");
	return false;
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

void heal_wake_scheduled(const void *gate)
{
	(void)gate;
}

/* So many accesses outside of sections. */
static void tell(const struct atomsan_heal_variable *variable, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		assert_true(
			heal_tell_fast(&variable->gate, (const char *)variable, (const char *)variable + 1));
		assert_true(heal_self.pending && heal_self.told);
		heal_untell();
		heal_self.pending = false;
	}
}

/* True: some time in that many sections, each with so many accesses beside it, it was in this mode. */
static bool comes_to(struct atomsan_heal_variable *variable, enum heal_mode mode, unsigned accesses)
{
	for (unsigned i = 0; i < PASSES; i++) {
		tell(variable, accesses);
		heal_let_through(variable, NULL, NULL);
		if (heal_mode(variable->gate.mode) == mode)
			return true;
	}
	return false;
}

static void the_cheaper_one_is_chosen(void **state)
{
	static struct atomsan_heal_variable variable;

	(void)state;
	heal_barrier_start();
	if (!heal_has_barrier())
		skip();
	heal_thread_is(1);
	assert_false(heal_self.apart & HEAL_NOT_MET);
	variable.gate.mode = HEAL_UNFENCED;
	/* Many accesses: however fast sections come, it stays as it is. */
	assert_false(comes_to(&variable, HEAL_FENCED, MANY));
	/* None: as fast as they can, there are some that come too fast. */
	assert_true(comes_to(&variable, HEAL_FENCED, 0));
	assert_int_equal(variable.gate.word, 0);
	/* And back again. */
	assert_true(comes_to(&variable, HEAL_UNFENCED, MANY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_cheaper_one_is_chosen)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
