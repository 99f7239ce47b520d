/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Blocks that go from hand to hand by their address: one thread works on a
 * block, puts a pointer to it where others find it (a queue, say), and whoever finds the
 * pointer works on the block from then on. No lock is held over both, and
 * none is needed: who has not found the pointer yet does not know what to work
 * on. Where a trace has values that can be seen:
 *
 *   Thread T reads from a variable v a pointer into block B. Another thread's
 *   write w put it there, when v pointed elsewhere, and T has done nothing with
 *   B since before w. Then T's next use of B comes after w, and whoever makes
 *   v point elsewhere next does so after T's read.
 *
 * For else T would have read something else and used that. If another thread
 * passed the pointer on, T's use comes after whoever put it there first, too: who only
 * passes it on does not rely on it. Nothing follows
 * if T had another way to the block: if a variable that T read a pointer into B
 * from, before, held one all the time up to w; if between its last use and this one T read such a
 * pointer also from where it had been all the time; or if two threads put
 * pointers there. What T keeps where nobody else looks is not seen: it is taken to go by
 * what it read last. Pointers inside the block itself lead nowhere.
 */
#ifndef ATOMSAN_PREDICT_HANDOVER_H
#define ATOMSAN_PREDICT_HANDOVER_H

#include "predict/history.h"

struct handover;

struct handover_sink {
	void *user;
	/* One event must come before another, of another thread. */
	void (*edge)(void *user, uint32_t from, uint32_t to);
	/* The block was used after this read, which read what this write put there. */
	void (*found)(void *user, uint32_t block, uint32_t put, uint32_t read, uint32_t use);
};

/* NULL if the history has no pointers: then nothing else is to be called. */
struct handover *handover_new(const struct history *h, const struct handover_sink *sink);
void handover_free(struct handover *ho);

/* The access is next, in the order of the run: what comes before it is told of. */
void handover_access(struct handover *ho, uint32_t event);

#endif
