/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a run means: atomic sets, units of work, locations, locks and calling
 * contexts, found in a stream of events (Marathon, section 4.1; the rules for C
 * are in docs/units.md). The model is fed event by event, from a trace or while
 * the program runs, and hands on to a sink what it made of them: who accesses
 * which location in which unit of work of which atomic set.
 *
 * Sets, units and locations are named by handles that the sink gives out, so a
 * checking engine (check/engine.h) can be the sink as it is.
 */
#ifndef ATOMSAN_MODEL_MODEL_H
#define ATOMSAN_MODEL_MODEL_H

#include "trace/cursor.h"

#include <stdio.h>

struct spec;

enum model_sets {
	MODEL_SETS_OBJECTS, /* per struct instance, per file's variables, per block */
	MODEL_SETS_ONE,     /* everything is one set: conflict serializability */
};

enum model_units {
	MODEL_UNITS_FUNCTIONS,
	MODEL_UNITS_SECTIONS, /* from taking the first lock to giving up the last */
	MODEL_UNITS_LOOPS,    /* iterations of loops */
	MODEL_UNITS_DECLARED, /* what the program or a spec file declares, and nothing else */
};

struct model_options {
	enum model_sets sets;
	enum model_units units;
	bool keep_units_at_waits; /* switches the splitting rule off */
	bool keep_loop_units;     /* switches off that iterations of a synchronising loop are the units */
	bool atomics;             /* atomic and volatile data belongs to the sets, too */
	const struct spec *spec;  /* the user's word; NULL: none */
	/* Where it says, a bit for each function's number, whose outermost calls are one unit with all that
	 * is called in them, as far as it has seen. NULL: nobody asks. */
	uint64_t *entire;
	uint64_t entire_count; /* of functions that there is room for */
};

/* Why something is a unit. */
#define MODEL_RULES(X)                                                                               \
	X(NONE, "a single access outside any unit")                                                  \
	X(RECEIVER, "its first pointer to a struct leads to the accessed object")                    \
	X(HOLDER, "its first pointer to a struct leads to what holds the accessed object")           \
	X(ARGUMENT, "it works on two objects of this type, of which the accessed one is the second") \
	X(FILE, "it belongs to the file whose variables are accessed")                               \
	X(DIRECT, "it accesses the object itself")                                                   \
	X(CALLS, "it holds a lock over several calls of functions on the object")                    \
	X(LOOP, "it is one iteration of a loop that synchronises")                                   \
	X(SECTION, "it is a critical section")                                                       \
	X(DECLARED, "it is declared as a unit")                                                      \
	X(UNITFOR, "it is declared as a unit for this type")

enum model_rule {
#define X(name, text) MODEL_RULE_##name,
	MODEL_RULES(X)
#undef X
};

struct model_unit {
	uint32_t thread;  /* index in the trace */
	uint32_t context; /* calling context, its function or loop innermost */
	uint32_t rule;    /* enum model_rule */
	uint32_t set;     /* the sink's handle */
	uint64_t begin;   /* number of the event with which it began */
};

/* READ_AGAIN: an iteration of a loop reads what it has read before. CLAIM: a write of what the same critical
 * section has read, as whoever takes a thing marks it as taken. */
enum model_op { MODEL_READ, MODEL_WRITE, MODEL_UPDATE, MODEL_READ_AGAIN, MODEL_CLAIM };

/* In a site's number: it says what was accessed, and not where; that was somewhere in the context. */
#define MODEL_SOMEWHERE 0x80000000u

struct model_access {
	uint32_t site;
	uint32_t context;
	uint32_t locks; /* see model_locks */
	uint32_t op;    /* enum model_op: the whole access, of which this may be one half */
	uint64_t time;  /* number of the event */
	uint64_t address;
};

#define MODEL_NO_UNIT UINT32_MAX

