/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the runtime saw while it watched a program, as findings. The runtime
 * leaves a file for each process in the folder that the option results names
 * (rt/watch_report.h describes it); this reads them.
 */
#ifndef ATOMSAN_CLI_WATCHED_H
#define ATOMSAN_CLI_WATCHED_H

#include "base/err.h"
#include "finding/finding.h"

/* A record of the file, in pieces of the text that is read. */
struct watched_access {
	char op;
	const char *thread, *variable;
	uint64_t length;
	struct finding_place place; /* "" where it is not known */
	const char *note;
	struct finding_place frames[16];
	uint32_t depth;
};
enum { WATCHED_ACCESSES = 4, WATCHED_FACTS = 8 };
struct watched_record {
	const char *kind;
	uint64_t number;
	struct watched_access accesses[WATCHED_ACCESSES];
	uint32_t access_count;
	bool has_values;
	uint64_t before, after;
	struct {
		const char *name, *text;
	} facts[WATCHED_FACTS];
	uint32_t fact_count;
};

struct watched_count {
	const char *name;
	double value;
};

/* What the runs so far have left. */
struct watched {
	struct finding_list *list; /* findings are added here; the caller's */
	const char *verb;
	uint32_t processes; /* that left a file */
	struct watched_count *counts;
	uint32_t count_count;
	/* Of the last watched_read(). */
	uint64_t times;     /* how often something was seen */
	uint32_t variables; /* different ones */
	uint32_t findings;  /* records */
};

/* A kind of record each: fills in the finding; false if the record cannot be what it says. */
bool watched_section(struct watched *watched, struct finding *finding, struct watched_record *record);

/* Reads all files of the folder. -1 with err set if one is damaged. */
int watched_read(struct watched *watched, const char *folder, struct err *err);
/* The same of one file's text, which is changed. */
int watched_parse(struct watched *watched, char *text, struct err *err);
/* The sum of all counts of this name. */
double watched_count(const struct watched *watched, const char *name);
void watched_release(struct watched *watched);

#endif
