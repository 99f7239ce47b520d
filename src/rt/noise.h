/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Noise: threads pause at accesses and before operations, so that interleavings
 * which hardly ever happen come up (AtomRace, section 3.3: random, by variable,
 * by program place). Whether a thread's nth event is struck follows from the
 * seed, the thread's name and n, so a run's decisions can be made again. Whether
 * the pause is made also depends on the budget, which goes by the clock.
 */
#ifndef ATOMSAN_RT_NOISE_H
#define ATOMSAN_RT_NOISE_H

#include "rt/watch.h"

#pragma GCC visibility push(hidden)

void noise_start(void);
void noise_thread_begin(void);
void noise_thread_end(void);
void noise_finish(void);

/* Counts the event, and says which pause is due, if any. */
void noise_access(const void *p, uint64_t length, const struct atomsan_site *site, struct watch_pause *pause);
void noise_pause(const struct watch_pause *pause);

/* The seed of the nth child of a thread with this seed; (0, 0) is the first thread. */
uint64_t noise_seed(uint64_t parent, uint32_t nth);
uint64_t noise_mix(uint64_t x);
uint64_t noise_now(void); /* nanoseconds that only go up */

#pragma GCC visibility pop

#endif
