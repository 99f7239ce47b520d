/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which locks a thread has, and passing by their gates.
 *
 * A section that begins under a read lock is not alone there: another reader
 * may be about to begin the same one, and would have to be stopped behind
 * the lock, where the section's own thread will want to write. So calls that
 * took a read lock under which a section began are remembered, and the next
 * time they close the lock's gate before they take it.
 */
#include "rt/heal_gate.h"

enum {
	PLACES = 1024,
	AGAIN = 8, /* times that one who had to leave the line stands in it again */
};
static uint8_t leads[PLACES];
static struct atomsan_heal_section readers = {.id = "readers"};

static uint32_t slot_of(const void *place)
{
	return (uint32_t)(((uint64_t)place >> 2) * 0x9e3779b97f4a7c15ull >> 54);
}

static struct heal_held *find(const void *lock)
{
	struct heal_thread *me = &heal_self;

	for (uint32_t i = me->held_count; i--;)
		if (me->held[i].object == lock)
			return &me->held[i];
	return NULL;
}

bool heal_lock_is_held(const void *lock)
{
	return find(lock) != NULL;
}

static void pass_gate(const void *lock)
{
	struct heal_thread *me = &heal_self;
	uint32_t node = heal_lock_node(lock), owner;

	owner = heal_owner(&heal_locks[node]);
	/* Who has it passes anyway, and must not be kept from what he would do with it. */
	if (heal_unlikely((owner && owner != me->number) || leads[slot_of(me->place)]) && !me->reserved &&
	    !find(lock)) {
		bool reserve = leads[slot_of(me->place)];
		struct heal_wish wish = {.section = reserve ? &readers : NULL,
					 .kinds = ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE};

		if (!heal_gate_pass(node, &wish))
			me->through = lock;
		else if (reserve)
			me->reserved = lock;
	}
}

void heal_lock_before(const void *lock)
{
	struct heal_thread *me = &heal_self;

	me->through = NULL;
	if (heal_unlikely(me->reserved) && me->reserved != lock)
		heal_lock_failed();
	/* Who had to leave the line to get past the gate stands in line again, and sooner or later without.
	 */
	for (unsigned tries = 0; tries < AGAIN; tries++) {
		uint32_t left = me->left;

		if (heal_unlikely(heal_use.whole))
			heal_early();
		pass_gate(lock);
		if (heal_likely(me->left == left) || me->reserved)
			break;
	}
	heal_waits(heal_lock_node(lock) + 1);
}

void heal_lock_failed(void)
{
	if (heal_self.reserved)
		heal_gate_release(heal_lock_node(heal_self.reserved));
	heal_self.reserved = NULL;
	heal_waits(0);
}

void heal_lock_leads(void)
{
	const struct heal_thread *me = &heal_self;

	for (uint32_t i = 0; i < me->held_count; i++)
		if (me->held[i].shared) {
			__atomic_store_n(&leads[slot_of(me->held[i].place)], 1, __ATOMIC_RELAXED);
			heal_use.leads = 1;
		}
}

bool heal_lock_barred(const void *lock)
{
	uint32_t owner = heal_owner(heal_lock_gate(lock));

	return heal_unlikely(owner && owner != heal_self.number) && heal_self.through != lock && !find(lock);
}

static void tell(struct heal_held *held)
{
	struct atomsan_heal_gate *gate = heal_lock_gate(held->object);

	held->known = true;
	if (held->shared)
		__atomic_fetch_add(&gate->readers, 1, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&gate->holder, heal_self.number, __ATOMIC_RELAXED);
}

void heal_lock_tell(void)
{
	struct heal_thread *me = &heal_self;

	for (uint32_t i = 0; i < me->held_count; i++)
		if (!me->held[i].known)
			tell(&me->held[i]);
}

void heal_lock_untell(const struct heal_held *held)
{
	struct atomsan_heal_gate *gate = heal_lock_gate(held->object);

	if (held->shared)
		__atomic_fetch_sub(&gate->readers, 1, __ATOMIC_RELAXED);
	else if (__atomic_load_n(&gate->holder, __ATOMIC_RELAXED) == heal_self.number)
		__atomic_store_n(&gate->holder, 0, __ATOMIC_RELEASE);
	/* Its owner may wait for the lock to be free. */
	if (heal_unlikely(heal_owner(gate) && heal_owner(gate) != heal_self.number))
		heal_wake_scheduled(gate);
}

void heal_lock_taken(const void *lock, bool shared)
{
	struct heal_thread *me = &heal_self;
	struct heal_held *held = find(lock);

	heal_waits(0);
	me->through = NULL;
	if (held) {
		held->times++;
		if (me->reserved == lock)
			heal_lock_failed();
		return;
	}
	/* Who has its gate has taken that before, and others do not have the lock meanwhile. */
	if ((me->held_count || me->open_count) && heal_owner(heal_lock_gate(lock)) != me->number)
		heal_order_taken(heal_lock_node(lock));
	if (me->held_count == HEAL_HELD) {
		if (me->reserved == lock)
			heal_lock_failed();
		return;
	}
	held = &me->held[me->held_count++];
	*held = (struct heal_held){lock, me->place, 1, shared, me->reserved == lock, false};
	me->reserved = NULL;
	if (!heal_idle())
		tell(held);
}

void heal_lock_released(const void *lock)
{
	struct heal_thread *me = &heal_self;
	struct heal_held *held = find(lock);

	if (!held || --held->times)
		return;
	if (heal_unlikely(me->open_count))
		heal_close_gates();
	if (heal_unlikely(held->reserved))
		heal_gate_release(heal_lock_node(lock));
	if (heal_unlikely(held->known))
		heal_lock_untell(held);
	for (me->held_count--; held < &me->held[me->held_count]; held++)
		*held = held[1];
}
