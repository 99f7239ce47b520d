/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a scheduled run leaves for whoever started it: a file that the tools
 * create, zeroed and of the size of struct sched_report, and that the runtime
 * maps shared. So it holds what happened up to the last event, however the
 * process ends. Only the first process that claims it is scheduled; a child or
 * an executed program runs freely.
 *
 * Text fields end with NUL. Threads stand in the order in which they were
 * created; entry 0 is T0.
 */
#ifndef ATOMSAN_ABI_SCHED_H
#define ATOMSAN_ABI_SCHED_H

#include <stdint.h>

#define SCHED_REPORT_VERSION 1
enum { SCHED_THREADS = 4096, SCHED_SWITCHES = 1 << 21 };

enum sched_state {
	SCHED_UNCLAIMED = 0,
	SCHED_RUNNING = 1,  /* scheduled up to the end of the process */
	SCHED_FREED = 2,    /* the schedule came to its end and let all threads go */
	SCHED_DEADLOCK = 3, /* nobody could go on */
	SCHED_REFUSED = 4,  /* the schedule could not be read; `message` says why */
};

/* Why a thread does not run. */
#define SCHED_WAITS(X)                                 \
	X(NONE, "nothing")                             \
	X(MUTEX, "a mutex")                            \
	X(RWLOCK, "a read-write lock")                 \
	X(SPIN, "a spin lock")                         \
	X(SEMAPHORE, "a semaphore")                    \
	X(CONDITION, "a condition variable")           \
	X(BARRIER, "a barrier")                        \
	X(ONCE, "an initialisation that runs once")    \
	X(JOIN, "the end")                             \
	X(KERNEL, "the kernel")                        \
	X(REPEATING, "a value that does not change")   \
	X(ENDED, "nothing, it has ended")              \
	X(UNBORN, "nothing, it was never created")     \
	X(GATE, "the end of another thread's section") \
	X(FUTEX, "a futex")

enum sched_wait {
#define X(name, text) SCHED_WAIT_##name,
	SCHED_WAITS(X)
#undef X
		SCHED_WAIT_COUNT
};

struct sched_report_thread {
	char name[256];  /* cut off beyond 240 characters */
	char where[128]; /* FUNCTION FILE:LINE of what it waits in; empty if not known */
	uint64_t events; /* counted, see docs/schedule-format.md */
	uint64_t points; /* of these, places at which a strategy may switch */
	uint64_t object; /* what it waits for */
	uint32_t waits;  /* enum sched_wait */
	uint32_t holder; /* thread + 1 that is known to hold the object; 0: not known */
	uint32_t ended;  /* bool */
	uint32_t reserved;
};

/* `thread` had the processor until it had done `events`, and then another got it. */
struct sched_switch {
	uint32_t thread;
	uint32_t forced; /* it could not have gone on */
	uint64_t events;
};

struct sched_report {
	uint32_t version;     /* the tools' */
	uint32_t state;       /* enum sched_state */
	uint32_t pid;         /* who is scheduled */
	uint32_t threads;     /* entries in use */
	uint32_t current;     /* who has the processor */
	uint32_t unscheduled; /* threads beyond SCHED_THREADS, which run as they like */
	uint64_t switches;    /* may exceed SCHED_SWITCHES: the rest is not there */
	uint64_t events, points;
	uint64_t steps;      /* of the schedule that were done */
	uint64_t taken_away; /* how often a thread was found blocked in the kernel without having said so */
	/* The first place at which the schedule could not be followed. */
	uint32_t diverged;    /* bool */
	uint32_t lost_thread; /* thread + 1; 0: not created, see lost_name */
	uint64_t lost_step;   /* number of the step, from 1 */
	uint64_t lost_events; /* how far the thread had come */
	uint64_t lost_wanted; /* how far it should have come */
	uint32_t lost_waits;  /* enum sched_wait */
	uint32_t reserved;
	uint64_t lost_object;
	char lost_name[256];
	char lost_where[128];
	char message[256]; /* why it was refused; which assertion failed */
	char stack[512];   /* of a crash: marked functions, innermost first */
	struct sched_report_thread thread[SCHED_THREADS];
	struct sched_switch log[SCHED_SWITCHES];
};

#endif
