/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A run from inside, for the files that start it (run.c) and judge it (judge.c). */
#ifndef ATOMSAN_PREDICT_RUN_INSIDE_H
#define ATOMSAN_PREDICT_RUN_INSIDE_H

#include "predict/run.h"

#include <sys/types.h>

struct run {
	struct run_setup setup;
	pid_t pid;
	int pid_fd;
	int report_fd, file_fd, output_fd, trace_fd;
	char trace_path[64];
	int error_fd; /* what went wrong before the program began */
	struct sched_report *report;
	double began;
	bool over, timed_out, stuck;
	int status;
};

double run_now(void); /* seconds */

#endif
