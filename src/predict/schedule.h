/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A schedule: which thread runs how far before which other one runs, for one
 * program with its arguments. As a file it is a text that a person can read and
 * change; docs/schedule-format.md describes it. How far is said in events of
 * the thread, see predict/count.h:
 *
 *	struct schedule *s = schedule_of_trace(trace);
 *	struct count *c = count_new(trace);
 *	... n = count_event(c, &e) for every event of the trace; then, for each turn:
 *	schedule_add(s, trace_thread_name(trace, e.thread), n, note);
 *
 * which lets the thread run until e is done. It stops before whatever it does
 * next.
 */
#ifndef ATOMSAN_PREDICT_SCHEDULE_H
#define ATOMSAN_PREDICT_SCHEDULE_H

#include "trace/reader.h"

#include <stdio.h>

#define SCHEDULE_VERSION 1

/* What becomes of the threads when all steps are done. */
enum schedule_end {
	SCHEDULE_SERIAL, /* one at a time still, whoever runs until it waits: the same run every time */
	SCHEDULE_FREE,   /* all run as they like */
};

struct schedule_step {
	char *thread;    /* "T0", "T1.2" */
	uint64_t events; /* that it has done when it stops */
	char *note;      /* for people; NULL */
};

struct schedule {
	char *program;
	char **arguments; /* after the program's name */
	uint32_t argument_count;
	char **environment; /* NAME=VALUE, what may change the run */
	uint32_t environment_count;
	char *build_id; /* hexadecimal; NULL: not known */
	uint64_t seed;  /* of the run that it was made from; 0: none */
	char *strategy; /* that found it; NULL */
	char *verdict;  /* what came of it, for people; NULL */
	bool every;     /* every access is an event, not only the first of its kind in a stretch */
	enum schedule_end end;
	uint32_t strayed; /* a predicted one: see stray.h; not written */
	uint32_t sort;    /* the same, and the next: see rank.h */
	uint8_t weight, moved;
	char *first; /* SCHEDULE_SERIAL: this thread goes on whenever it can; NULL: whoever runs */
	struct schedule_step *steps;
	uint32_t step_count;
	uint32_t step_room;
};

struct schedule *schedule_new(void);
struct schedule *schedule_copy(const struct schedule *schedule);
void schedule_free(struct schedule *schedule);

/* Program, arguments, environment, build-id and the way of counting of a recorded run; no steps. */
struct schedule *schedule_of_trace(const struct trace *trace);

void schedule_set_program(struct schedule *schedule, const char *program, char *const *arguments,
			  uint32_t count);
/* Takes from these variables (NAME=VALUE, NULL at the end) those that may change a run. */
void schedule_set_environment(struct schedule *schedule, char *const *variables);
/* One more, whatever it is. */
void schedule_add_environment(struct schedule *schedule, const char *variable);

/* The thread runs until it has done this many events. Steps of one thread in a row become one. */
void schedule_add(struct schedule *schedule, const char *thread, uint64_t events, const char *note);
void schedule_clear(struct schedule *schedule); /* no steps */
/* The same for two schedules of one program that do the same. */
uint64_t schedule_hash(const struct schedule *schedule);
/* One step more: for what depends on the first steps alone. */
uint64_t schedule_hash_step(uint64_t before, const char *thread, uint64_t events);

/* NULL with err set if it cannot be read or is no schedule. */
struct schedule *schedule_read(const char *path, struct err *err);
struct schedule *schedule_parse(const char *text, size_t length, const char *path, struct err *err);
/* Over an old file of this name, or not at all. -1 with err set. */
int schedule_write(const struct schedule *schedule, const char *path, struct err *err);
void schedule_print(const struct schedule *schedule, FILE *file);
/* Into whatever is there under this name. */
int schedule_put(const struct schedule *schedule, const char *path, struct err *err);

#endif
