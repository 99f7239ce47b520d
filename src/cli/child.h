/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program that a verb runs, one at a time. Signals that would end the verb
 * go to the program, and the verb ends as the program did, so that whoever
 * waits for the one sees what he would have seen of the other.
 */
#ifndef ATOMSAN_CLI_CHILD_H
#define ATOMSAN_CLI_CHILD_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	char **argv;
	const char *options; /* its ATOMSAN_OPTIONS; NULL: the verb's own */
	const char *output;  /* file that its standard output goes to; NULL: the verb's own */
	const char *errors;  /* the same for standard error */
	bool to_stderr;      /* standard output is the verb's document */
	bool goes_with_us;   /* it is killed if the verb dies */
};

/*
 * From here on signals go to the program, also if there is none yet: for who has
 * something to tidy up before it ends. child_start() does it in any case.
 */
void child_expect_signals(void);

/* Its number, or -1 with err set: what cannot be executed is known here already. */
pid_t child_start(const struct child *child, struct err *err);
/* Fills in how it ended. With seconds, one that takes longer is killed. -1 with err set. */
int child_wait(uint32_t seconds, int *status, struct err *err);
/* The last signal that was passed on; 0: none. */
int child_signal(void);

/* The exit status that goes with how it ended; does not return if that was a signal which ends us, too. */
int child_end(int status);

#endif