struct model_sink {
	void *user;
	uint32_t (*set_new)(void *user);
	/* The units and locations of `from` are from now on those of `to`. No thread has units open on both.
	 */
	void (*set_merge)(void *user, uint32_t from, uint32_t to);
	void (*set_free)(void *user, uint32_t set);
	/* Is it all the same whether the sink hears of a unit on this set, unless another unit of the set is
	 * open at the same time? Then it is told only of those. NULL: it hears of all units and locations. */
	bool (*set_quiet)(void *user, uint32_t set);
	uint32_t (*unit_begin)(void *user, const struct model_unit *unit);
	void (*unit_end)(void *user, uint32_t unit);
	/* If the unit ended now, might what it accessed still matter? Asked where set_quiet is. */
	bool (*unit_matters)(void *user, uint32_t unit);
	/* A name of the unit that no other will have, and whether what it accessed still matters, be it that
	 * it has ended. As long as it does, accesses of the unit may be told. */
	uint64_t (*unit_reference)(void *user, uint32_t unit);
	bool (*unit_there)(void *user, uint64_t reference);
	/* Two open units of one call turn out to be for the same set: from now on both are `to`. NULL: `from`
	 * is ended instead. */
	void (*unit_merge)(void *user, uint32_t from, uint32_t to);
	uint32_t (*location_new)(void *user);
	uint32_t (*location_split)(void *user, uint32_t location);
	void (*location_free)(void *user, uint32_t location);
	/* Is it as good as a new one? Asked where set_quiet is. */
	bool (*location_idle)(void *user, uint32_t location);
	void (*read)(void *user, uint32_t unit, uint32_t location, const struct model_access *access);
	void (*write)(void *user, uint32_t unit, uint32_t location, const struct model_access *access);
	/* Outside any unit. */
	void (*unary_read)(void *user, const struct model_unit *unit, uint32_t location,
			   const struct model_access *access);
	void (*unary_write)(void *user, const struct model_unit *unit, uint32_t location,
			    const struct model_access *access);
	/* Goes on when an access was the end of an edge, as far as that will ever be asked for. Asked where
	 * set_quiet is. */
	uint64_t (*news)(void *user);
	/* The location will be accessed soon; may be NULL. */
	void (*prefetch)(void *user, uint32_t location);
	/* Every synchronisation operation, after the model has looked at it; may be NULL. */
	void (*op)(void *user, const struct trace_event *event, uint64_t time);
};

struct model;

/* The trace gives the tables; it outlives the model. */
struct model *model_new(struct trace *trace, const struct model_options *options,
			const struct model_sink *sink);
void model_free(struct model *model);

void model_event(struct model *model, const struct trace_event *event);
/* Takes the plain accesses that come next from the cursor, as many as there are; for each it does the same as
 * model_event would. */
void model_run(struct model *model, struct trace_cursor *cursor);
/* No more events: ends what is open. */
void model_finish(struct model *model);

/* Number of events fed so far; `time` of an event is its number from 1. */
uint64_t model_time(const struct model *model);

/*
 * Do the members that two sites access belong together, as far as the run has
 * shown? TOGETHER: a critical section accesses both. READ_TOGETHER: and reads
 * one of them. Both for what cannot be told apart. The turn goes on when there
 * is news.
 */
#define MODEL_TOGETHER 1u
#define MODEL_READ_TOGETHER 2u
unsigned model_together(struct model *model, uint32_t one, uint32_t other);
uint64_t model_together_turn(const struct model *model);
/* Is the read the one by which whoever makes this write (a MODEL_CLAIM) found out that it may? */
bool model_claims(struct model *model, uint32_t write, uint32_t read);
/* Does the write or update count something, and make nothing else of it? */
bool model_counts(struct model *model, uint32_t site);
/* And does a call that does so there, or looks there whether it may, count back later, as far as the run has
 * shown? */
bool model_counts_in(struct model *model, uint32_t site);
bool model_counts_out(struct model *model, uint32_t site); /* that is what it does here */
/* Has the unit that began at this time allocated the object that has this byte, and was it the first to use
 * it? False if it has become part of another one, or is gone. */
bool model_made(struct model *model, uint64_t address, uint64_t begin);
/* Does what is read there decide where the function goes on? */
bool model_decides(struct model *model, uint32_t read);

/* Names, for reports. A context's frames, innermost first: model_context_parent until
 * 0. */
uint32_t model_context_parent(const struct model *model, uint32_t context);
uint32_t model_context_function(const struct model *model, uint32_t context); /* function number */
/* The locks of a lock set: their addresses. */
uint32_t model_locks(const struct model *model, uint32_t locks, const uint64_t **addresses);

/* Text that the caller frees; never NULL. What is asked for must not have been freed
 * by the program since: ask from within a callback. */
char *model_lock_name(const struct model *model, uint64_t address);
/* Of the set that the bytes belong to which the site accessed there; they may have been freed since. */
char *model_set_name(const struct model *model, uint64_t address, uint32_t site);
char *model_variable_name(const struct model *model, const struct model_access *access);
const char *model_rule_text(uint32_t rule);

struct model_stats {
	uint64_t events, accesses, left_out, units, sets, merges, contexts;
	uint64_t private_data;      /* of those left out */
	uint64_t alone;             /* outside any unit, and the sink was not told */
	uint64_t locations, blocks; /* live now */
};
void model_stats(const struct model *model, struct model_stats *stats);

#endif
