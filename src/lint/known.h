/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions outside the program whose meaning is known by their name. */
#ifndef ATOMSAN_LINT_KNOWN_H
#define ATOMSAN_LINT_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum known_kind {
	KNOWN_NONE,
	KNOWN_ALLOCATE,
	KNOWN_RESIZE, /* realloc */
	KNOWN_FREE,
	KNOWN_SAME, /* returns its first argument, or a pointer into it */
	KNOWN_MOVE,
	KNOWN_FILL,
	KNOWN_CREATE,      /* a thread */
	KNOWN_CREATE_CXX,  /* std::thread: the function is virtual, in the state */
	KNOWN_CREATE_TEAM, /* OpenMP */
	KNOWN_CREATE_TASK, /* OpenMP: returns what the function gets as its second argument */
	KNOWN_JOIN_TASKS,  /* that the same function made */
	KNOWN_BARRIER,     /* of the team */
	KNOWN_ONLY,        /* true in one thread of the team; b: always in the same one */
	KNOWN_ONLY_END,
	KNOWN_JOIN,
	KNOWN_ONCE, /* calls its argument */
	KNOWN_LOCK,
	KNOWN_LOCK_SHARED,
	KNOWN_TRY, /* b: what it returns if it got the lock */
	KNOWN_TRY_SHARED,
	KNOWN_UNLOCK,
	KNOWN_WAIT,     /* gives the lock back, and takes it again */
	KNOWN_WAIT_CXX, /* the argument is a guard that points to the lock */
	KNOWN_MEET,     /* waits until others have come as far */
	KNOWN_QUIET,    /* keeps no pointer, and nothing depends on what it does */
};

struct known {
	const char *name;
	uint8_t kind;
	/* CREATE: argument that is the function, its argument, the handle's place. JOIN: the handle.
	 * LOCK.., WAIT: the lock. ALLOCATE: not used. */
	int8_t a, b, c;
};

static inline bool known_makes_thread(const struct known *known)
{
	return known && known->kind >= KNOWN_CREATE && known->kind <= KNOWN_CREATE_TASK;
}

const struct known *known_find(const char *name); /* NULL if it means nothing */

#endif
