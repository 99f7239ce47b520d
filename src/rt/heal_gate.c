/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gates. One is a word with its owner's number; whoever may not pass sleeps on
 * it. Which gate a lock has is by the lock's address alone, so two locks may
 * share one: then somebody waits who need not, and nothing else happens.
 *
 * A variable's gate that one thread has closed again and again, and nobody else
 * wanted, is kept: its owner does not open it at the end of a section, and is in
 * again by saying so. Whoever else comes, for whatever bytes and kind of access,
 * marks the word, lets all threads pass a fence (heal_tell.c), and looks whether
 * the owner has said so.
 *
 *   owner   inside = 1; word unmarked? then in      inside = 0; word marked? then open it
 *   other   mark the word; membarrier; inside? then wait, else open it
 *
 * Either the other one sees that the owner is inside, or the owner sees the mark,
 * for behind the barrier the owner's `inside` is there for all, or its look at the
 * word is yet to come. Who opens it counts that, in one step with the opening, so
 * that one who was held up behind his look does not open what has been opened and
 * closed since. All that the owner need know is that nobody has accessed
 * the variable since it let the last ones through, and those who would have are
 * those who mark.
 */
#include "rt/heal_gate.h"
#include "rt/heal_patience.h"
#include "rt/sys.h"
#include "rt/task.h"

#include <linux/futex.h>
#include <time.h>

enum {
	LOOK_NS = 1000000, /* between two looks at whom one waits for; the longer it waits, the longer */
	LOOK_LONGEST = 8,  /* times that: a hundred who wait must leave the owner time to get on */
	ASK_AGAIN = 8,     /* looks: who asks for a gate that is kept lets all pass a fence */
	SPINS = 256,
	KEEP_AFTER = 16,     /* times in a row that one thread closed it */
	WORTH = 64,          /* times that it must come again to pay for its barriers */
	REST = 1000,         /* times that it is not kept after it was not worth it */
	MOMENT_NS = 2000000, /* scheduling influence, and no more */
};

__thread struct heal_thread heal_self = {.apart = HEAL_NOT_MET};
struct heal_settings heal_settings;
struct heal_use heal_use;
struct atomsan_heal_gate heal_locks[HEAL_LOCKS];
static struct atomsan_heal_variable *variables[HEAL_VARIABLES];
static uint32_t variable_count;

/* Whether a thread is inside a section of a variable whose gate it has. Written by that thread alone. */
static uint8_t inside[HEAL_THREADS][HEAL_VARIABLES];

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
					__ATOMIC_ACQUIRE)) {
		/* A gate that is everybody's is none that others could be spared to look at. */
		if (heal_has_barrier() && variables[at] == variable && at < HEAL_VARIABLES - 1)
			__atomic_fetch_or(&variable->gate.mode, 1, __ATOMIC_RELEASE);
		return HEAL_LOCKS + at;
	}
	return (uint32_t)none; /* somebody was faster */
}

struct atomsan_heal_gate *heal_gate_of(uint32_t node)
{
	return node < HEAL_LOCKS ? &heal_locks[node] : &variables[node - HEAL_LOCKS]->gate;
}

struct atomsan_heal_variable *heal_variable_of(uint32_t node)
{
	return variables[node - HEAL_LOCKS];
}

void heal_gate_stage(uint32_t node, enum heal_stage stage)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);

	if (heal_owner(gate) == heal_self.number)
		__atomic_store_n(&gate->stage, stage, __ATOMIC_RELEASE);
}

/* ---- waiting ---- */

static void count(struct atomsan_heal_section *section, enum atomsan_heal_counter counter, uint64_t amount)
{
	if (section)
		__atomic_fetch_add(&section->counter[counter], amount, __ATOMIC_RELAXED);
}

