/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A wait for a condition ends with its mutex, and libc takes that past any gate.
 * Somebody may have a section on it: then the mutex is given back, as if the
 * wait had lasted so much longer.
 */
#include "rt/heal.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <errno.h>

static void lock_again(pthread_mutex_t *mutex)
{
	struct sched_thread *me = sched_me();

	while (me && REAL(pthread_mutex_trylock)(mutex) == EBUSY)
		if (sched_block(me, SCHED_WAIT_MUTEX, mutex, me->last_site, 0) == SCHED_FREE)
			me = NULL;
	if (!me)
		REAL(pthread_mutex_lock)(mutex);
}

void heal_on_waited(pthread_mutex_t *mutex)
{
	if (!heal_looks())
		return;
	/* Only a plain mutex: others know their owner, who may have died. */
	while (heal_lock_barred(mutex) && !(mutex->__data.__kind & ~3)) {
		if (REAL(pthread_mutex_unlock)(mutex))
			break;
		heal_wake_scheduled(mutex);
		heal_lock_before(mutex);
		lock_again(mutex);
	}
	heal_lock_taken(mutex, false);
}
