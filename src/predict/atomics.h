/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What programs build out of atomic data. Its values are not known, but the run
 * shows how it is used.
 *
 * A lock: somebody reads and writes it in one (test-and-set, exchange, compare-
 * exchange) with acquire, and then stores with release; nobody else stores in
 * between, and what others exchange meanwhile fails. That is a spin lock
 * or a try-lock, and becomes a lock.
 *
 * A flag: it is set once, with release, by a store or by an exchange that
 * does not acquire. Who loads it
 * with acquire afterwards and goes on as the value says could not have gone on so
 * before. Who waits for it may say so in the same word (a bit, relaxed): that tells
 * nobody anything, and what was set goes on through it (a release sequence).
 */
#ifndef ATOMSAN_PREDICT_ATOMICS_H
#define ATOMSAN_PREDICT_ATOMICS_H

#include "predict/history.h"

/* Atomic data that is used as a lock becomes one. */
void atomics_as_locks(struct history *h);

/* By number of atomic data: is it a flag? The caller frees it. */
bool *atomics_find_flags(const struct history *h);

#endif
