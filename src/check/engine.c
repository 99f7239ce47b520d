/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From accesses to edges, for both engines: who comes before whom follows from
 * what the locations and the sets remember (Marathon, Sect. 3, Definition 2;
 * engine.h has program order). The way that most accesses take comes first in
 * each function and touches one location and one unit.
 */
#include <stdlib.h>

#include "base/err.h"
#include "check/engine.h"
#include "check/sets.h"
#include "check/state.h"

struct check *check_new(const struct check_config *config)
{
	struct check *check = mem_zalloc(1, sizeof(*check));

	check->config = *config;
	check->engine = config->kind == CHECK_AERODROME ? &aerodrome_engine : &graph_engine;
	pool_init(&check->units, sizeof(struct unit));
	pool_init(&check->locations, sizeof(struct location));
	pool_init(&check->readers, sizeof(struct reader));
	/* No reference leads to slot 0, not even that of a location nobody touched. */
	unit_at(check, 0)->ref = UINT64_MAX;
	check->sets = sets_new();
	check->engine->init(check);
	return check;
}

void check_free(struct check *check)
{
	if (!check)
		return;
	check->engine->release(check);
	sets_free(check->sets);
	pool_release(&check->units);
	pool_release(&check->locations);
	pool_release(&check->readers);
	list_release(&check->sources);
	free(check);
}

uint64_t check_news(const struct check *check)
{
	return check->news;
}

void check_stats(const struct check *check, struct check_stats *stats)
{
	*stats = check->stats;
}

uint32_t check_set_new(struct check *check)
{
	return sets_handle_new(check->sets);
}

void check_set_merge(struct check *check, uint32_t from, uint32_t to)
{
	sets_merge(check->sets, from, to);
}

bool check_set_quiet(const struct check *check, uint32_t set)
{
	return sets_quiet(check->sets, set);
}

void check_set_free(struct check *check, uint32_t set)
{
	sets_handle_free(check->sets, set);
}

/* The unit follows what its thread did last on its set. */
static void follow(struct check *check, uint32_t unit)
{
	uint32_t set = unit_at(check, unit)->set;
	uint32_t thread = unit_at(check, unit)->tag.thread;
	uint32_t entry, next;

	for (entry = sets_last(check->sets, set, thread); entry; entry = next) {
		uint32_t last = sets_last_unit(check->sets, entry);

		next = sets_last_next(check->sets, entry);
		sets_last_remove(check->sets, entry);
		unit_at(check, last)->last = 0;
		check->engine->edge(check, last, unit, NULL, NULL);
	}
}

static void lead(struct check *check, uint32_t number)
{
	struct unit *unit = unit_at(check, number);

	if (check->config.program_order)
		unit->last = sets_last_add(check->sets, unit->set, unit->tag.thread, number);
}

uint32_t check_unit_begin(struct check *check, const struct check_unit_tag *tag)
{
	uint32_t unit = unit_new(check, tag, false);

	check->stats.units++;
	follow(check, unit);
	return unit;
}

void check_unit_end(struct check *check, uint32_t number)
{
	struct unit *unit = unit_at(check, number);

	BUG_ON(!unit->open);
	unit->open = false;
	lead(check, number);
	check->engine->end(check, number);
}

bool check_unit_matters(struct check *check, uint32_t unit)
{
	return check->engine->matters(check, unit);
}

uint64_t check_unit_reference(struct check *check, uint32_t unit)
{
	return unit_at(check, unit)->ref;
}

bool check_unit_there(struct check *check, uint64_t reference)
{
	return unit_of(check, reference);
}

static __attribute__((noinline)) void read_first(struct check *check, uint32_t unit, uint32_t location,
						 const struct check_access_tag *tag)
{
	struct location *at = location_at(check, location);
	uint32_t writer = unit_of(check, at->writer);

	if (at->readers && location_has_reader(check, location, unit))
		return;
	if (writer)
		check->engine->edge(check, writer, unit, &at->writer_tag, tag);
	location_add_reader(check, location, unit, tag);
}

void check_prefetch(const struct check *check, uint32_t location)
{
	const struct location *at = (const struct location *)check->locations.items + location;

	/* It lies on two lines, or three. */
	__builtin_prefetch(at);
	__builtin_prefetch((const char *)at + 64);
}

void check_read(struct check *check, uint32_t unit, uint32_t location, const struct check_access_tag *tag)
{
	struct location *at = location_at(check, location);
	uint64_t ref = unit_at(check, unit)->ref;

	check->stats.accesses++;
	/* Whoever wrote last comes before the next writer anyway. */
	if (at->reader != ref && at->writer != ref)
		read_first(check, unit, location, tag);
}

