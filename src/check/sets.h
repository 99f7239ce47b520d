/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic sets, and program order on them. A set is all but nothing to an
 * engine: locations lead from unit to unit, whatever set they are in. What is
 * kept per set is, for each thread, the units that its next unit there must
 * follow: its last one if that still matters, or several where sets were
 * merged since.
 *
 * Callers name a set by a handle, units by the set's number. Merging makes one
 * set the other's child, so open units find the merged set from either.
 */
#ifndef ATOMSAN_CHECK_SETS_H
#define ATOMSAN_CHECK_SETS_H

#include "check/state.h"

struct sets *sets_new(void);
void sets_free(struct sets *sets);

uint32_t sets_handle_new(struct sets *sets);
void sets_handle_free(struct sets *sets, uint32_t handle);
void sets_merge(struct sets *sets, uint32_t from, uint32_t to);

/* The set behind a handle. A unit that matters holds it, so that its number stays good. */
uint32_t sets_of(struct sets *sets, uint32_t handle);
void sets_hold(struct sets *sets, uint32_t set);
void sets_let_go(struct sets *sets, uint32_t set);
/* Does nobody hold it? */
bool sets_quiet(const struct sets *sets, uint32_t handle);

/*
 * The finished units that the thread's next unit on the set must follow: the
 * first entry, the next one of the same set and thread, the unit of one. 0 is
 * the end.
 */
uint32_t sets_last(struct sets *sets, uint32_t set, uint32_t thread);
uint32_t sets_last_next(struct sets *sets, uint32_t entry);
uint32_t sets_last_unit(struct sets *sets, uint32_t entry);
/* The entry's number; the set may have been merged since the unit began. */
uint32_t sets_last_add(struct sets *sets, uint32_t set, uint32_t thread, uint32_t unit);
void sets_last_remove(struct sets *sets, uint32_t entry);

#endif
