/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Circles of threads that wait for each other. While it waits a thread looks
 * every now and then whether those whom it waits for wait for it in turn. All
 * who wait say for what, so the circle can be walked; what is read of others may
 * be a moment old, and the next look sees what this one missed.
 */
#include "rt/heal_gate.h"

/* Each in a cache line of its own: it changes with every lock. */
static struct {
	uint32_t waits; /* node + 1; 0: for nothing that is known here */
	uint32_t reserved[15];
} threads[HEAL_THREADS] __attribute__((aligned(64)));

void heal_waits(uint32_t node)
{
	if (heal_self.waits == node)
		return;
	heal_self.waits = node;
	__atomic_store_n(&threads[heal_slot(heal_self.number)].waits, node, __ATOMIC_RELEASE);
}

/* For whom does somebody wait who waits for this? */
static uint32_t in_the_way(uint32_t node, uint32_t whose)
{
	const struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint32_t owner = heal_owner(gate), holder = __atomic_load_n(&gate->holder, __ATOMIC_RELAXED);

	return owner && owner != whose ? owner : holder != whose ? holder : 0;
}

bool heal_in_a_circle(uint32_t node)
{
	uint32_t me = heal_self.number, other = in_the_way(node, me);

	for (unsigned steps = 0; other && steps < 64; steps++) {
		uint32_t waits;

		if (other == me)
			return true;
		waits = __atomic_load_n(&threads[heal_slot(other)].waits, __ATOMIC_ACQUIRE);
		if (!waits)
			return false;
		other = in_the_way(waits - 1, other);
	}
	return false;
}

void heal_circle_forget(void)
{
	for (uint32_t slot = 0; slot < HEAL_THREADS; slot++)
		threads[slot].waits = 0;
}