static __attribute__((noinline)) void write_first(struct check *check, uint32_t unit, uint32_t location,
						  const struct check_access_tag *tag)
{
	struct location *at = location_at(check, location);
	uint32_t from = unit_of(check, at->writer);
	uint32_t reader;

	if (from && from != unit)
		check->engine->edge(check, from, unit, &at->writer_tag, tag);
	from = unit_of(check, at->reader);
	if (from && from != unit)
		check->engine->edge(check, from, unit, &at->reader_tag, tag);
	for (reader = at->readers; reader; reader = reader_at(check, reader)->next)
		if (reader_at(check, reader)->unit != unit)
			check->engine->edge(check, reader_at(check, reader)->unit, unit,
					    &reader_at(check, reader)->tag, tag);
	location_drop_readers(check, location);
	at->writer = unit_at(check, unit)->ref;
	at->writer_tag = *tag;
}

void check_write(struct check *check, uint32_t unit, uint32_t location, const struct check_access_tag *tag)
{
	struct location *at = location_at(check, location);

	check->stats.accesses++;
	/* Nobody read it since: a void reader is cleared by the first write. */
	if (at->writer != unit_at(check, unit)->ref || at->reader || at->readers)
		write_first(check, unit, location, tag);
}

/* All units that come right before a unary access, each once or more. */
static void collect_sources(struct check *check, const struct check_unit_tag *tag, uint32_t location,
			    bool write)
{
	struct location *at = location_at(check, location);
	struct list *sources = &check->sources;
	uint32_t unit, reader, entry;

	sources->count = 0;
	entry = sets_last(check->sets, sets_of(check->sets, tag->set), tag->thread);
	for (; entry; entry = sets_last_next(check->sets, entry))
		list_add(sources, sets_last_unit(check->sets, entry));
	if ((unit = unit_of(check, at->writer)))
		list_add(sources, unit);
	if (!write)
		return;
	if ((unit = unit_of(check, at->reader)))
		list_add(sources, unit);
	for (reader = at->readers; reader; reader = reader_at(check, reader)->next)
		list_add(sources, reader_at(check, reader)->unit);
}

/*
 * Velodrome's merge: an access that comes after a finished unit and after
 * nothing that does not come before that unit already adds no order, and can
 * be part of it. Unary accesses of one thread are put together so, for a report
 * must be able to say how they follow each other: by program order; or, without
 * it, the access is no other than one before it, the same write or read again.
 */
static uint32_t mergeable(struct check *check, const struct check_unit_tag *tag, uint32_t location,
			  bool write)
{
	struct location *at = location_at(check, location);
	uint32_t candidates[2] = {check->sources.items[0], 0};
	int i;

	if (!check->config.program_order) {
		candidates[0] = unit_of(check, at->writer);
		candidates[1] = write ? 0 : unit_of(check, at->reader);
	}
	for (i = 0; i < 2; i++) {
		struct unit *unit = unit_at(check, candidates[i]);

		if (candidates[i] && unit->unary && unit->tag.thread == tag->thread &&
		    check->engine->same(check, candidates[i], check->sources.items, check->sources.count))
			return candidates[i];
	}
	return 0;
}

/* An access that became part of a unary unit leaves its trace and makes no edges. */
static void leave_trace(struct check *check, uint32_t unit, uint32_t location,
			const struct check_access_tag *access, bool write)
{
	struct location *at = location_at(check, location);
	uint64_t ref = unit_at(check, unit)->ref;

	if (write) {
		location_drop_readers(check, location);
		if (at->writer != ref || check->config.program_order)
			at->writer_tag = *access;
		at->writer = ref;
	} else if (at->reader != ref && at->writer != ref &&
		   (!at->readers || !location_has_reader(check, location, unit))) {
		location_add_reader(check, location, unit, access);
	}
}

static void unary(struct check *check, const struct check_unit_tag *tag, uint32_t location,
		  const struct check_access_tag *access, bool write)
{
	struct location *at = location_at(check, location);
	uint32_t unit;

	check->stats.accesses++;
	check->stats.unary++;
	collect_sources(check, tag, location, write);
	if (!check->sources.count) {
		/* Nothing that matters comes before: it would be freed at once. */
		if (write) {
			location_drop_readers(check, location);
			at->writer = 0;
		}
		return;
	}
	unit = mergeable(check, tag, location, write);
	if (unit) {
		leave_trace(check, unit, location, access, write);
		return;
	}
	unit = unit_new(check, tag, true);
	follow(check, unit);
	(write ? write_first : read_first)(check, unit, location, access);
	unit_at(check, unit)->open = false;
	lead(check, unit);
	check->engine->end(check, unit);
}

void check_unary_read(struct check *check, const struct check_unit_tag *unit, uint32_t location,
		      const struct check_access_tag *tag)
{
	unary(check, unit, location, tag, false);
}

void check_unary_write(struct check *check, const struct check_unit_tag *unit, uint32_t location,
		       const struct check_access_tag *tag)
{
	unary(check, unit, location, tag, true);
}
