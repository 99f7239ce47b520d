/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the parts of watch.h saw, on its way to the user. With the option results
 * it goes to a file there, which the verbs make findings of; without, it is told
 * on standard error.
 *
 * The file is RESULTS/watched.PID, lines of fields that a tab separates (in a
 * field \t \n \\ stand for what they say), written whole records at a time:
 *
 *   watched 1                                             first line
 *   report KIND NUMBER                                    begins a record; race, ...
 *   access OP THREAD VARIABLE LENGTH FUNCTION FILE LINE COLUMN NOTE
 *   frame FUNCTION FILE LINE                              of the access, innermost first
 *   values BEFORE AFTER                                   hexadecimal
 *   fact NAME TEXT                                        whatever else the kind has to say
 *   end
 *   seen KIND NUMBER TIMES                                the last of several counts
 *   count NAME VALUE                                      of the whole run
 *
 * It is empty if there was no room for all of it.
 */
#ifndef ATOMSAN_RT_WATCH_REPORT_H
#define ATOMSAN_RT_WATCH_REPORT_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

enum { WATCH_REPORT_ACCESSES = 4, WATCH_REPORT_FRAMES = 16, WATCH_REPORT_FACTS = 6 };

struct watch_report_access {
	char op; /* R, W, U */
	const char *thread;
	const struct atomsan_site *site; /* NULL: a place that nobody knows */
	uint64_t address, length;
	const struct atomsan_function *const *frames; /* innermost first */
	uint32_t depth;
	const char *note; /* a clause, or "" */
};

struct watch_report {
	const char *kind;  /* as in the file */
	const char *title; /* "data race", for who reads it on standard error */
	uint64_t number;   /* the caller's, from 1, unique within its kind */
	struct watch_report_access accesses[WATCH_REPORT_ACCESSES];
	uint32_t access_count;
	bool has_values;
	uint64_t before, after;
	struct watch_report_fact {
		const char *name, *text;
	} facts[WATCH_REPORT_FACTS];
	uint32_t fact_count;
};

/* Somebody waits for results: let it be known that there is a runtime. */
void watch_report_start(void);
void watch_report(const struct watch_report *report);
/* How often it has been seen by now; for the file alone. */
void watch_report_seen(const char *kind, uint64_t number, uint64_t times);
void watch_report_count(const char *name, uint64_t value);
/* A forked child has a file of its own. */
void watch_report_fork_child(void);
extern uint32_t watch_report_total; /* how many were reported */

/* The variable at the address, as findings name it: "type.member", a global's name, or what the site knows;
 * returns false where nothing is known, `to` being "" then. */
bool watch_report_variable(char *to, uint64_t room, uint64_t address, const struct atomsan_site *site);

/* The calling thread's open functions, innermost first. Returns how many. */
uint32_t watch_report_stack(const struct atomsan_function **frames, uint32_t room);

/* A string of a table; "" where there is none. */
static inline const char *watch_report_text(const int32_t *field)
{
	return *field ? (const char *)field + *field : "";
}

#pragma GCC visibility pop

#endif
