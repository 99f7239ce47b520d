/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Futexes that the program itself waits on, by libc's syscall(): locks of its own
 * making, and std::atomic's wait with all that the C++ library builds on it
 * (latches, barriers, semaphores). What they order is seen in the atomic
 * operations around them, so nothing is recorded here. But who waits lets others
 * work: the scheduler passes the token on, and healing gives sections up if it takes more than a moment.
 *
 * A futex may wake somebody for no reason, and its users look again. So under the
 * scheduler whoever waits for the word is let look again by each wake, however few it asks for.
 */
#include "rt/heal.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

static bool waits(int command)
{
	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

static uint64_t deadline_of(int operation, const struct timespec *time)
{
	uint64_t span;

	if (!time)
		return 0;
	if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		return sched_deadline(operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC,
				      time);
	span = (uint64_t)time->tv_sec * 1000000000ull + (uint64_t)time->tv_nsec;
	return span ? sched_now() + span : 1;
}

/* 0, an errno, or -1: it is the kernel's to wait. */
static int scheduled_wait(struct sched_thread *me, const uint32_t *word, int operation, uint32_t value,
			  const struct timespec *time)
{
	uint64_t deadline = deadline_of(operation, time);

	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
		return EAGAIN;
	for (;;) {
		me->signalled = 0;
		switch (sched_block(me, SCHED_WAIT_FUTEX, word, me->last_site, deadline)) {
		case SCHED_LATE:
			return ETIMEDOUT;
		case SCHED_CANCELLED:
			return EINTR;
		case SCHED_FREE:
			return -1;
		case SCHED_AGAIN:
			/* All are let look again where nobody can go on; that is no wake. But who is not
			 * scheduled wakes in the kernel, where nobody waits. */
			if (me->signalled || sched.foreign || sched.forked ||
			    __atomic_load_n(word, __ATOMIC_SEQ_CST) != value)
				return 0;
		}
	}
}

/* Moments that were not enough may be so many more than those that were, and then there are no more. */
enum { VAIN = 8, MOMENT = 25 /* milliseconds, if heal_timeout is as long as it mostly is */ };
static int vain;

/*
 * Who waits in a section mostly waits for a lock of the program's own, which is
 * free again in a moment; if it were given up, whoever stands at its gate would
 * break it. So a part of the time that others wait for a section at most it is kept. It
 * may be one of these that is to wake us, and nobody can see that: then it is given up,
 * and as other wakes may have come meanwhile this is one, for no reason. False: it is not worth trying.
 */
static bool momentary_wait(uint32_t *word, int operation, uint32_t value, uint32_t bits, long *result)
{
	uint64_t part = (uint64_t)rt_options.heal_timeout * 1000000 / 4, moment = MOMENT * 1000000ull;
	uint64_t until = sched_now() + (part < moment ? part : moment);
	struct timespec most = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
	int private = operation & FUTEX_PRIVATE_FLAG;

	if (__atomic_load_n(&vain, __ATOMIC_RELAXED) > VAIN)
		return false;
	*result = REAL(syscall)(SYS_futex, word, FUTEX_WAIT_BITSET | private, value, &most, NULL,
				(operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET ? bits
										  : FUTEX_BITSET_MATCH_ANY);
	if (*result && errno == ETIMEDOUT) {
		__atomic_fetch_add(&vain, 1, __ATOMIC_RELAXED);
		heal_on_wait(NULL);
		*result = 0;
	} else if (__atomic_load_n(&vain, __ATOMIC_RELAXED) > 0) {
		__atomic_fetch_sub(&vain, 1, __ATOMIC_RELAXED);
	}
	return true;
}

INTERPOSER long syscall(long number, ...)
{
	struct sched_thread *me;
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	me = number == SYS_futex ? sched_me() : NULL;
	if (likely(number != SYS_futex || (!me && !heal_on)))
		return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	int operation = (int)a[1], command = operation & FUTEX_CMD_MASK;
	uint32_t *word = (uint32_t *)a[0];

	if (waits(command) && unlikely(heal_on) && (heal_self.open_count || heal_self.pending) &&
	    __atomic_load_n(word, __ATOMIC_SEQ_CST) == (uint32_t)a[2]) {
		long result;

		/* Of a section that is over nothing is to be kept; and who has a limit of its own, and asks
		 * whether that is over, is not woken for no reason. */
		if (!me && !heal_self.pending && !a[3] &&
		    momentary_wait(word, operation, (uint32_t)a[2], (uint32_t)a[5], &result))
			return result;
		heal_on_wait(NULL);
	}
	if (me && waits(command) && !(operation & FUTEX_PRIVATE_FLAG) && sched.shares) {
		/* Another process may be the one to wake us. (The C++ library never says that it is not.) */
		sched_away(me, me->last_site);
		long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);

		sched_back(me);
		return result;
	}
	if (me && waits(command)) {
		int error =
			scheduled_wait(me, word, operation, (uint32_t)a[2], (const struct timespec *)a[3]);

		if (!error)
			return 0;
		if (error > 0) {
			errno = error;
			return -1;
		}
	}
	/* Who was away when all were still free, or is not scheduled, waits in the kernel. */
	uint32_t woken = me && (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) ? sched_wake(word) : 0;
	long result = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	if (result >= 0 && woken)
		result = result + woken < a[2] ? result + woken : a[2];
	return result;
}
