/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where findings live from one run to the next: a SQLite database,
 * .atomsan/findings.db beside the program. A run is added in one transaction,
 * so that whatever kills a writer leaves all of a run or nothing of it, and
 * several writers wait for each other.
 *
 * A finding is there once, by its id. Found again, it takes the later state of
 * the two and the better documented interleaving; what people said of it
 * stays, but for "fixed", which a new occurrence contradicts.
 *
 * Every failure is one sentence, and leaves the database as it was.
 */
#ifndef ATOMSAN_FINDING_STORE_H
#define ATOMSAN_FINDING_STORE_H

#include "base/err.h"
#include "finding/finding.h"

struct store;

enum store_mode {
	STORE_READ,  /* must exist */
	STORE_WRITE, /* is made, with its folder, if it does not exist */
};

/* NULL with err set. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *store);
/* Where the findings of this program go; NULL: of the current folder. The caller frees it. */
char *store_default_path(const char *program);

/* Adds a run and what it found. Fills in what the store knows of each finding: review, reason, runs,
 * first_seen, last_seen, history. Returns -1 with err set. */
int store_add(struct store *store, struct finding_list *list, struct err *err);

struct store_query {
	const char *id;    /* this one, or those whose id begins so; NULL: all */
	int kind, state;   /* -1: any */
	int review;        /* -1: any; STORE_OPEN: those that are neither fixed nor explained */
	const char *match; /* a pattern for the title, the function, the file; NULL: any */
	const char *sort;  /* "confidence", "state", "seen", "time", "id"; NULL: state, then confidence */
	uint64_t limit;    /* 0: none */
	bool brief;        /* id, kind, state, title, confidence, counts, first unit; no more */
};

#define STORE_QUERY_ALL ((struct store_query){.kind = -1, .state = -1, .review = -1})
#define STORE_OPEN (-2)

/* A new list with findings, trials and runs, or NULL with err set. */
struct finding_list *store_load(struct store *store, const struct store_query *query, struct err *err);

/* People have looked at it. -1 with err set; it is an error if there is no such finding. */
int store_review(struct store *store, const char *id, enum finding_review review, const char *reason,
		 struct err *err);

#endif
