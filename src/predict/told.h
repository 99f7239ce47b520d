/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who accesses a block that another thread allocated was told where it is. It was
 * told by something that the other did after allocating: a write that somebody
 * else read, or an operation that lets others go on (an unlock, a post, ...). And
 * it was listening when it was told: it read what another had written, or did an
 * operation that waits for others or looks at what they did (a lock, a wait, an atomic load,
 * ...), the last time before the access. So the first that can have said it comes
 * before the last that can have heard it, and what was done to the block before the one
 * comes before what is done to it after the other: filling it in, as a
 * rule, before using it.
 *
 * To read what nobody wrote, or the thread itself, is not listening, nor what another wrote before
 * it said something that the thread has heard: the other knew no more then. (Who takes a list, and goes
 * from node to node, heard of all of them when it took the list.) And where both hold the same
 * lock, all of one critical section comes before all of the other.
 *
 * This is said only of who took away what it read, by writing there in the same critical section. Who
 * only copied a pointer would, had it come earlier, have copied another and done the
 * same with that: to go by a copy that grew old is what is looked for.
 *
 * What came by a way that nobody sees (a pipe) may have been heard later than that. Where the run
 * shows it, because nothing was said yet when the thread listened last, only the access is
 * known to come later.
 */
#ifndef ATOMSAN_PREDICT_TOLD_H
#define ATOMSAN_PREDICT_TOLD_H

#include "predict/history.h"

/* Events of two threads: the first comes before the second. */
struct told_edge {
	uint32_t said, heard;
};

struct told {
	struct told_edge *edges; /* by `heard` */
	uint32_t count, room;
};

void told_find(struct told *t, const struct history *h);
void told_release(struct told *t);

#endif
