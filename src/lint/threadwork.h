/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What thread.c and threadlife.c share while threads are found.
 */
#ifndef ATOMSAN_LINT_THREADWORK_H
#define ATOMSAN_LINT_THREADWORK_H

#include "lint/lint.h"

struct thread_site {
	uint32_t inst;
	uint64_t threads; /* created here, or gone from here on */
	uint64_t behind;  /* gone where the loop is left */
	struct shape_cell handle;
};

struct thread_build {
	struct lint *lint;
	VEC(struct thread_site) creates;
	VEC(struct thread_site) joins;
	uint32_t *site_of; /* by instruction: place in creates + 1, or in joins + 1 */
	uint64_t *gone;    /* by function: threads that it surely waits for */
	uint64_t *born;    /* by function: threads that may run on when it returns */
};

/* What a handle holds, which is copied along when a handle is. */
struct shape_cell thread_handle(struct lint *lint, const struct program_inst *inst,
				const struct known *known);

/* Which threads run at the same time, and where: parallel, several and alive of each. */
void threadlife_find(struct thread_build *b);

#endif
