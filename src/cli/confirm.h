/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the code suggests, tried out: each finding of a list is a target for the
 * scheduler. One run of the program is recorded, one thread after the other, and
 * what it makes possible is predicted; schedules of predictions that are about
 * the finding are forced first, those with its id before those with its places
 * and those with its function. Then chance has its turn, with switches at the
 * finding's functions and at synchronisation alone.
 *
 * A finding is reproduced if a run fails *and* the violation happens in it: the
 * checker says so (a violation with the finding's id, or one that splits the
 * same function over the same atomic set), or the accesses that the finding
 * names came in its order (analysis/witness.h). Its schedule is made as short as
 * it can be while both hold.
 */
#ifndef ATOMSAN_CLI_CONFIRM_H
#define ATOMSAN_CLI_CONFIRM_H

#include "cli/target.h"
#include "finding/finding.h"

#include <stdio.h>

/* What came of a finding. */
struct confirmation {
	char id[20];
	const char *title;     /* of the list */
	const char *schedule;  /* that shows it, of the list; NULL: not reproduced */
	const char *failure;   /* "the program's exit status is 1"; of the list */
	uint64_t runs;         /* that were made for it */
	uint64_t happened;     /* of these: the violation was there, and nothing failed */
	uint64_t failed_other; /* of these: failed, and the violation was not there */
	bool reached;          /* some run came to all of its places */
};

struct confirm {
	struct target target;
	const char *budget, *seed, *folder, *spec; /* as given; NULL: the default */
	struct confirmation *found;
	uint32_t count;
	struct finding_list **lists; /* whose strings reproduced findings use */
	uint32_t list_count;
};

#define CONFIRM_OPTIONS(confirm)                                                        \
	{"--budget", &(confirm).budget, NULL}, {"--seed", &(confirm).seed, NULL},       \
		{"-o", &(confirm).folder, NULL}, {"--output", &(confirm).folder, NULL}, \
		TARGET_OPTIONS((confirm).target)

/* The target is set up. Changes the findings of the list, and adds a trial for each. -1 with err set if
 * nothing can be said of the program; needs to be released in either case, when the list is done with. */
int confirm_all(struct confirm *confirm, struct finding_list *list, struct err *err);
void confirm_print(const struct confirm *confirm, FILE *out);
void confirm_release(struct confirm *confirm);

#endif
