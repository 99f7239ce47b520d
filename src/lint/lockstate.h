/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is held at a point of a function. Everything in a state is in order, so
 * that equal states look the same: they are compared as bytes.
 */
#ifndef ATOMSAN_LINT_LOCKSTATE_H
#define ATOMSAN_LINT_LOCKSTATE_H

#include "lint/lint.h"

/* ---- lock.c ---- */

/* The lock that a call takes, gives back or waits with; 0 if it is not known. */
uint32_t lock_of(struct lint *lint, uint32_t inst, const struct known *known);
/* A lock on the stack or in memory that never leaves its thread excludes nobody. */
void lock_find_private(struct lint *lint);

/* ---- lockstate.c ---- */

struct held *lockstate_find(struct lock_state *s, uint32_t lock);
void lockstate_hold(struct lock_state *s, uint32_t lock, bool shared, uint32_t region);
void lockstate_drop(struct lock_state *s, struct held *h);
bool lockstate_gave_up(const struct lock_state *s, uint32_t lock);
void lockstate_give_up(struct lock_state *s, uint32_t lock);
void lockstate_add_maybe(struct lock_state *s, struct maybe maybe);
void lockstate_drop_maybe(struct lock_state *s, uint32_t number);
/* What holds on both ways. */
void lockstate_meet(struct lock_state *into, const struct lock_state *from);
/* The number of a state; equal states have one. */
uint32_t lockstate_intern(struct lint *lint, const struct lock_state *s);

/* ---- lockstep.c ---- */

/* The region that begins at an instruction. */
uint32_t lockstep_region(struct lint *lint, uint32_t inst, uint32_t lock, bool shared, bool after_wait);
void lockstep(struct lint *lint, struct lock_state *s, uint32_t inst);
/* Along an edge of the block that the instruction ends. */
void lockstep_edge(struct lint *lint, struct lock_state *s, uint32_t end, uint32_t edge);
/* Locks of the caller that a call gives up for a while, at most STATE_LOCKS; how many. */
uint32_t lockstep_broken_by(const struct lint *lint, uint32_t inst, uint32_t *locks);

#endif
