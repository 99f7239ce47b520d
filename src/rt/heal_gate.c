/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gates. One is a word with its owner's number; whoever may not pass sleeps on
 * it. Which gate a lock has is by the lock's address alone, so two locks may
 * share one: then somebody waits who need not, and nothing else happens.
 *
 * While it waits a thread looks every now and then whether those whom it waits
 * for wait for it in turn. All who wait say for what, so the circle can be
 * walked; what is read of others may be a moment old, and the next look sees
 * what this one missed.
 */
#include "rt/heal_gate.h"
#include "rt/sys.h"

#include <linux/futex.h>
#include <time.h>

enum {
	LOOK_NS = 1000000,  /* between two looks at whom one waits for */
	GRACE_NS = 1000000, /* an access that has been let through has happened by then */
	NAP_NS = 50000,
	SPINS = 256,
	MOMENT_NS = 2000000, /* scheduling influence, and no more */
};

__thread struct heal_thread heal_self;
struct heal_settings heal_settings;
struct heal_use heal_use;
struct atomsan_heal_gate heal_locks[HEAL_LOCKS];
static struct atomsan_heal_variable *variables[HEAL_VARIABLES];
static uint32_t variable_count;

/* Each in a cache line of its own: the one is read at every entry, the other changes with every lock. */
static struct {
	const char *from, *to; /* the bytes of an access that is under way; from NULL: none */
	uint64_t reserved[6];
} told[HEAL_THREADS] __attribute__((aligned(64)));
static struct {
	uint32_t waits;    /* node + 1; 0: for nothing that is known here */
	uint32_t returned; /* from the hook: its access happens now */
	uint64_t reserved[7];
} threads[HEAL_THREADS] __attribute__((aligned(64)));
static uint32_t most_threads;