static void sleep_at(struct atomsan_heal_gate *gate, uint32_t word, uint64_t looks)
{
	struct timespec most = {0, (long)(looks < LOOK_LONGEST ? looks : LOOK_LONGEST) * LOOK_NS};
	uint32_t waited = word | HEAL_WAITED;

	if (word == waited || __atomic_compare_exchange_n(&gate->word, &word, waited, false, __ATOMIC_ACQ_REL,
							  __ATOMIC_ACQUIRE))
		sys4(futex, &gate->word, FUTEX_WAIT_PRIVATE, waited, &most);
}

/* How long to wait for the section; the scheduler has a time of its own. */
static uint64_t patience_with(const struct atomsan_heal_section *section, uint64_t now)
{
	return heal_scheduled() ? heal_settings.timeout : heal_patience(section, heal_settings.timeout, now);
}

static void waited_in_vain(struct atomsan_heal_section *section, uint64_t since, uint64_t now)
{
	if (!heal_scheduled())
		heal_patience_lost(section, heal_settings.timeout, since, now);
}

/* Scheduling influence: the others get a moment to come to their end. */
static void hold_up(struct atomsan_heal_gate *gate, uint32_t owner, struct atomsan_heal_section *blamed)
{
	uint64_t began = heal_now(), most = patience_with(blamed, began), now = began;
	uint64_t until = began + (most < MOMENT_NS ? most : MOMENT_NS);
	bool late = false;

	count(blamed, most ? ATOMSAN_HEAL_SCHEDULED : ATOMSAN_HEAL_CUT_SHORT, 1);
	for (; heal_owner(gate) == owner && now < until && !late; now = heal_now())
		if (!heal_wait_scheduled(gate, until, &late))
			heal_nap();
	if (now >= until)
		waited_in_vain(blamed, began, now);
}

/* The owner would go on and is not let, by a machine that has other things to do; then the limit is none. Who
 * has run for long since we came may be one who spins until we have done something. */
static bool is_starved(uint32_t owner, uint64_t ran, uint64_t limit)
{
	int tid = heal_tid_of(owner);

	return tid && rt_task_ran(tid) - ran < limit / 2 && !rt_task_asleep(tid);
}

/* ---- keeping ---- */

static void say_inside(uint32_t node, bool is)
{
	if (node >= HEAL_LOCKS)
		__atomic_store_n(&inside[heal_slot(heal_self.number)][node - HEAL_LOCKS], is,
				 __ATOMIC_RELEASE);
}

/* Now that the gate is ours: shall it stay so? Nobody else writes here meanwhile. */
static void choose(struct atomsan_heal_variable *variable, bool early)
{
	uint32_t me = heal_self.number;

	if (variable->last != me)
		variable->again = 0;
	variable->last = me;
	variable->again++;
	if (heal_unlikely(variable->rest))
		variable->rest--;
	/* Not the gate that is everybody's. */
	variable->kept = !early && !variable->rest && variable->again > KEEP_AFTER && heal_settings.keeps &&
			 heal_has_barrier() && variable->node != HEAL_NODES - 1;
	if (variable->kept)
		variable->again = KEEP_AFTER;
}

/* Somebody else wanted it; was it worth keeping until now? */
static void stop_keeping(struct atomsan_heal_variable *variable)
{
	bool worth = variable->again >= KEEP_AFTER + WORTH;

	variable->in_vain = worth ? 0 : variable->in_vain < 10 ? variable->in_vain + 1 : 10;
	variable->rest = worth ? 0 : (uint32_t)REST << variable->in_vain;
	variable->again = 0;
	__atomic_store_n(&variable->kept, 0, __ATOMIC_RELAXED);
}

static void own(struct atomsan_heal_gate *gate, uint32_t node, const struct heal_wish *wish)
{
	bool kept = node >= HEAL_LOCKS && variables[node - HEAL_LOCKS]->kept;

	gate->serial++;
	gate->count = 1;
	/* One that is kept is closed to everybody, so that nobody is under way when its owner comes again. */
	gate->from = kept ? NULL : wish->from;
	gate->to = kept ? NULL : wish->to;
	gate->section = wish->section;
	gate->allow = kept ? 0 : wish->early ? ATOMSAN_HEAL_READ | ATOMSAN_HEAL_WRITE : wish->section->allow;
	gate->stage = wish->early ? HEAL_EARLY : HEAL_OWNED;
	if (node < HEAL_LOCKS)
		__atomic_fetch_add(&heal_use.closed, 1, __ATOMIC_RELAXED);
}

