/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What both engines stand on: the units that still matter, the locations and
 * who touched them last, and the sets. An engine adds the order of the units.
 *
 * A unit *matters* as long as it is open or an open unit comes before it. Units
 * get predecessors only while they are open, so a finished unit before which
 * all are finished can be on no later cycle: its slot is freed (Marathon, 4.2).
 * Locations and readers name a unit by its reference, slot and generation in
 * one word; when the slot is freed the generation changes and every reference
 * is void at once, without anyone looking for them.
 */
#ifndef ATOMSAN_CHECK_STATE_H
#define ATOMSAN_CHECK_STATE_H

#include <stddef.h>

#include "check/engine.h"
#include "check/pool.h"

/* The unit's place in the conflict graph; see graph.h. */
struct graph_node {
	uint32_t in, out;       /* first edges */
	uint32_t refused;       /* first edge into it that would have closed a cycle */
	uint32_t holding;       /* first edge out of it of this kind, into a unit that has ended */
	uint32_t held;          /* how many of those lead to it */
	uint32_t before, after; /* neighbours in the topological order */
	uint32_t in_at, out_at; /* how far a search has come in its edges */
	uint32_t via;           /* edge by which a shortest path reaches it */
	uint64_t label;         /* position in the order, 0: none */
};

/* The unit's vector clock; see aerodrome.c. */
struct clock {
	uint32_t components; /* first of the open units that come before it */
	uint32_t holders;    /* first component, in other clocks, that names it */
	uint64_t refused;    /* reference of the source refused last */
};

struct unit {
	uint32_t reads; /* first of its records in lists of readers */
	uint32_t last;  /* its entry among the last units of their threads */
	uint64_t ref;
	uint64_t mark; /* the search that came by last */
	struct check_unit_tag tag;
	uint32_t set; /* see sets.h */
	bool open;    /* a unary one is while its edges are made */
	bool unary;
	union {
		struct graph_node graph;
		struct clock clock;
	};
};

/*
 * A location remembers its last writer and who read it since: the latest
 * reader here, others in a list. References may be void.
 */
struct location {
	uint32_t readers;
	uint64_t writer, reader;
	struct check_access_tag writer_tag, reader_tag;
};

/* A reader that is not the latest. Only units that matter have any. */
struct reader {
	uint32_t next, previous; /* of the location */
	uint32_t unit_next, unit_previous;
	uint32_t unit, location;
	struct check_access_tag tag;
};

/*
 * What an engine must do. It hears of an edge as often as the accesses make
 * it. `source` and `target` are NULL for program order.
 */
struct engine {
	void (*init)(struct check *check);
	void (*begin)(struct check *check, uint32_t unit);
	void (*end)(struct check *check, uint32_t unit); /* frees what no longer matters */
	/* Would it still matter if it ended now? */
	bool (*matters)(struct check *check, uint32_t unit);
	void (*edge)(struct check *check, uint32_t from, uint32_t to, const struct check_access_tag *source,
		     const struct check_access_tag *target);
	/* Would a unary access after `sources` be, for every later question, the same as the finished unit?
	 */
	bool (*same)(struct check *check, uint32_t unit, const uint32_t *sources, uint32_t count);
	void (*release)(struct check *check);
};

extern const struct engine graph_engine, aerodrome_engine;

struct check {
	const struct engine *engine;
	struct check_config config;
	struct check_stats stats;
	struct pool units, locations, readers;
	struct sets *sets;
	uint64_t marks; /* given out to searches */
	uint64_t news;  /* see check_news */
	struct list sources;
	union {
		struct graph *graph;
		struct aerodrome *aerodrome;
	};
};

static inline struct unit *unit_at(struct check *check, uint32_t unit)
{
	return (struct unit *)check->units.items + unit;
}

static inline struct location *location_at(struct check *check, uint32_t location)
{
	return (struct location *)check->locations.items + location;
}

static inline struct reader *reader_at(struct check *check, uint32_t reader)
{
	return (struct reader *)check->readers.items + reader;
}

/* The unit behind a reference, or 0 if the reference is void. */
static inline uint32_t unit_of(struct check *check, uint64_t ref)
{
	uint32_t unit = (uint32_t)ref;

	return unit_at(check, unit)->ref == ref ? unit : 0;
}

/*
 * The unit as the source of an access. Unary accesses that were put together
 * have one unit, and each its own name.
 */
static inline struct check_unit_tag unit_named(struct check *check, uint32_t unit,
					       const struct check_access_tag *source)
{
	struct check_unit_tag tag = unit_at(check, unit)->tag;

	if (unit_at(check, unit)->unary) {
		tag.begin = source->time;
		tag.context = source->context;
	}
	return tag;
}

uint32_t unit_new(struct check *check, const struct check_unit_tag *tag, bool unary);
/* Makes all references to it void; the engine has let go of it. */
void unit_free(struct check *check, uint32_t unit);

/* Is the unit among those that read the location since it was last written? */
bool location_has_reader(struct check *check, uint32_t location, uint32_t unit);
/* Makes the unit the latest reader. */
void location_add_reader(struct check *check, uint32_t location, uint32_t unit,
			 const struct check_access_tag *tag);
void location_drop_readers(struct check *check, uint32_t location);

#endif