uint64_t heal_now(void)
{
	struct timespec now = {0, 0};

	sys2(clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void nap(void)
{
	struct timespec moment = {0, NAP_NS};

	sys2(nanosleep, &moment, NULL);
}

static bool conflicts(const struct atomsan_heal_gate *gate, const struct heal_wish *wish);
static bool is_over(uint32_t slot, uint64_t now, uint64_t *since);

/* ---- which is which ---- */

uint32_t heal_lock_node(const void *lock)
{
	return (uint32_t)(heal_lock_gate(lock) - heal_locks);
}

uint32_t heal_variable_node(struct atomsan_heal_variable *variable)
{
	uint64_t node = __atomic_load_n(&variable->node, __ATOMIC_ACQUIRE), none = 0;
	uint32_t at;

	if (heal_likely(node))
		return (uint32_t)node;
	at = __atomic_fetch_add(&variable_count, 1, __ATOMIC_RELAXED);
	/* The last one is everybody's who comes late. */
	if (at >= HEAL_VARIABLES - 1) {
		struct atomsan_heal_variable *nobody = NULL;

		at = HEAL_VARIABLES - 1;
		__atomic_compare_exchange_n(&variables[at], &nobody, variable, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE);
	} else {
		__atomic_store_n(&variables[at], variable, __ATOMIC_RELEASE);
	}
	if (__atomic_compare_exchange_n(&variable->node, &none, HEAL_LOCKS + at, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return HEAL_LOCKS + at;
	return (uint32_t)none; /* somebody was faster */
}

struct atomsan_heal_gate *heal_gate_of(uint32_t node)
{
	return node < HEAL_LOCKS ? &heal_locks[node] : &variables[node - HEAL_LOCKS]->gate;
}

static uint32_t slot_of(uint32_t thread)
{
	return thread % HEAL_THREADS;
}

void heal_waits(uint32_t node)
{
	if (heal_self.waits == node)
		return;
	heal_self.waits = node;
	__atomic_store_n(&threads[slot_of(heal_self.number)].waits, node, __ATOMIC_RELEASE);
}

void heal_returns(bool returned)
{
	uint32_t *mine = &threads[slot_of(heal_self.number)].returned;

	if (*mine != returned)
		__atomic_store_n(mine, returned, __ATOMIC_RELEASE);
}

bool heal_tell(uint32_t node, const struct heal_wish *wish)
{
	uint32_t slot = slot_of(heal_self.number), most = __atomic_load_n(&most_threads, __ATOMIC_RELAXED);
	const struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint32_t owner;

	while (heal_unlikely(slot >= most))
		__atomic_compare_exchange_n(&most_threads, &most, slot + 1, true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	__atomic_store_n(&told[slot].to, wish->to, __ATOMIC_RELAXED);
	/* Tell first, then look; in heal_let_through() it is the other way round, so one sees the other. */
	__atomic_exchange_n(&told[slot].from, wish->from, __ATOMIC_SEQ_CST);
	heal_self.told = true;
	owner = heal_owner(gate);
	if (heal_likely(!owner || owner == heal_self.number || !conflicts(gate, wish)))
		return true;
	heal_untell();
	return false;
}

void heal_untell(void)
{
	uint32_t slot = slot_of(heal_self.number);

	heal_self.told = false;
	__atomic_store_n(&told[slot].from, NULL, __ATOMIC_RELEASE);
	heal_wake_scheduled(&told[slot]);
}

void heal_let_through(const char *from, const char *to)
{
	uint32_t most = __atomic_load_n(&most_threads, __ATOMIC_RELAXED);
	uint64_t until = 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t slot = 0; slot < most; slot++) {
		uint64_t since = 0;
		bool late = false;

		for (unsigned round = 0; slot != slot_of(heal_self.number); round++) {
			const char *theirs = __atomic_load_n(&told[slot].from, __ATOMIC_ACQUIRE);
			uint64_t now;

			if (!theirs || (from && (theirs >= to || told[slot].to <= from)))
				break;
			/* Most are through in a moment. */
			if (round < SPINS) {
				__asm__ volatile("pause");
				continue;
			}
			now = heal_now();
			if (!until)
				until = now + heal_settings.timeout;
			if (is_over(slot, now, &since) || now >= until || late)
				break;
			if (!heal_wait_scheduled(&told[slot], until, &late))
				nap();
		}
	}
}

void heal_gate_stage(uint32_t node, enum heal_stage stage)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);

	if (heal_owner(gate) == heal_self.number)
		__atomic_store_n(&gate->stage, stage, __ATOMIC_RELEASE);
}

/* ---- waiting ---- */

/* For whom does somebody wait who waits for this? */
static uint32_t in_the_way(uint32_t node, uint32_t whose)
{
	const struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint32_t owner = heal_owner(gate), holder = __atomic_load_n(&gate->holder, __ATOMIC_RELAXED);

	return owner && owner != whose ? owner : holder != whose ? holder : 0;
}

/* Do those whom the thread would wait for here wait for it in turn? */
static bool in_a_circle(uint32_t node)
{
	uint32_t me = heal_self.number, other = in_the_way(node, me);

	for (unsigned steps = 0; other && steps < 64; steps++) {
		uint32_t waits;

		if (other == me)
			return true;
		waits = __atomic_load_n(&threads[slot_of(other)].waits, __ATOMIC_ACQUIRE);
		if (!waits)
			return false;
		other = in_the_way(waits - 1, other);
	}
	return false;
}

static bool conflicts(const struct atomsan_heal_gate *gate, const struct heal_wish *wish)
{
	const char *from = gate->from, *to = gate->to;

	if (!(wish->kinds & ~gate->allow))
		return false;
	return !from || !wish->from || (from < wish->to && wish->from < to);
}

static void count(struct atomsan_heal_section *section, enum atomsan_heal_counter counter, uint64_t amount)
{
	if (section)
		__atomic_fetch_add(&section->counter[counter], amount, __ATOMIC_RELAXED);
}

/* Somebody has been let make an access; it must have happened by now, but he has not been here since. */
static bool is_over(uint32_t slot, uint64_t now, uint64_t *since)
{
	if (!__atomic_load_n(&threads[slot].returned, __ATOMIC_ACQUIRE)) {
		*since = 0;
		return false;
	}
	if (!*since)
		*since = now;
	return now - *since > GRACE_NS;
}

static void sleep_at(struct atomsan_heal_gate *gate, uint32_t word)
{
	struct timespec most = {0, LOOK_NS};
	uint32_t waited = word | HEAL_WAITED;

	if (word == waited || __atomic_compare_exchange_n(&gate->word, &word, waited, false, __ATOMIC_ACQ_REL,
							  __ATOMIC_ACQUIRE))
		sys4(futex, &gate->word, FUTEX_WAIT_PRIVATE, waited, &most);
}

/* Scheduling influence: the others get a moment to come to their end. */
static void hold_up(struct atomsan_heal_gate *gate, uint32_t owner)
{
	uint64_t until = heal_now() + MOMENT_NS;
	bool late = false;

	while (heal_owner(gate) == owner && heal_now() < until && !late)
		if (!heal_wait_scheduled(gate, until, &late))
			nap();
}

static void own(struct atomsan_heal_gate *gate, const struct heal_wish *wish)
{
	gate->serial++;
	__atomic_fetch_add(&heal_use.closed, 1, __ATOMIC_RELAXED);
	gate->count = 1;
	gate->from = wish->from;
	gate->to = wish->to;
	gate->section = wish->section;
	gate->allow = wish->section->allow;
	gate->stage = HEAL_OWNED;
}

/* Blocked, for the first time: true if it may be waited for at all. */
static bool may_wait(struct atomsan_heal_gate *gate, uint32_t node, uint32_t owner,
		     const struct heal_wish *wish, struct atomsan_heal_section *blamed)
{
	if (!heal_order_forbids(node))
		return true;
	/* An entry elsewhere would only have stood in line. */
	if (!wish->section || conflicts(gate, wish)) {
		count(blamed, ATOMSAN_HEAL_SCHEDULED, 1);
		hold_up(gate, owner);
	}
	return false;
}

bool heal_gate_pass(uint32_t node, const struct heal_wish *wish)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	struct atomsan_heal_section *blamed = NULL;
	uint32_t me = heal_self.number;
	uint64_t began = 0, limit = heal_settings.timeout, since = 0, now;
	bool passed = false, late = false;
	unsigned rounds = 0, in_vain = 0;
	uint64_t serial = 0;

	for (;;) {
		uint32_t word = __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE);
		uint32_t owner = word & ~(uint32_t)HEAL_WAITED;

		if (owner == me) {
			gate->count += wish->section != NULL;
			passed = true;
			break;
		}
		if (!owner) {
			passed = !wish->section ||
				 __atomic_compare_exchange_n(&gate->word, &word, me | (word & HEAL_WAITED),
							     false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
			if (!passed)
				continue;
			if (wish->section)
				own(gate, wish);
			break;
		}
		/* Somebody else's section, and nothing to do with us. */
		if (!wish->section && !conflicts(gate, wish)) {
			passed = true;
			break;
		}
		now = rounds && rounds < SPINS ? began : heal_now();
		if (!began) {
			blamed = gate->section ? gate->section : wish->section;
			if (!may_wait(gate, node, owner, wish, blamed))
				return false;
			began = now;
			if (gate->section && gate->section->flags & ATOMSAN_HEAL_SCHEDULE)
				limit = MOMENT_NS;
			heal_lock_tell();
			heal_waits(node + 1);
		}
		/* Most sections are short. */
		if (rounds++ < SPINS && !heal_scheduled()) {
			__asm__ volatile("pause");
			continue;
		}
		if (in_a_circle(node)) {
			count(blamed, ATOMSAN_HEAL_SCHEDULED, 1);
			break;
		}
		if (gate->stage == HEAL_PASSING && is_over(slot_of(owner), now, &since)) {
			/* Broken open: its owner finds that out when it gives it back. */
			if (__atomic_compare_exchange_n(&gate->word, &word, 0, false, __ATOMIC_ACQ_REL,
							__ATOMIC_ACQUIRE))
				__atomic_fetch_sub(&heal_use.closed, 1, __ATOMIC_RELAXED);
			continue;
		}
		/* The scheduler has a time of its own. */
		if (late || (now - began >= limit && !heal_scheduled())) {
			if (gate->stage == HEAL_LINGERING && blamed)
				__atomic_fetch_add(&blamed->late, 1, __ATOMIC_RELAXED);
			count(blamed, limit == MOMENT_NS ? ATOMSAN_HEAL_SCHEDULED : ATOMSAN_HEAL_TIMEOUTS, 1);
			break;
		}
		if (!heal_wait_scheduled(gate, began + limit, &late))
			sleep_at(gate, word);
		/* Told to look again though nothing has changed, because nobody else can go on: so be it. */
		else if (__atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) == word && serial == gate->serial)
			late |= ++in_vain > 1;
		serial = gate->serial;
	}
	if (began) {
		heal_waits(0);
		count(blamed, ATOMSAN_HEAL_WAITED, heal_now() - began);
		if (passed)
			count(blamed, ATOMSAN_HEAL_HEALED, 1);
	}
	return passed;
}

