/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The order of locks and gates against a plain search: random threads take
 * random things while they have others, and a gate is forbidden exactly if
 * something that the thread has can be reached from it.
 */
#include "rt/heal_gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

__thread struct heal_thread heal_self;
struct atomsan_heal_gate heal_locks[HEAL_LOCKS];

/* Locks whose nodes are 0, 1, 2, ...: as the hash would have it. */
enum { LOCKS = 12 };
static char *locks[LOCKS];

uint32_t heal_lock_node(const void *lock)
{
	return (uint32_t)(heal_lock_gate(lock) - heal_locks);
}

static void find_locks(void)
{
	uintptr_t address = 0x10000;

	for (unsigned found = 0; found < LOCKS; address += 8) {
		bool is_new = true;

		for (unsigned i = 0; i < found; i++)
			is_new &= heal_lock_node(locks[i]) != heal_lock_node((void *)address);
		if (is_new)
			locks[found++] = (char *)address;
	}
}

static bool edges[LOCKS][LOCKS];

static bool reaches(unsigned from, unsigned to, bool *seen)
{
	for (unsigned next = 0; next < LOCKS; next++) {
		if (!edges[from][next] || seen[next])
			continue;
		seen[next] = true;
		if (next == to || reaches(next, to, seen))
			return true;
	}
	return false;
}

static void random_orders(void **state)
{
	unsigned seed = 1, forbidden = 0, allowed = 0;

	(void)state;
	find_locks();
	for (unsigned round = 0; round < 3000; round++) {
		unsigned has[LOCKS], count = rand_r(&seed) % 3, wants = rand_r(&seed) % LOCKS;
		bool expected = false;

		heal_self.held_count = heal_self.open_count = 0;
		/* A thread has the first in its hands, and the second by a gate of a section. */
		for (unsigned i = 0; i < count; i++) {
			has[i] = rand_r(&seed) % LOCKS;
			if (!i) {
				heal_self.held[heal_self.held_count++] =
					(struct heal_held){.object = locks[has[i]]};
			} else {
				heal_self.open[heal_self.open_count++] = (struct heal_open){
					.gates = 1, .nodes = {heal_lock_node(locks[has[i]])}};
			}
		}
		for (unsigned i = 0; i < count; i++) {
			bool seen[LOCKS] = {false};

			expected |= has[i] != wants && reaches(wants, has[i], seen);
		}
		assert_int_equal(heal_order_forbids(heal_lock_node(locks[wants])), expected);
		*(expected ? &forbidden : &allowed) += 1;
		/* Few edges, or everything is forbidden soon. */
		if (round % 100)
			continue;
		heal_order_taken(heal_lock_node(locks[wants]));
		for (unsigned i = 0; i < count; i++)
			edges[has[i]][wants] |= has[i] != wants;
	}
	assert_true(forbidden > 100);
	assert_true(allowed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_orders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
