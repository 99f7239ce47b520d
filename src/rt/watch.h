/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is done at accesses and operations beside recording them. Each part
 * looks at the program as it runs, and some hold its threads up for a while:
 *
 *   noise     lets a thread pause, so that rare interleavings become frequent
 *   race      finds accesses inside another thread's one-access window
 *   sections  finds accesses inside another thread's atomic section
 *   heal      keeps others out of a section that must not be broken
 *
 * Nothing here is reached while none of them is on: rt_watching is 0 then, and
 * that is all that hooks and interposers look at. They work with a trace being
 * written, with the scheduler, and with neither.
 */
#ifndef ATOMSAN_RT_WATCH_H
#define ATOMSAN_RT_WATCH_H

#include "rt/rt.h"
#include "rt/watchpoint.h"

#pragma GCC visibility push(hidden)

enum watch_part { WATCH_NOISE = 1, WATCH_RACE = 2, WATCH_SECTIONS = 4, WATCH_HEAL = 8 };
extern uint32_t rt_watching; /* enum watch_part, or'ed */

/* What an access does to its bytes. */
enum watch_kind { WATCH_READ = WATCHPOINT_READ, WATCH_WRITE = WATCHPOINT_WRITE };

/* What a new thread is given by its creator: names follow from who created whom, in which order. */
struct watch_birth {
	char name[48]; /* as the tools name threads: T0, T1, T1.2 */
	uint64_t seed; /* of its decisions, from the run's seed and its name */
};

/* What a thread has here. */
struct watch_thread {
	struct watch_birth birth;
	uint32_t children;
	/* Accesses and operations so far: what is decided by chance depends on their number alone. */
	uint64_t events;
	/* noise */
	uint64_t begun, paused; /* nanoseconds */
	uint64_t decisions, strikes, digest;
	/* race */
	uint32_t windows; /* that it has opened by itself */
	uint32_t skip;    /* accesses to let pass before */
	uint32_t streams; /* in a call that takes a stream's lock before it accesses what it tells of */
	/* the update under way, between its hooks */
	const void *update;
	const struct atomsan_site *update_site;
};
extern __thread struct watch_thread watch_self __attribute__((tls_model("local-exec")));

void watch_start(void); /* the options are read; the first thread is about to begin */
/* By who creates a thread; in the new one, before it begins. */
void watch_created(struct watch_birth *birth);
void watch_born(const struct watch_birth *birth);
/* In the thread that begins; without a recording it is made to call hooks here. */
void watch_thread_begin(uint32_t number);
void watch_thread_end(void);
/* The process ends; the status to end with instead of this one. */
int watch_finish(int status);
void watch_fork_child(void); /* before its thread begins anew */
/* A module is registered that was not there at the start. */
void watch_module(const struct atomsan_site *sites, uint64_t count, uint64_t first,
		  const struct atomsan_function *functions, uint64_t function_count);

/* Before an access, and before the write of an update. */
void watch_access(const void *p, uint64_t length, unsigned kinds,
		  const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void watch_store(const void *p) ATOMSAN_KEEPS_REGISTERS;
/* Around an atomic operation; `wrote` is false for a load and for an exchange that failed. */
void watch_atomic(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void watch_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;

/* Before an operation that may have to wait, or that finds what others left. */
void watch_before(const void *object, const struct atomsan_site *site);
/* Where the operation is recorded: see TRACE_OPS for whether that is before or after it took effect. */
void watch_op(enum trace_op op, const void *object, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;

/* True where somebody looks at each access. With race alone that is so only while something is being
 * watched, or the thread is to watch something. */
static inline __attribute__((always_inline)) bool watch_wanted(void)
{
	return unlikely(rt_watching) && (rt_watching != WATCH_RACE || watchpoint_active ||
					 __atomsan_thread.segment != WATCHPOINT_CLEAR);
}

/* The same of accesses to these bytes, as inlined code asks it. */
static inline __attribute__((always_inline)) bool watch_wanted_at(const void *p, uint64_t length)
{
	return unlikely(rt_watching) &&
	       (rt_watching != WATCH_RACE || __atomsan_thread.segment != WATCHPOINT_CLEAR ||
		(watchpoint_active && watchpoint_near((uint64_t)p, length)));
}

/* True where the program's thread is known, and recorded or watched. */
static inline bool rt_met(void)
{
	return (rt_recording || rt_watching) && rt_self.number != RT_NO_THREAD && !rt_self.inside;
}

/* True where what it accesses is of interest to anybody. */
static inline bool watch_or_record(void)
{
	return rt_on() || (watch_wanted() && rt_self.number != RT_NO_THREAD && !rt_self.inside);
}

/* A pause that a part asks for, to be made when all have looked at the access. */
enum watch_pause_kind { WATCH_NO_PAUSE, WATCH_SLEEP, WATCH_YIELD, WATCH_BUSY };
struct watch_pause {
	enum watch_pause_kind kind;
	uint32_t microseconds;
};

#define WATCH_BEFORE(object, site)                                  \
	do {                                                        \
		if (unlikely(rt_watching))                          \
			watch_before((const void *)(object), site); \
	} while (0)

#pragma GCC visibility pop

#endif
