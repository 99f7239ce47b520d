/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Creation and end of threads, as far as POSIX's and C11's forms share it. */
#ifndef ATOMSAN_RT_CREATE_H
#define ATOMSAN_RT_CREATE_H

#include "rt/scheduler.h"

#include <pthread.h>

/* What a new thread needs to know, until it has begun. */
struct hand_over {
	uint32_t taken;
	uint32_t number; /* RT_NO_THREAD: not to be recorded */
	uint32_t parent;
	struct watch_birth birth;
	void *(*start)(void *);   /* either this */
	int (*start_c11)(void *); /* or this */
	void *argument;
};

/* Records CREATE. NULL if there is no room, after waiting for it: EAGAIN. */
struct hand_over *create_prepare(void *argument, const struct atomsan_site *site);
/* The thread does not come to be. */
void create_failed(struct hand_over *slot, int error, const struct atomsan_site *site);
/* In the new thread: gives the slot back, records START, sees to the END. */
struct hand_over create_begin(struct hand_over *slot);
/* Makes sure that the calling thread, the first one too, gets its END. */
void create_leaving(void);
/* In a forked child, once its own number is known. */
void create_fork_child(void);

/* The number of a thread that has not been joined; waits until it has begun, at
 * most until `until` (NULL: ten seconds). RT_NO_THREAD if it is not recorded. */
uint32_t create_number(pthread_t thread, clockid_t clock, const struct timespec *until);

/* The value of `real`, a join of the thread with this number, once that need not wait; EXIT_PENDING
 * is nothing that a join returns. */
#define CREATE_JOIN(number, thread, site, deadline, real)                                                  \
	SCHED_WAIT(SCHED_WAIT_JOIN, sched_object(number), site, deadline,                                  \
		   sched_has_ended(number) || !create_waits(thread) ? (real) : EXIT_PENDING, EXIT_PENDING, \
		   real)
enum { EXIT_PENDING = -4711 };
/* False if libc is going to refuse to join the thread, which runs: it is detached, or the caller. */
bool create_waits(pthread_t thread);

#endif
