/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What all reports share: how they shall look, and the questions that each of
 * them asks of a finding. A report function writes to a stream and reads
 * nothing but findings and source files; the caller looks at ferror() in the
 * end. Nothing in a finding is trusted: each format makes strings safe for
 * itself.
 */
#ifndef ATOMSAN_REPORT_REPORT_H
#define ATOMSAN_REPORT_REPORT_H

#include "finding/finding.h"

#include <stdio.h>

struct report_options {
	bool color;                    /* escape sequences of a terminal */
	unsigned width;                /* columns of text; 0: 100 */
	const char *strip_path_prefix; /* paths are shown from behind this part; NULL: whole */
	const char *source_root;       /* where relative paths are looked for as well; NULL */
	uint64_t suppressed; /* findings that were left out, for the sum: by suppressions or reviews, */
	uint64_t known;      /* and because a baseline has them */
	bool told;           /* findings were shown when they were found: only the rest is left */
};

/* The defaults for this stream: colours if it is a terminal and NO_COLOR is not set or is empty, and its
 * width. */
void report_options_init(struct report_options *options, FILE *out);

/* The columns of an interleaving, one for each thread, in the order in which they act. Accesses of a
 * finding that names no threads are told apart by their units. */
struct report_lanes {
	uint32_t count;
	char **names;      /* of each lane */
	uint32_t *of_step; /* lane of each access */
};

void report_lanes_init(struct report_lanes *lanes, const struct finding *finding);
void report_lanes_release(struct report_lanes *lanes);

/* The step (an access's index) that makes what this access read stale while its unit goes on, or
 * FINDING_NO_ACCESS. */
uint32_t report_stale_at(const struct finding *finding, uint32_t step);

/* "reads", "writes", "updates", "locks", "unlocks", "waits for". */
const char *report_op_text(char op);
/* Is it about a lock, and no access? */
bool report_op_is_lock(char op);
/* The path without the prefix that is to be left out; "" for NULL. */
const char *report_path(const struct report_options *options, const char *path);
/* What to type to see the finding again, quoted for a shell, or NULL; the caller frees it. */
char *report_replay(const struct finding_list *list, const struct finding *finding);
/* A source that was written after the finding was last seen, so that its lines may be others by now; NULL:
 * there is none, or it is not known. Begins with access `*from`, and leaves there where to go on. */
struct source_files;
const char *report_changed(struct source_files *files, const struct finding *finding, uint32_t *from);
/* "2 findings (1 observed, 1 suspected) in ./bank"; the caller frees it. */
char *report_sum(const struct finding_list *list, const struct report_options *options);

#endif
