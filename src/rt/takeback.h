/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Taking back what the calling thread wrote from rt_self.call.start on, in one
 * window or in several that it has held (unmet.h says when that may be).
 */
#ifndef ATOMSAN_RT_TAKEBACK_H
#define ATOMSAN_RT_TAKEBACK_H

#include "abi/live.h"
#include "rt/rt.h"

#pragma GCC visibility push(hidden)

enum { TAKEBACK_BLOCKS = 16 };

struct takeback {
	struct live_window *first, *last;
	uint64_t *start, *next;
	uint64_t length; /* bytes */
	int64_t locks;
	uint64_t objects; /* of locks that were taken, less those that were given back */
	bool stamped, taught;
	bool blocks;          /* memory came, or went */
	uint64_t events;      /* where they are counted (mark_calls) */
	uint64_t now;         /* the latest stamp in it so far; 0: none */
	uint64_t block_count; /* of times that memory came or went; if they are few, where */
	struct takeback_block {
		uint64_t *event, *past, stamp;
	} block[TAKEBACK_BLOCKS];
};

/*
 * Is there nothing in it that has to be known whoever was met? What it teaches is
 * counted as told, if it is not to go. Where windows are held, signals are blocked until
 * it is back: a handler would give the windows away.
 */
bool takeback_may(struct takeback *content) ATOMSAN_KEEPS_REGISTERS;
/* False: the checker, or a handler, came first. */
bool takeback(const struct takeback *content) ATOMSAN_KEEPS_REGISTERS;

#pragma GCC visibility pop

#endif
