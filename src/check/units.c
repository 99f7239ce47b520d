/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units come and go, and with them what they leave on locations. See state.h. */
#include "check/sets.h"
#include "check/state.h"

#define GENERATION (1ull << 32)

uint32_t unit_new(struct check *check, const struct check_unit_tag *tag, bool unary)
{
	uint32_t number = pool_take(&check->units, sizeof(struct unit));
	struct unit *unit = unit_at(check, number);

	if (!unit->ref)
		unit->ref = GENERATION | number;
	unit->reads = 0;
	unit->last = 0;
	unit->tag = *tag;
	unit->set = sets_of(check->sets, tag->set);
	sets_hold(check->sets, unit->set);
	unit->open = true;
	unit->unary = unary;
	check->stats.live_units = check->units.taken;
	if (check->stats.most_live_units < check->stats.live_units)
		check->stats.most_live_units = check->stats.live_units;
	check->engine->begin(check, number);
	return number;
}

static void forget_reads(struct check *check, uint32_t unit)
{
	uint32_t at, next;

	for (at = unit_at(check, unit)->reads; at; at = next) {
		struct reader *reader = reader_at(check, at);

		next = reader->unit_next;
		if (reader->next)
			reader_at(check, reader->next)->previous = reader->previous;
		if (reader->previous)
			reader_at(check, reader->previous)->next = reader->next;
		else
			location_at(check, reader->location)->readers = reader->next;
		pool_give(&check->readers, sizeof(struct reader), at);
	}
}

void unit_free(struct check *check, uint32_t number)
{
	struct unit *unit = unit_at(check, number);

	if (unit->reads)
		forget_reads(check, number);
	if (unit->last)
		sets_last_remove(check->sets, unit->last);
	sets_let_go(check->sets, unit->set);
	unit->ref += GENERATION;
	/* A slot whose generations are used up is not used again: a reference
	 * to its first unit would come to life. */
	if (unit->ref >> 32)
		pool_give(&check->units, sizeof(struct unit), number);
	else
		check->units.taken--;
	check->stats.live_units = check->units.taken;
}

/*
 * A location may have many readers and a unit may have read many locations;
 * walking both lists in step finds out in the time of the shorter one.
 */
bool location_has_reader(struct check *check, uint32_t location, uint32_t unit)
{
	uint32_t here = location_at(check, location)->readers;
	uint32_t there = unit_at(check, unit)->reads;

	while (here && there) {
		if (reader_at(check, here)->unit == unit || reader_at(check, there)->location == location)
			return true;
		here = reader_at(check, here)->next;
		there = reader_at(check, there)->unit_next;
	}
	return false;
}

/* The readers are in the order of their accesses, the latest first, also if some are told late. */
static void push(struct check *check, uint32_t location, uint32_t unit, const struct check_access_tag *tag)
{
	uint32_t number = pool_take(&check->readers, sizeof(struct reader));
	uint32_t next = location_at(check, location)->readers, previous = 0;
	uint32_t *there = &unit_at(check, unit)->reads;

	while (next && reader_at(check, next)->tag.time > tag->time) {
		previous = next;
		next = reader_at(check, next)->next;
	}
	*reader_at(check, number) = (struct reader){
		.next = next,
		.previous = previous,
		.unit_next = *there,
		.unit = unit,
		.location = location,
		.tag = *tag,
	};
	if (next)
		reader_at(check, next)->previous = number;
	if (previous)
		reader_at(check, previous)->next = number;
	else
		location_at(check, location)->readers = number;
	if (*there)
		reader_at(check, *there)->unit_previous = number;
	*there = number;
}

void location_add_reader(struct check *check, uint32_t location, uint32_t unit,
			 const struct check_access_tag *tag)
{
	struct location *at = location_at(check, location);
	uint32_t older = unit_of(check, at->reader);

	if (older && at->reader_tag.time > tag->time) {
		push(check, location, unit, tag);
		return;
	}
	if (older)
		push(check, location, older, &at->reader_tag);
	at->reader = unit_at(check, unit)->ref;
	at->reader_tag = *tag;
}

void location_drop_readers(struct check *check, uint32_t location)
{
	struct location *at = location_at(check, location);
	uint32_t number, next;

	for (number = at->readers; number; number = next) {
		struct reader *reader = reader_at(check, number);

		next = reader->next;
		if (reader->unit_next)
			reader_at(check, reader->unit_next)->unit_previous = reader->unit_previous;
		if (reader->unit_previous)
			reader_at(check, reader->unit_previous)->unit_next = reader->unit_next;
		else
			unit_at(check, reader->unit)->reads = reader->unit_next;
		pool_give(&check->readers, sizeof(struct reader), number);
	}
	at->readers = 0;
	at->reader = 0;
}

uint32_t check_location_new(struct check *check)
{
	uint32_t number = pool_take(&check->locations, sizeof(struct location));
	struct location *at = location_at(check, number);

	at->readers = 0;
	at->writer = at->reader = 0;
	return number;
}

uint32_t check_location_split(struct check *check, uint32_t location)
{
	uint32_t number = pool_take(&check->locations, sizeof(struct location));
	struct location *at = location_at(check, number);
	uint32_t reader;

	*at = *location_at(check, location);
	at->readers = 0;
	/* From the earliest on, so that each comes before all that are there. */
	reader = location_at(check, location)->readers;
	while (reader && reader_at(check, reader)->next)
		reader = reader_at(check, reader)->next;
	for (; reader; reader = reader_at(check, reader)->previous) {
		struct reader copy = *reader_at(check, reader);

		push(check, number, copy.unit, &copy.tag);
	}
	return number;
}

void check_location_free(struct check *check, uint32_t location)
{
	location_drop_readers(check, location);
	pool_give(&check->locations, sizeof(struct location), location);
}

bool check_location_idle(struct check *check, uint32_t location)
{
	const struct location *at = location_at(check, location);

	return !at->readers && !unit_of(check, at->writer) && !unit_of(check, at->reader);
}
