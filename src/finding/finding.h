/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A finding: one atomicity violation, from first suspicion to verified fix,
 * whichever part of atomsan speaks of it. The static side suspects it, a run
 * predicts or observes it, a forced schedule reproduces it, healing keeps it
 * from happening; all of them fill this structure, and the store and the
 * reports read nothing else.
 *
 * Its id is made of what survives recompilation and moved lines, and what all
 * sides can know: the functions of its units and the atomic sets that they are
 * units for. See fingerprint.c.
 *
 * Findings live in a list that owns every string and array in it. Strings may
 * hold any bytes; only the reports make them fit for what they write. NULL
 * stands for what is not known.
 */
#ifndef ATOMSAN_FINDING_FINDING_H
#define ATOMSAN_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text is the one in JSON. */
#define FINDING_KINDS(X)                      \
	X(ATOMICITY, "atomicity")             \
	X(RACE, "race")                       \
	X(HIGH_LEVEL_RACE, "high-level-race") \
	X(STALE_VALUE, "stale-value")         \
	X(DEADLOCK, "deadlock")

/* In the order of a finding's life; a later state outweighs an earlier one. */
#define FINDING_STATES(X)           \
	X(SUSPECTED, "suspected")   \
	X(PREDICTED, "predicted")   \
	X(OBSERVED, "observed")     \
	X(REPRODUCED, "reproduced") \
	X(HEALED, "healed")

/* What people said of it. */
#define FINDING_REVIEWS(X)            \
	X(NEW, "new")                 \
	X(CONFIRMED, "confirmed")     \
	X(FALSE_ALARM, "false-alarm") \
	X(INTENDED, "intended")       \
	X(FIXED, "fixed")

enum finding_kind {
#define X(name, text) FINDING_##name,
	FINDING_KINDS(X)
#undef X
		FINDING_KIND_COUNT
};

enum finding_state {
#define X(name, text) FINDING_##name,
	FINDING_STATES(X)
#undef X
		FINDING_STATE_COUNT
};

enum finding_review {
#define X(name, text) FINDING_##name,
	FINDING_REVIEWS(X)
#undef X
		FINDING_REVIEW_COUNT
};

struct finding_place {
	const char *function, *file;
	uint32_t line, column; /* 0: not known */
};

/* A block that had to be atomic. */
struct finding_unit {
	struct finding_place place; /* the function, or the loop, region or bracket in it */
	const char *thread;         /* "T1.2"; NULL for a static finding that names none */
	const char *set; /* the atomic set: a struct type, "globals of FILE", "block of FUNCTION" */
	const char *why; /* why it counts as a unit, a clause: "its first parameter is a struct account" */
};

#define FINDING_NO_UNIT UINT32_MAX
#define FINDING_NO_ACCESS UINT32_MAX

/* An access, at its place in the interleaving. */
struct finding_access {
	uint32_t unit; /* index of its unit, or FINDING_NO_UNIT */
	char op; /* 'R', 'W', 'U': read and write in one; 'L', 'A': lock taken, released; 'B': waited for for
		    ever */
	const char *thread;
	const char *
		variable; /* "account.balance", "counter", "block of make_buffer"; the lock's name for L, A */
	struct finding_place place;
	struct finding_place *stack; /* innermost first, place included; NULL if not known */
	uint32_t depth;
	const char **locks; /* held at the access */
	uint32_t lock_count;
	const char *value; /* read, or written; "1 to 2" of an update; NULL: not known */
	const char *note;  /* one clause: "reads the old balance", "makes it stale" */
};

/* A conflict between two units: the source came first. Along its edges a cycle closes. Where the order of
 * the program itself is the reason, there are no accesses, and both are FINDING_NO_ACCESS. */
struct finding_edge {
	uint32_t from, to;       /* units */
	uint32_t source, target; /* accesses */
};

/* Something that became of a finding, as the store remembers it. */
struct finding_event {
	const char *time;   /* "2026-03-01T12:30:00Z" */
	const char *what;   /* "state", "review" */
	const char *from;   /* NULL when it was found first */
	const char *to;     /* a state, or a review */
	const char *reason; /* why people said so; the verb that made it so */
};

/* Predicted schedules that were forced upon the program to show it. What could be followed and did not fail
 * was harmless. */
struct finding_forced {
	uint64_t schedules, infeasible, failed;
};

struct finding {
	char id[20]; /* "F-" and hexadecimal digits, see finding_identify */
	enum finding_kind kind;
	enum finding_state state;
	const char *pattern; /* "RWR", ..., "cycle" */
	double confidence;   /* 0..1 */
	const char *verb;    /* who says so: "check", "lint", ... */
	const char *title;   /* one line without a full stop: "transfer is not atomic over struct account" */
	const char *advice;  /* what would mend it, one sentence; NULL */
	const char **variables;
	uint32_t variable_count;
	struct finding_unit *units;
	uint32_t unit_count;
	struct finding_access *accesses; /* in the order of the interleaving */
	uint32_t access_count;
	struct finding_edge *edges;
	uint32_t edge_count;
	uint64_t seen;        /* how often in this run */
	const char *schedule; /* path of a schedule that shows it, or NULL */
	/* What the store adds. Without one: new, and 0 runs. */
	enum finding_review review;
	const char *reason;
	uint64_t runs; /* in how many runs it was found */
	const char *first_seen, *last_seen;
	const char *command;          /* the words of the run that its schedule is for, quoted for a shell */
	struct finding_forced forced; /* confidence is lower if none of them failed */
	struct finding_event *history;
	uint32_t history_count;
};

