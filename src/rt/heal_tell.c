/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses outside of sections. Whoever makes one tells which bytes it is about,
 * looks at the variable's gate, and takes it back when the access has happened;
 * a section closes the gate, looks who has told, and lets those through. Each
 * writes first and looks then, so one of the two sees the other, if what was
 * written is there for all before the look.
 *
 * A fence on both sides sees to that, and costs each access more than the access
 * itself. There are far more of these than of entries, so the entry pays for
 * both where it can: membarrier() lets every processor that runs one of our
 * threads pass a fence, and then who has told is seen to have, and who has not
 * will see the gate. That is dear, so a gate that is closed too often for it is
 * `fenced`: accesses fence themselves.
 *
 *                 access                         section
 *   not fenced    tell; look at mode and word    close; membarrier; who told?
 *   fenced        the same; fence; look again    close (a locked operation); who told?
 *
 * The mode may change between the two at any time. To fenced: the owner changes
 * it and calls membarrier(); who looked before that has told before, for the
 * order of one thread's own doings is not in doubt, and is seen; who looks later
 * sees the new mode. To not fenced: a section that has not seen the change has
 * closed its gate before the change, so whoever sees the change sees the gate.
 * tests/unit/heal_model.c goes through all of it.
 */
#include "rt/heal_gate.h"
#include "rt/sys.h"
#include "rt/task.h"

#include <linux/membarrier.h>
#include <time.h>

enum {
	GRACE_NS = 1000000, /* an access that has been let through has happened by then */
	ACCESS_NS = 10000,  /* of them, that its thread must have run */
	NAP_NS = 50000,
	SPINS = 256,
	DEAR = 32,      /* barriers, before it is looked how fast they came */
	DEAR_US = 1000, /* more often than that is too often, */
	FENCES = 256,   /* unless accesses would have to fence so many times for each of them */
	FENCED = 1024,  /* entries, before it is looked whether that is so now */
};

/* Each in a cache line of its own, and read at every entry. */
static struct heal_told told[HEAL_THREADS];
static uint32_t most_threads;
static bool have_barrier;