static uint64_t look_at(const struct atomsan_heal_gate *gate)
{
	return __atomic_load_n((const uint64_t *)&gate->word, __ATOMIC_ACQUIRE);
}

/* To all: it is open. False: it is not any more as it was `seen`, by look_at(). */
static bool open_as_seen(struct atomsan_heal_gate *gate, uint64_t seen)
{
	enum { COUNTED = 2 };
	uint64_t opened = (seen >> 32) + COUNTED;

	/* pairs with the loads in heal_gate_pass() */
	if (!__atomic_compare_exchange_n((uint64_t *)&gate->word, &seen, opened << 32, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	if ((uint32_t)seen & HEAL_WAITED)
		sys3(futex, &gate->word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
	heal_wake_scheduled(gate);
	return true;
}

/* Our own. False: somebody has opened it before. */
static bool open_gate(struct atomsan_heal_gate *gate)
{
	uint64_t seen;

	do {
		seen = look_at(gate);
		if (((uint32_t)seen & ~(uint32_t)HEAL_WAITED) != heal_self.number)
			return false;
	} while (!open_as_seen(gate, seen));
	return true;
}

bool heal_gate_again(uint32_t node, const struct heal_wish *wish)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	struct atomsan_heal_variable *variable = variables[node - HEAL_LOCKS];

	/* Inside of it already, it is taken once more as any other. */
	if (__atomic_load_n(&gate->word, __ATOMIC_RELAXED) != heal_self.number || gate->count)
		return false;
	say_inside(node, true);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (heal_unlikely(__atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) != heal_self.number)) {
		say_inside(node, false);
		return false;
	}
	variable->again++;
	own(gate, node, wish);
	return true;
}

/*
 * Is its owner elsewhere, having kept it? Then it is opened. True: look again.
 * Who has been asked opens it at the end of his section, so once is enough; but
 * the one who asked may have been stopped in between, so who has slept asks too.
 * What is not kept is opened without being asked.
 */
static bool ask_back(struct atomsan_heal_gate *gate, uint32_t node, uint32_t word, bool slept)
{
	uint32_t owner = word & ~(uint32_t)HEAL_WAITED, marked = owner | HEAL_WAITED;
	struct atomsan_heal_variable *variable;
	uint64_t seen;

	if (node < HEAL_LOCKS || !heal_settings.keeps)
		return false;
	variable = variables[node - HEAL_LOCKS];
	if ((!slept && word == marked) || !__atomic_load_n(&variable->kept, __ATOMIC_RELAXED))
		return false;
	if (word != marked && !__atomic_compare_exchange_n(&gate->word, &word, marked, false,
							   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return true;
	seen = look_at(gate);
	if ((uint32_t)seen != marked)
		return true;
	heal_barrier();
	if (__atomic_load_n(&inside[heal_slot(owner)][node - HEAL_LOCKS], __ATOMIC_ACQUIRE))
		return false;
	if (open_as_seen(gate, seen))
		stop_keeping(variable);
	return true;
}

void heal_gate_give_all(void)
{
	for (uint32_t at = 0; at < HEAL_VARIABLES && variables[at]; at++)
		if (heal_owner(&variables[at]->gate) == heal_self.number)
			open_gate(&variables[at]->gate);
}

/* ---- passing ---- */

/* True: it is ours now. */
static bool close_gate(struct atomsan_heal_gate *gate, uint32_t node, uint32_t word,
		       const struct heal_wish *wish)
{
	say_inside(node, true);
	if (!__atomic_compare_exchange_n(&gate->word, &word, heal_self.number | (word & HEAL_WAITED), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		say_inside(node, false);
		return false;
	}
	if (node >= HEAL_LOCKS)
		choose(variables[node - HEAL_LOCKS], wish->early);
	own(gate, node, wish);
	return true;
}

/* True: what must not be waited with is gone. Not while a section is being begun or ended: that one would be
 * moved among the open ones. */
static bool leave_line(const struct heal_wish *wish)
{
	return (!wish->section || wish->early) && heal_early_leave();
}

/* Blocked, for the first time: true if it may be waited for at all. */
static bool may_wait(struct atomsan_heal_gate *gate, uint32_t node, uint32_t owner,
		     const struct heal_wish *wish, struct atomsan_heal_section *blamed)
{
	if (!heal_order_forbids(node) || (leave_line(wish) && !heal_order_forbids(node)))
		return true;
	/* An entry elsewhere would only have stood in line. */
	if (!wish->section || heal_conflicts(gate, wish))
		hold_up(gate, owner, blamed);
	return false;
}

bool heal_gate_pass(uint32_t node, const struct heal_wish *wish)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	struct atomsan_heal_section *blamed = NULL;
	uint32_t me = heal_self.number;
	uint64_t began = 0, limit = heal_settings.timeout, now;
	struct heal_wait wait = {0};
	bool passed = false, late = false, asks;
	unsigned rounds = 0, in_vain = 0;
	uint64_t serial = 0, patience = 0, ran = 0;
	uint32_t served = 0;

	for (;;) {
		uint32_t word = __atomic_load_n(&gate->word, __ATOMIC_ACQUIRE);
		uint32_t owner = word & ~(uint32_t)HEAL_WAITED;

		if (owner == me) {
			/* Kept, and somebody else wants it, who is let have it first. */
			if (!gate->count && wish->section) {
				stop_keeping(variables[node - HEAL_LOCKS]);
				open_gate(gate);
				continue;
			}
			gate->count += wish->section != NULL;
			passed = true;
			break;
		}
		if (!owner) {
			passed = !wish->section || close_gate(gate, node, word, wish);
			if (!passed)
				continue;
			break;
		}
		/* Somebody else's section, and nothing to do with us. */
		if (!wish->section && !heal_conflicts(gate, wish)) {
			passed = true;
			break;
		}
		/* Who may not wait does not leave it to the one who has asked, either. */
		asks = rounds ? rounds > SPINS && !(rounds % ASK_AGAIN)
			      : word & HEAL_WAITED && heal_order_forbids(node);
		if (ask_back(gate, node, word, asks))
			continue;
		now = rounds && rounds < SPINS ? began : heal_now();
		if (!began) {
			blamed = gate->section ? gate->section : wish->section;
			if (!may_wait(gate, node, owner, wish, blamed))
				return false;
			began = patience = wait.looked = now;
			served = gate->serial;
			ran = rt_task_ran(heal_tid_of(owner));
			limit = patience_with(blamed, now);
			if (gate->section && gate->section->flags & ATOMSAN_HEAL_SCHEDULE &&
			    limit > MOMENT_NS)
				limit = MOMENT_NS;
			__atomic_fetch_add(&heal_use.closed, 1, __ATOMIC_RELAXED);
			heal_lock_tell();
			heal_waits(node + 1);
		}
		/* Most sections are short. */
		if (rounds++ < SPINS && !heal_scheduled()) {
			__asm__ volatile("pause");
			continue;
		}
		patience += heal_stood_still(&wait, now);
		if (heal_in_a_circle(node)) {
			if (leave_line(wish))
				continue;
			count(blamed, ATOMSAN_HEAL_SCHEDULED, 1);
			break;
		}
		if (gate->stage == HEAL_PASSING && heal_is_over(heal_slot(owner), now, &wait)) {
			/* Broken open: its owner finds that out when it gives it back. */
			if (__atomic_compare_exchange_n(&gate->word, &word, 0, false, __ATOMIC_ACQ_REL,
							__ATOMIC_ACQUIRE) &&
			    node < HEAL_LOCKS)
				__atomic_fetch_sub(&heal_use.closed, 1, __ATOMIC_RELAXED);
			continue;
		}
		/* While it goes from hand to hand, nobody in there waits for us. */
		if (served != gate->serial) {
			served = gate->serial;
			patience = now;
			ran = rt_task_ran(heal_tid_of(owner));
		}
		if (now - patience >= limit && limit != MOMENT_NS && is_starved(owner, ran, limit))
			patience = now;
		/* The scheduler has a time of its own. */
		if (late || (now - patience >= limit && !heal_scheduled())) {
			if ((gate->stage == HEAL_LINGERING || gate->stage == HEAL_EARLY) && blamed)
				__atomic_fetch_add(&blamed->late, 1, __ATOMIC_RELAXED);
			waited_in_vain(blamed, patience, now);
			count(blamed,
			      limit == MOMENT_NS              ? ATOMSAN_HEAL_SCHEDULED
			      : limit < heal_settings.timeout ? ATOMSAN_HEAL_CUT_SHORT
							      : ATOMSAN_HEAL_TIMEOUTS,
			      1);
			break;
		}
		if (!heal_wait_scheduled(gate, patience + limit, &late))
			sleep_at(gate, word, rounds > SPINS ? rounds - SPINS : 1);
		/* Told to look again though nothing has changed, because nobody else can go on: so be it. */
		else if (__atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) == word && serial == gate->serial)
			late |= ++in_vain > 1;
		serial = gate->serial;
	}
	if (began) {
		__atomic_fetch_sub(&heal_use.closed, 1, __ATOMIC_RELAXED);
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
	struct atomsan_heal_variable *variable = node < HEAL_LOCKS ? NULL : variables[node - HEAL_LOCKS];

	/* It may have been broken open, and somebody else's by now. */
	if (heal_unlikely(heal_owner(gate) != heal_self.number)) {
		say_inside(node, false);
		return;
	}
	if (--gate->count)
		return;
	gate->section = NULL;
	gate->stage = HEAL_OWNED;
	if (variable && variable->kept) {
		say_inside(node, false);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (heal_likely(__atomic_load_n(&gate->word, __ATOMIC_ACQUIRE) == heal_self.number))
			return;
		stop_keeping(variable);
	}
	gate->from = gate->to = NULL;
	say_inside(node, false);
	/* Not before it is open: who found that there are none, and took the lock, could not close its gate
	 * while it seems to be ours. */
	if (open_gate(gate) && !variable)
		__atomic_fetch_sub(&heal_use.closed, 1, __ATOMIC_RELEASE);
}

void heal_gate_drain(uint32_t node)
{
	struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint64_t began = heal_now(), until = began + patience_with(gate->section, began), now;
	struct heal_wait wait = {.looked = began};
	bool late = false;

	heal_lock_tell();
	heal_waits(node + 1);
	for (;;) {
		uint32_t holder = __atomic_load_n(&gate->holder, __ATOMIC_ACQUIRE);

		if ((!holder || holder == heal_self.number) &&
		    !__atomic_load_n(&gate->readers, __ATOMIC_ACQUIRE))
			break;
		now = heal_now();
		until += heal_stood_still(&wait, now);
		if (now >= until)
			waited_in_vain(gate->section, began, now);
		if (now >= until || late || heal_in_a_circle(node))
			break;
		if (!heal_wait_scheduled(gate, until, &late))
			heal_nap();
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
	heal_circle_forget();
	/* The others' are nobody's any more: their numbers are not given again. */
	for (uint32_t at = 0; at < HEAL_VARIABLES; at++)
		inside[heal_slot(me->number)][at] = 0;
	heal_tell_forget();
	heal_use.closed = 0;
	me->waits = 0;
	me->closed += me->open_count;
	me->open_count = 0;
	me->pending = me->told = false;
	/* What its parent did is its parent's to tell. */
	heal_count_forget();
}
