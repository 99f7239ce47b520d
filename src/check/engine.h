/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Is an execution atomic-set serializable? Two engines answer this, on one
 * interface: the conflict graph of Marathon (conflict.c) and vector clocks
 * after AeroDrome (aerodrome.c). Whoever calls them has found out what the
 * atomic sets, the units of work and the locations are; here they are numbers.
 *
 * The question is asked per atomic set, of the execution's projection on it.
 * A unit is one invocation seen from one set: a function that is a unit for
 * two sets is two units here. Units are ordered by
 *
 *   - conflicts: last writer -> reader, last writer -> writer, every reader
 *     since the last write -> writer, on each location;
 *   - program order: units of one thread on one set, one after the other.
 *     (Marathon's definition leaves this order out, and with it executions in
 *     which a unit falls apart around two units of another thread;
 *     check_config.program_order = false gives the paper's definition.)
 *
 * The set is serializable if and only if this order has no cycle. When an
 * access would close one, it is reported, and the edge is left out, so that
 * the order stays one and later violations are found as well.
 *
 * Program order, exactly: a unit follows the units of its thread that ended
 * before it began and are on the same set at that time. Merging two sets orders
 * nothing that was there before; the next unit of each thread follows its units
 * on both.
 *
 * What both engines promise, in the same words, also after violations: the edge
 * from a unit to the one that accesses is left out if and only if the latter
 * comes before the former in the order so far. Since the edges of one access
 * all lead to one unit, it does not matter which is looked at first, and both
 * engines leave out the same edges at the same accesses. In particular a set is
 * violated for one if it is for the other, at the same access; and so is each
 * unit. Reports differ in two points: the graph tells the whole cycle, the
 * vector clocks only the edge; and the graph reports a pair of units once, in
 * this direction, while the vector clocks remember one source per unit and may
 * tell a pair again.
 *
 * A thread's units on one set follow each other without overlap: the caller
 * gives nested ones to the top-most unit. Locations belong to one set; units
 * and locations are named by handles that the engine gives out and uses again
 * once they are ended or freed. Memory grows with locations, with units that an
 * open unit comes before and, in the graph, with those that were in a cycle with
 * an open unit; all others are forgotten.
 */
#ifndef ATOMSAN_CHECK_ENGINE_H
#define ATOMSAN_CHECK_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

enum check_kind { CHECK_CONFLICT_GRAPH, CHECK_AERODROME };

/* What a report wants to know of a unit and of an access; engines only carry it. Callers may have words of
 * their own for the same fields. */
struct __attribute__((may_alias)) check_unit_tag {
	uint32_t thread;
	uint32_t context; /* calling context in which it began */
	uint32_t rule;    /* why it is a unit */
	uint32_t set;     /* as named by check_set_new */
	uint64_t begin;   /* its first event's number in the execution */
};

struct __attribute__((may_alias)) check_access_tag {
	uint32_t site;
	uint32_t context;
	uint32_t locks; /* lock set held */
	uint32_t op;    /* the caller's word for the kind of access */
	uint64_t time;  /* number of the event in the execution */
	uint64_t address;
};

/* Two accesses that conflict. */
struct check_pair {
	struct check_access_tag source, target;
};

/* One edge of a cycle. With program order as its reason there are no accesses. */
struct check_edge {
	struct check_unit_tag from, to;
	bool program_order;
	struct check_access_tag source, target;
	const struct check_pair *more; /* other locations on which the two units conflict, some of them */
	uint32_t more_count;
};

/* That many pairs an edge has at most, its first one included. */
#define CHECK_PAIRS 4

/*
 * A cycle: edges[i].to is edges[i + 1].from, the last one's is the first one's
 * from. edges[0] is the edge that would have closed it; no cycle of conflicts
 * between units through it is shorter. Two units have the first pair of accesses
 * that conflict as their edge. Between units of one thread there may be several
 * others; program order over them is one edge. An engine that only decides
 * (aerodrome) gives the closing edge alone.
 */
struct check_cycle {
	const struct check_edge *edges;
	uint32_t length;
	bool again; /* told before; its closing edge has one more pair of accesses */
};

struct check_config {
	enum check_kind kind;
	bool program_order;
	/* Must not call the engine. What it is given is gone when it returns. NULL: count only. */
	void (*violation)(void *user, const struct check_cycle *cycle);
	void *user;
	/* Two units between which there is an edge conflict on another location; may be NULL. Only the graph
	 * tells it. */
	void (*conflict)(void *user, const struct check_unit_tag *from, const struct check_unit_tag *to,
			 const struct check_pair *pair);
};

struct check_stats {
	uint64_t units, unary, accesses, violations;
	uint64_t edges;                       /* made in all; components of clocks for aerodrome */
	uint64_t live_units, most_live_units; /* in the graph, now and at most */
	uint64_t searched;                    /* nodes visited by cycle detection */
};

struct check;

struct check *check_new(const struct check_config *config);
void check_free(struct check *check);
void check_stats(const struct check *check, struct check_stats *stats);

/* Goes on when an access, or the beginning of a unit, makes an edge or is remembered with one. */
uint64_t check_news(const struct check *check);

uint32_t check_set_new(struct check *check);
/* From now on the units and locations of `from` are units and locations of
 * `to`; what came before stays as it was, tags included. The handle `from` is
 * void. No unit of the same thread is open on both. */
void check_set_merge(struct check *check, uint32_t from, uint32_t to);
/* Has it no unit that matters? Then what happens to it leads to no edge and leaves nothing behind, as
 * long as there is one unit on it at a time. */
bool check_set_quiet(const struct check *check, uint32_t set);
/* Its locations were freed, its units ended. */
void check_set_free(struct check *check, uint32_t set);

/* tag->set and tag->thread say where. */
uint32_t check_unit_begin(struct check *check, const struct check_unit_tag *tag);
void check_unit_end(struct check *check, uint32_t unit);
/* Would it still matter if it ended now? */
bool check_unit_matters(struct check *check, uint32_t unit);
/* A name of the unit that no other will have; and whether it still matters. A unit that has ended and does
 * may be told of accesses by which it comes after nobody. */
uint64_t check_unit_reference(struct check *check, uint32_t unit);
bool check_unit_there(struct check *check, uint64_t reference);

uint32_t check_location_new(struct check *check);
/* Another location with the same past: bytes that were accessed together go separate ways. */
uint32_t check_location_split(struct check *check, uint32_t location);
void check_location_free(struct check *check, uint32_t location);

/* Does nobody matter who accessed it? Then it is as good as new. */
bool check_location_idle(struct check *check, uint32_t location);

/* The location will be accessed soon. */
void check_prefetch(const struct check *check, uint32_t location);
void check_read(struct check *check, uint32_t unit, uint32_t location, const struct check_access_tag *tag);
void check_write(struct check *check, uint32_t unit, uint32_t location, const struct check_access_tag *tag);
/*
 * An access outside any unit is a unit of its own: the tag's begin and context
 * are the access's time and context.
 */
void check_unary_read(struct check *check, const struct check_unit_tag *unit, uint32_t location,
		      const struct check_access_tag *tag);
void check_unary_write(struct check *check, const struct check_unit_tag *unit, uint32_t location,
		       const struct check_access_tag *tag);

#endif