uint64_t heal_now(void)
{
	struct timespec now = {0, 0};

	sys2(clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void heal_nap(void)
{
	struct timespec moment = {0, NAP_NS};

	sys2(nanosleep, &moment, NULL);
}

void heal_barrier_start(void)
{
	have_barrier = !sys2(membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
}

bool heal_barrier(void)
{
	return have_barrier && !sys2(membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
}

bool heal_has_barrier(void)
{
	return have_barrier;
}

void heal_thread_is(uint32_t number)
{
	uint32_t slot = heal_slot(number), most = __atomic_load_n(&most_threads, __ATOMIC_RELAXED);

	heal_self.number = number;
	heal_self.apart &= (uint8_t)~HEAL_NOT_MET;
	heal_self.mine = &told[slot];
	heal_self.mine->tid = (int)sys0(gettid);
	/* Who comes to an entry behind our first access sees that we are there: a locked operation, and every
	 * look at the slots has a fence or a barrier before it. */
	while (slot >= most && !__atomic_compare_exchange_n(&most_threads, &most, slot + 1, true,
							    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

int heal_tid_of(uint32_t owner)
{
	return __atomic_load_n(&told[heal_slot(owner)].tid, __ATOMIC_RELAXED);
}

void heal_returns(bool returned)
{
	struct heal_told *mine = heal_self.mine;

	if (mine && mine->returned != returned)
		__atomic_store_n(&mine->returned, returned, __ATOMIC_RELEASE);
}

/* Somebody has been let make an access; it must have happened by now, but he has not been here since. Not if
 * he has not had a processor: who does not sleep and has not run has the access before him. */
bool heal_is_over(uint32_t slot, uint64_t now, struct heal_wait *wait)
{
	int tid = __atomic_load_n(&told[slot].tid, __ATOMIC_RELAXED);

	if (!__atomic_load_n(&told[slot].returned, __ATOMIC_ACQUIRE)) {
		wait->since = 0;
		return false;
	}
	if (!wait->since) {
		wait->since = now;
		wait->ran = rt_task_ran(tid);
	}
	if (now - wait->since <= GRACE_NS)
		return false;
	return rt_task_ran(tid) - wait->ran >= ACCESS_NS || rt_task_asleep(tid);
}

bool heal_tell(uint32_t node, const struct heal_wish *wish)
{
	const struct atomsan_heal_gate *gate = heal_gate_of(node);
	uint32_t owner;

	if (heal_tell_fast(gate, wish->from, wish->to))
		return true;
	owner = heal_owner(gate);
	if (heal_likely(!owner || owner == heal_self.number || !heal_conflicts(gate, wish)))
		return true;
	heal_untell();
	return false;
}

void heal_untell(void)
{
	heal_self.told = false;
	__atomic_store_n(&heal_self.mine->from, NULL, __ATOMIC_RELEASE);
	heal_wake_scheduled(heal_self.mine);
}

/* How often all threads have told. It is not known of which variables, so accesses to other ones count as
 * well: that can only keep them from having to fence. */
static uint32_t all_told(void)
{
	uint32_t most = __atomic_load_n(&most_threads, __ATOMIC_RELAXED), sum = 0;

	for (uint32_t slot = 0; slot < most; slot++)
		sum += __atomic_load_n(&told[slot].times, __ATOMIC_RELAXED);
	return sum;
}

/*
 * The gate is ours, and nobody is asked to fence: then we see to it, and look what
 * that costs. A barrier costs as much as hundreds of fences, and the processors
 * that it interrupts as much again. So it is for sections that seldom come, and
 * for variables that are accessed outside of sections far more often than in them.
 */
static void pay(struct atomsan_heal_variable *variable)
{
	struct atomsan_heal_gate *gate = &variable->gate;
	bool fenced = heal_mode(gate->mode) == HEAL_FENCED;
	uint32_t most = fenced ? FENCED : DEAR;

	if (heal_unlikely(++variable->dear >= most || !variable->since)) {
		uint32_t now = (uint32_t)(heal_now() / 1000) | 1, times = all_told();
		bool known = variable->since;
		bool often = now - variable->since < most * DEAR_US && times - variable->told < most * FENCES;

		variable->dear = 0;
		variable->since = now;
		variable->told = times;
		if (known && often && !fenced)
			__atomic_store_n(&gate->mode, gate->mode & ~1u, __ATOMIC_RELEASE);
		else if (known && !often && fenced && have_barrier)
			__atomic_store_n(&gate->mode, gate->mode | 1, __ATOMIC_RELEASE);
	}
	/* As it was before: others may not have seen the change. */
	if (!fenced)
		heal_barrier();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void heal_let_through(struct atomsan_heal_variable *variable, const char *from, const char *to)
{
	uint32_t most, mine = heal_slot(heal_self.number);
	uint64_t until = 0;

	pay(variable);
	most = __atomic_load_n(&most_threads, __ATOMIC_RELAXED);
	for (uint32_t slot = 0; slot < most; slot++) {
		struct heal_wait wait = {0};
		bool late = false;

		for (unsigned round = 0; slot != mine; round++) {
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
			if (!wait.looked)
				wait.looked = now;
			if (!until)
				until = now + heal_settings.timeout;
			until += heal_stood_still(&wait, now);
			if (heal_is_over(slot, now, &wait) || now >= until || late)
				break;
			if (!heal_wait_scheduled(&told[slot], until, &late))
				heal_nap();
		}
	}
}

void heal_tell_forget(void)
{
	for (uint32_t slot = 0; slot < most_threads; slot++)
		told[slot].from = NULL, told[slot].returned = 0;
	if (heal_self.mine)
		heal_self.mine->tid = (int)sys0(gettid);
	/* The child is another process, and has to ask for itself. */
	if (have_barrier)
		heal_barrier_start();
}