void heal_gate_release(uint32_t node)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);

	/* It may have been broken open, and somebody else's by now. */
	if (heal_owner(gate) != heal_self.number || --gate->count)
		return;
	gate->from = gate->to = NULL;
	gate->section = NULL;
	gate->stage = HEAL_OWNED;
	__atomic_fetch_sub(&heal_use.closed, 1, __ATOMIC_RELAXED);
	/* pairs with the loads in heal_gate_pass() */
	if (__atomic_exchange_n(&gate->word, 0, __ATOMIC_ACQ_REL) & HEAL_WAITED)
		sys3(futex, &gate->word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
	heal_wake_scheduled(gate);
}

void heal_gate_drain(uint32_t node)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint64_t until = heal_now() + heal_settings.timeout;
	bool late = false;

	heal_lock_tell();
	heal_waits(node + 1);
	for (;;) {
		uint32_t holder = __atomic_load_n(&gate->holder, __ATOMIC_ACQUIRE);

		if ((!holder || holder == heal_self.number) &&
		    !__atomic_load_n(&gate->readers, __ATOMIC_ACQUIRE))
			break;
		if (heal_now() >= until || late || in_a_circle(node))
			break;
		if (!heal_wait_scheduled(gate, until, &late))
			nap();
	}
	heal_waits(0);
}

void heal_forget(void)
{
	struct heal_thread *me = &heal_self;

	for (uint32_t node = 0; node < HEAL_NODES; node++) {
		struct atomsan_heal_gate *gate;

		if (node >= HEAL_LOCKS && !variables[node - HEAL_LOCKS])
			break;
		gate = heal_gate_of(node);
		gate->word = gate->count = gate->holder = gate->readers = 0;
		gate->from = gate->to = NULL;
		gate->section = NULL;
	}
	for (uint32_t i = 0; i < me->held_count; i++)
		me->held[i].known = me->held[i].reserved = false;
	me->reserved = NULL;
	for (uint32_t slot = 0; slot < HEAL_THREADS; slot++)
		threads[slot].waits = 0, told[slot].from = NULL;
	heal_use.closed = 0;
	me->waits = 0;
	me->open_count = 0;
	me->pending = me->told = false;
}
