/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What running a program under atomsan costs, beside what it costs alone. The
 * user says the latter (--plain-seconds), for atomsan has no plain build of
 * the program to run.
 */
#ifndef ATOMSAN_CLI_COST_H
#define ATOMSAN_CLI_COST_H

#include "base/err.h"
#include "finding/finding.h"

struct cost {
	const char *text; /* as it was given; NULL: it was not */
	double plain;     /* CPU seconds of one run of the plain program; 0: not known */
};

#define COST_OPTION(cost) {"--plain-seconds", &(cost).text, NULL}

#define COST_HELP                                                                                     \
	"  --plain-seconds=S        CPU time of the program built without atomsan: the overhead is\n" \
	"                           counted\n"

/* From the text. -1 with err set. */
int cost_read(struct cost *cost, struct err *err);
/* CPU seconds of this process, or of those that it has started and that are over. */
double cost_own(void);
double cost_children(void);
/* The list's counts: "program CPU seconds" of all runs, "checker CPU seconds" if there is a checker, and
 * "overhead" of a run if the plain program's time is known. */
void cost_count(const struct cost *cost, struct finding_list *list, double program, double checker,
		uint64_t runs);

#endif