struct finding_count {
	const char *name; /* "events", "units" */
	double value;
};

/* The store counts these, of trials of FINDING_PREDICTED_STRATEGY, for the finding that they are meant to
 * show. */
#define FINDING_INFEASIBLE "not feasible"
#define FINDING_PREDICTED_STRATEGY "predicted"

/* A schedule or a strategy that was forced upon the program, and what came of it: failures / runs is its
 * P(failure). */
struct finding_trial {
	const char *schedule; /* path of the file that was played, or NULL */
	const char *strategy; /* "predicted", "random walk", "PCT depth 3" */
	const char *verdict;  /* "passed", "failed", "crashed", "deadlock", FINDING_INFEASIBLE */
	const char *finding;  /* id of the finding that it was meant to show, or NULL */
	uint64_t seed;
	uint64_t runs, failures;
};

/* A run of a verb, as the store remembers it. */
struct finding_run {
	const char *time, *verb, *program, *arguments, *build_id, *verdict;
	uint64_t seed, findings;
	double overhead; /* how many times slower than the plain program; 0: not known */
};

/* What one run of a verb has to say. */
struct finding_list {
	const char *program;
	const char **arguments; /* argv of the program, its name first */
	uint32_t argument_count;
	const char *build_id; /* hexadecimal */
	const char *verb;
	uint64_t seed;
	const char **blind_spots; /* sentences: what was not seen; printed first */
	uint32_t blind_spot_count;
	struct finding_count *counts;
	uint32_t count_count;
	struct finding *findings;
	uint32_t finding_count;
	struct finding_trial *trials;
	uint32_t trial_count;
	struct finding_run *runs; /* from a store: those that found what is here, the latest first */
	uint32_t run_count;
	struct finding_memory *memory;
};

struct finding_list *finding_list_new(const char *verb);
void finding_list_free(struct finding_list *list);

/* Zeroed memory, and copies of text, that live as long as the list. A text of NULL stays NULL. */
void *finding_memory(struct finding_list *list, size_t count, size_t size);
const char *finding_text(struct finding_list *list, const char *text);
const char *finding_textf(struct finding_list *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The arrays grow by these; the pointer is good until the next call for the same array. */
struct finding *finding_add(struct finding_list *list);
struct finding_unit *finding_add_unit(struct finding_list *list, struct finding *finding);
struct finding_access *finding_add_access(struct finding_list *list, struct finding *finding);
void finding_add_edge(struct finding_list *list, struct finding *finding, struct finding_edge edge);
/* Once per name. */
void finding_add_variable(struct finding_list *list, struct finding *finding, const char *name);
void finding_add_lock(struct finding_list *list, struct finding_access *access, const char *name);
void finding_add_frame(struct finding_list *list, struct finding_access *access, struct finding_place place);
void finding_add_blind_spot(struct finding_list *list, const char *sentence);
void finding_add_count(struct finding_list *list, const char *name, double value);
void finding_add_argument(struct finding_list *list, const char *argument);
/* Texts in the trial belong to the caller until here, and are copied. */
void finding_add_trial(struct finding_list *list, const struct finding_trial *trial);

/* Texts are copied here as well. */
void finding_add_run(struct finding_list *list, const struct finding_run *run);
void finding_add_event(struct finding_list *list, struct finding *finding, const struct finding_event *event);

/* Fills finding->id from its units (or, where it has none, its accesses) and kind. */
void finding_identify(struct finding *finding);
/* Gives an id to findings that have none, and makes those with the same id one: the latest state and its
 * interleaving, seen as often as all of them. */
void finding_list_merge(struct finding_list *list);
/* "F-" and 4 to 17 hexadecimal digits, in small letters. */
bool finding_id_is_valid(const char *id);

/* "5 schedules tried, 2 not feasible, 3 harmless"; NULL if none was. The caller frees it. */
char *finding_forced_text(const struct finding *finding);
/* "Atomicity violation", "Data race", ... */
const char *finding_kind_title(enum finding_kind kind);
/* The finding's title, or one made of what it is about; the caller frees it. */
char *finding_title(const struct finding *finding);

const char *finding_kind_text(enum finding_kind kind);
const char *finding_state_text(enum finding_state state);
const char *finding_review_text(enum finding_review review);
/* -1 if there is none of this name. */
int finding_kind_of(const char *text);
int finding_state_of(const char *text);
int finding_review_of(const char *text);

#endif
