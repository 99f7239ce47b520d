/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For the programs of this folder. NAME tells the runner which address an
 * object has; steps bring the threads into a known order through pipes, which
 * the runtime does not record as synchronisation, so that the trace has
 * nothing but the primitive under test.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without stdio's buffers, which would allocate, and be lost at a sudden end. */
#define NAME_AT(name, address)                                                                    \
	do {                                                                                      \
		char line_[64];                                                                   \
		int length_ = snprintf(line_, sizeof(line_), "%s %p\n", name, (void *)(address)); \
                                                                                                  \
		MUST(write(1, line_, (size_t)length_) == length_);                                \
	} while (0)
#define NAME(object) NAME_AT(#object, &(object))

/* The program's own view of what a call returned; wrong means that the test is void. */
#define MUST(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

enum { STEPS = 16 };
static int steps[STEPS][2];

__attribute__((constructor)) static void make_steps(void)
{
	for (int i = 0; i < STEPS; i++)
		MUST(pipe(steps[i]) == 0);
}

static inline void reach(int step)
{
	MUST(write(steps[step][1], "", 1) == 1);
}

static inline void wait_for(int step)
{
	char byte;

	MUST(read(steps[step][0], &byte, 1) == 1);
}

#endif
