/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checker's process, which the runtime of a program starts; and what it leaves for `atomsan run`. */
#ifndef ATOMSAN_CLI_FOLLOW_H
#define ATOMSAN_CLI_FOLLOW_H

#include "cli/checking.h"
#include "cli/cost.h"
#include "cli/publish.h"

#include <stdint.h>
#include <sys/types.h>

#define FOLLOW_DOCUMENT ".json" /* ending of the file that a checker's JSON goes to */

/* How to check, and what to do with what is found. */
struct follow_options {
	struct checking checking;
	struct publish publish;
	struct cost cost;
};
/* Reads along until the program ends. The exit status. */
int follow(const struct verb *verb, struct follow_options *options);

/* What checkers left in a folder. */
struct follow_results {
	uint32_t checked;  /* processes */
	uint32_t findings; /* of these, with findings */
	uint32_t failed;   /* of these, not checked to the end */
};
/* Is a checker of this process still at work? */
int follow_at_work(const char *folder, pid_t process);
void follow_results(const char *folder, struct follow_results *results);

#endif
