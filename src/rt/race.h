/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Data races, found while they happen (AtomRace, section 3.1): an access inside
 * another thread's window around one access of its own, one of them a write.
 *
 * No synchronisation is modelled, and there are no false alarms: between a
 * window's opening and the access that it is for its thread does nothing, nor
 * does the other one between its hook and its access. So neither can have been
 * told of the other by any means, however the program synchronises.
 */
#ifndef ATOMSAN_RT_RACE_H
#define ATOMSAN_RT_RACE_H

#include "rt/watch.h"

#pragma GCC visibility push(hidden)

void race_start(void);
void race_creates(void); /* a thread is about to be created */
void race_thread_begin(void);
void race_thread_end(void);
void race_finish(void);
void race_fork_child(void);

/* Before an access: is it in somebody's window? Then opens its own, if a pause is asked for or it is time. */
void race_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site,
		 const struct watch_pause *pause);

/* sampler.c: a thread of the runtime's that lets threads open windows, one at a time. */
void sampler_start(void);
void sampler_add(void); /* the calling thread may be chosen */
void sampler_remove(void);
void sampler_fork_child(void);
uint32_t sampler_threads(void);

#pragma GCC visibility pop

#endif
