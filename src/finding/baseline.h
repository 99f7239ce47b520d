/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A baseline: the findings that a project knows of, so that only new ones fail
 * its CI. It is a text file, made to be committed and to merge well: one
 * finding a line, its id, a space, and words for people, in the order of ids.
 */
#ifndef ATOMSAN_FINDING_BASELINE_H
#define ATOMSAN_FINDING_BASELINE_H

#include "base/err.h"
#include "finding/finding.h"

struct baseline {
	struct baseline_entry {
		char id[20];
		char *words;
	} *entries; /* in the order of their ids */
	uint32_t count;
};

/* Also takes a document of findings (--json). Returns -1 with err set. */
int baseline_read(struct baseline *baseline, const char *path, struct err *err);
void baseline_release(struct baseline *baseline);
bool baseline_has(const struct baseline *baseline, const char *id);
/* Replaces the file, or leaves it as it was. */
int baseline_write(const struct finding_list *list, const char *path, struct err *err);

#endif
