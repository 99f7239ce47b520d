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

#pragma GCC visibility push(hidden)

enum watch_part { WATCH_NOISE = 1, WATCH_RACE = 2, WATCH_SECTIONS = 4, WATCH_HEAL = 8 };
extern uint32_t rt_watching; /* enum watch_part, or'ed */

/* What an access does to its bytes. */
enum watch_kind { WATCH_READ = 1, WATCH_WRITE = 2 };

void watch_start(void); /* the options are read; the first thread is about to begin */
/* In the thread that begins; without a recording it is made to call hooks here. */
void watch_thread_begin(uint32_t number);
void watch_thread_end(void);
void watch_finish(void); /* the process ends */

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

#define WATCH_BEFORE(object, site)                                  \
	do {                                                        \
		if (unlikely(rt_watching))                          \
			watch_before((const void *)(object), site); \
	} while (0)

#pragma GCC visibility pop

#endif
