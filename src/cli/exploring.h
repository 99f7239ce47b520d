/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Failures that an exploration met, as findings. */
#ifndef ATOMSAN_CLI_EXPLORING_H
#define ATOMSAN_CLI_EXPLORING_H

#include "cli/checking.h"
#include "cli/target.h"
#include "finding/finding.h"
#include "predict/explore.h"

/*
 * Runs the failure's schedule once more, recorded, and adds what that run
 * violates, reproduced; or, where it violates nothing that the checker knows,
 * the accesses between which threads were switched. The schedule is written
 * to the folder under the finding's id. -1 with err set if it cannot be.
 */
int exploring_add(struct finding_list *list, const struct target *target, struct checking *checking,
		  const struct explore_failure *failure, const char *folder, struct err *err);

#endif
