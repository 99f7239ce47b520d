/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Suppressions: findings that shall not be reported, one line each, with the
 * reason for it.
 *
 *   # a comment
 *   atomicity:transfer_*  # the audit at night repairs it
 *   race:file=third_party/[a-z]*.c until=2027-03-31  # upstream has a patch
 *   any:type=struct stats  # counters may be off by some
 *   id:F-74dbc92d1114  # deposit: tellers work on different accounts
 *
 * Before the colon stands a kind of finding, or "any"; behind it a pattern for
 * whole names, with * ? [ ] as in a shell, where * matches slashes as well.
 * Without a word in front the pattern may match whatever has a name: the
 * function or the file of any frame of any access or unit, an atomic set's
 * type, a variable, a lock. function=, file=, type=, variable= look at these
 * alone. A file's pattern matches the whole path or what follows any of its
 * slashes. A type is matched with and without its "struct ". "id:" names one
 * finding. After its last day, `until`, an entry suppresses nothing.
 */
#ifndef ATOMSAN_FINDING_SUPPRESS_H
#define ATOMSAN_FINDING_SUPPRESS_H

#include "base/err.h"
#include "finding/finding.h"

#include <stdio.h>
#include <time.h>

enum suppress_what {
	SUPPRESS_ANY,
	SUPPRESS_FUNCTION,
	SUPPRESS_FILE,
	SUPPRESS_TYPE,
	SUPPRESS_VARIABLE,
	SUPPRESS_ID
};

struct suppress_entry {
	const char *path; /* of the file that it stands in */
	unsigned line;
	int kind; /* enum finding_kind, or -1 for any */
	enum suppress_what what;
	char *pattern, *reason;
	char until[11]; /* "2027-03-31", or empty */
	bool expired;
	uint64_t matched;
};

struct suppress_list {
	struct suppress_entry *entries;
	unsigned count;
	char **texts; /* the files' contents and names, which entries point into */
	unsigned text_count;
};

/* Reads a file of suppressions, as of the day `now`. May be called for several. Returns -1 with err set. */
int suppress_read(struct suppress_list *list, const char *path, time_t now, struct err *err);
/* The same for a text that is already in memory. */
int suppress_parse(struct suppress_list *list, const char *text, const char *path, time_t now,
		   struct err *err);
void suppress_release(struct suppress_list *list);

/* The entry that suppresses the finding, counted as matched, or NULL. Every entry that matches counts. */
const struct suppress_entry *suppress_match(struct suppress_list *list, const struct finding *finding);
/* Takes what is suppressed out of the findings, and returns how many. */
uint32_t suppress_apply(struct suppress_list *list, struct finding_list *findings);
/* A sentence for each entry that is expired or has matched nothing. */
void suppress_report(const struct suppress_list *list, void (*say)(void *user, const char *sentence),
		     void *user);

/* The line for one finding; the caller frees it. `what` must be something that the finding has, else NULL
 * with err set. */
char *suppress_line(const struct finding *finding, enum suppress_what what, const char *reason,
		    const char *until, struct err *err);
/* -1 if there is none of this name: "function", "file", "type", "variable", "id". */
int suppress_what_of(const char *text);
/* Whether this is a day, as in 2027-03-31. */
bool suppress_is_day(const char *text);

#endif
