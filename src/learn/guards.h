/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is kept whole already, by the program itself: the locks that all accesses
 * to a location are made under once a second thread has come to it (Eraser,
 * sections 2.1 to 2.3: reads under the lock in either way, writes under it
 * alone), for each block of memory from its allocation on; and the times when
 * there is one thread only.
 *
 * A trace goes through it twice. The first time it finds out, the second time it
 * can be asked whether a thread has been kept from others since it was somewhere
 * before: that takes a lock of the location that it has held all along.
 */
#ifndef ATOMSAN_LEARN_GUARDS_H
#define ATOMSAN_LEARN_GUARDS_H

#include "trace/cursor.h"

struct guards;

struct guards *guards_new(void);
void guards_free(struct guards *guards);

/* Locks, and threads that begin and end. */
void guards_op(struct guards *guards, const struct trace_event *event);
void guards_access(struct guards *guards, uint32_t thread, uint64_t address, uint64_t length, bool writes);
/* The bytes are something else from now on. */
void guards_forget(struct guards *guards, uint64_t address, uint64_t length);
/* The first time is over, and the same comes again. */
void guards_again(struct guards *guards);

/* Now, as guards_cover() takes it; never 0. */
uint64_t guards_now(const struct guards *guards);
/* Has the thread, since then, been the only one who could access the bytes? */
bool guards_cover(const struct guards *guards, uint32_t thread, uint64_t since, uint64_t address,
		  uint64_t length);

#endif
