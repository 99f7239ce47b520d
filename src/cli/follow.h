/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checker's process, which the runtime of a program starts; and what it leaves for `atomsan run`. */
#ifndef ATOMSAN_CLI_FOLLOW_H
#define ATOMSAN_CLI_FOLLOW_H

#include "cli/cli.h"

#include <stdint.h>
#include <sys/types.h>

/* Reads along until the program ends. The exit status. */
int follow(const struct verb *verb);

/* What checkers left in a folder. */
struct follow_results {
	uint32_t checked;  /* processes */
	uint32_t findings; /* of all of them */
	uint32_t failed;   /* checkers that ended before their work was done */
};
/* Is a checker of this process still at work? */
int follow_at_work(const char *folder, pid_t process);
void follow_results(const char *folder, struct follow_results *results);

#endif
