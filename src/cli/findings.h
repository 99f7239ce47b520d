/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the verbs that look into the store share. */
#ifndef ATOMSAN_CLI_FINDINGS_H
#define ATOMSAN_CLI_FINDINGS_H

#include "cli/cli.h"
#include "finding/store.h"

/* The store of --db, or of the current folder. NULL after a sentence was printed. */
struct store *findings_open(const struct verb *verb, const char *db, enum store_mode mode);

/* The one finding whose id this is or begins so ("F-" may be left out), in a list of its own. NULL after a
 * sentence was printed. */
struct finding_list *findings_one(const struct verb *verb, struct store *store, const char *word);

/* The filters of list and report. */
struct findings_filter {
	const char *kind, *state, *review, *match, *sort, *limit;
	int all;
};

#define FINDINGS_FILTER_OPTIONS(filter)                                                   \
	{"--kind", &(filter).kind, NULL}, {"--state", &(filter).state, NULL},             \
		{"--review", &(filter).review, NULL}, {"--match", &(filter).match, NULL}, \
		{"--sort", &(filter).sort, NULL}, {"--limit", &(filter).limit, NULL},     \
	{                                                                                 \
		"--all", NULL, &(filter).all                                              \
	}

#define FINDINGS_FILTER_HELP                                                           \
	"  --kind=KIND      atomicity, race, high-level-race, stale-value, deadlock\n" \
	"  --state=STATE    suspected, predicted, observed, reproduced, healed\n"      \
	"  --review=REVIEW  new, confirmed, false-alarm, intended, fixed\n"            \
	"  --match=PATTERN  whose title, function or file matches, with * and ?\n"     \
	"  --sort=BY        state (the default), confidence, seen, time, id\n"         \
	"  --limit=N        the first N\n"                                             \
	"  --all            also what is fixed, intended or a false alarm\n"

/* -1 after a sentence was printed. */
int findings_query(const struct verb *verb, const struct findings_filter *filter, struct store_query *query);

#endif
