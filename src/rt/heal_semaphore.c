/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A semaphore may be a lock, or a signal, and nothing tells which before it is
 * used. Nobody owns one, so who has to wait for the section with a semaphore in
 * hand, while the section's thread waits for that, is not seen to be in a circle.
 *
 * So units stand in line before they take one, as they do before their first lock
 * (heal_early.c). Where there is nothing to be had it is somebody else's turn:
 * who uses it as a lock is done in a moment, and for so long it is waited; then
 * the section is given up. Who had only stood in line, and got one while it did
 * not, gives it back and begins anew: nothing has happened yet.
 */
#include "rt/heal.h"
#include "rt/sys.h"

#include <errno.h>
#include <time.h>

enum {
	MOMENT = 2000000, /* ns, as long as others are held up where they must not wait */
	STEP = 20000,
	IN_VAIN = 16, /* times on end: it is a signal, or its holders take long */
};
static uint32_t in_vain;

static bool comes_soon(sem_t *semaphore, int (*attempt)(sem_t *))
{
	uint64_t begin = heal_now();
	int saved = errno;

	do {
		struct timespec step = {0, STEP};

		if (!attempt(semaphore)) {
			errno = saved;
			__atomic_store_n(&in_vain, 0, __ATOMIC_RELAXED);
			return true;
		}
		if (__atomic_load_n(&in_vain, __ATOMIC_RELAXED) >= IN_VAIN)
			break;
		sys2(nanosleep, &step, NULL);
	} while (heal_now() - begin < MOMENT);
	errno = saved;
	__atomic_fetch_add(&in_vain, 1, __ATOMIC_RELAXED);
	return false;
}

enum heal_semaphore heal_semaphore_before(sem_t *semaphore, int (*attempt)(sem_t *))
{
	struct heal_thread *me = &heal_self;
	bool early = true;
	int value;

	if (heal_use.whole)
		heal_early();
	if (!me->open_count)
		return HEAL_SEMAPHORE_WAIT;
	if (heal_scheduled()) {
		if (sem_getvalue(semaphore, &value) || value > 0)
			return HEAL_SEMAPHORE_WAIT;
	} else if (comes_soon(semaphore, attempt)) {
		return HEAL_SEMAPHORE_TAKEN;
	}
	for (uint32_t i = 0; i < me->open_count; i++)
		early &= me->open[i].stage == HEAL_EARLY;
	heal_give_up(true);
	return early && !heal_scheduled() ? HEAL_SEMAPHORE_AGAIN : HEAL_SEMAPHORE_WAIT;
}
