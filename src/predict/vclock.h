/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Vector clocks of what must come before what in every execution of the same
 * events, whatever the order of the rest. PENELOPE draws them from thread
 * creation and barriers alone (section 4.2.1); order.c knows more edges.
 *
 * A clock has, for each thread, a limit: how far that thread must have come.
 * Clocks change only at the few events that edges lead to, so a thread has a
 * list of versions, and a version that several threads share is kept once.
 */
#ifndef ATOMSAN_PREDICT_VCLOCK_H
#define ATOMSAN_PREDICT_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct vclock_version {
	uint32_t event;  /* from this event on, itself included */
	uint32_t length; /* threads beyond have limit 0 */
	const uint32_t *limits;
};

struct vclock_thread {
	struct vclock_version *versions;
	uint32_t count, room;
};

struct vclock_chunk;

struct vclock {
	struct vclock_thread *threads;
	uint32_t thread_count;
	struct vclock_chunk *chunks;
	uint64_t memory;  /* bytes of versions */
	uint64_t dropped; /* edges left out for lack of memory, which costs sharpness alone */
};

/* A clock that is being put together. */
struct vclock_sum {
	uint32_t *limits;
	uint32_t length, room;
	const uint32_t *shared; /* the same as a version, once it was used as one */
};

void vclock_init(struct vclock *v, uint32_t threads);
void vclock_release(struct vclock *v);

/* How far `other` must have come before `thread` can have come to the limit. */
uint32_t vclock_needs(const struct vclock *v, uint32_t thread, uint32_t limit, uint32_t other);

/* The first event of the thread that `other` must have come to the limit `need` for; UINT32_MAX: none. */
uint32_t vclock_first(const struct vclock *v, uint32_t thread, uint32_t other, uint32_t need);

/* All edges must be added in the order of the events that they lead to. */
void vclock_edge(struct vclock *v, uint32_t from, uint32_t from_event, uint32_t to, uint32_t to_event);

/* For edges from many to many: the sum of the sources, then each target. */
void vclock_sum_add(const struct vclock *v, struct vclock_sum *sum, uint32_t from, uint32_t from_event);
void vclock_sum_use(struct vclock *v, struct vclock_sum *sum, uint32_t to, uint32_t to_event);
void vclock_sum_release(struct vclock_sum *sum);

#endif
