/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The model feeds an engine; what the engine finds is told as a finding. */
#include "analysis/serial.h"

#include "analysis/cycle.h"
#include "base/map.h"
#include "trace/stats.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer cycles are counted together, as the paper does. */
#define LARGEST_SIZE 9

struct serial {
	struct trace *trace;
	struct serial_options options;
	struct finding_list *list;
	struct check *check;
	struct model *model;
	struct map known;  /* key of a cycle to its finding, plus one */
	struct map shapes; /* of the cycles that were seen */
	uint64_t retries;
	uint64_t sizes[LARGEST_SIZE + 1];
	struct check_edge *edges; /* the cycle that is being told */
	uint32_t edge_room;
};

/* The tags are the same words in both contracts, and engines read theirs as what they are given. */
_Static_assert(sizeof(struct check_unit_tag) == sizeof(struct model_unit) &&
		       offsetof(struct check_unit_tag, begin) == offsetof(struct model_unit, begin) &&
		       offsetof(struct check_unit_tag, set) == offsetof(struct model_unit, set),
	       "one layout");
_Static_assert(sizeof(struct check_access_tag) == sizeof(struct model_access) &&
		       offsetof(struct check_access_tag, time) == offsetof(struct model_access, time) &&
		       offsetof(struct check_access_tag, op) == offsetof(struct model_access, op),
	       "one layout");

static const struct check_unit_tag *unit_tag(const struct model_unit *unit)
{
	return (const struct check_unit_tag *)unit;
}

static const struct check_access_tag *access_tag(const struct model_access *access)
{
	return (const struct check_access_tag *)access;
}

static uint32_t set_new(void *user)
{
	return check_set_new(((struct serial *)user)->check);
}

static void set_merge(void *user, uint32_t from, uint32_t to)
{
	check_set_merge(((struct serial *)user)->check, from, to);
}

static bool set_quiet(void *user, uint32_t set)
{
	return check_set_quiet(((struct serial *)user)->check, set);
}

static void set_free(void *user, uint32_t set)
{
	check_set_free(((struct serial *)user)->check, set);
}

static uint32_t unit_begin(void *user, const struct model_unit *unit)
{
	return check_unit_begin(((struct serial *)user)->check, unit_tag(unit));
}

static void unit_end(void *user, uint32_t unit)
{
	check_unit_end(((struct serial *)user)->check, unit);
}

static uint32_t location_new(void *user)
{
	return check_location_new(((struct serial *)user)->check);
}

static uint32_t location_split(void *user, uint32_t location)
{
	return check_location_split(((struct serial *)user)->check, location);
}

static void location_free(void *user, uint32_t location)
{
	check_location_free(((struct serial *)user)->check, location);
}

static void read_location(void *user, uint32_t unit, uint32_t location, const struct model_access *access)
{
	check_read(((struct serial *)user)->check, unit, location, access_tag(access));
}

static void write_location(void *user, uint32_t unit, uint32_t location, const struct model_access *access)
{
	check_write(((struct serial *)user)->check, unit, location, access_tag(access));
}

static void unary_read(void *user, const struct model_unit *unit, uint32_t location,
		       const struct model_access *access)
{
	check_unary_read(((struct serial *)user)->check, unit_tag(unit), location, access_tag(access));
}

static void unary_write(void *user, const struct model_unit *unit, uint32_t location,
			const struct model_access *access)
{
	check_unary_write(((struct serial *)user)->check, unit_tag(unit), location, access_tag(access));
}

static void prefetch(void *user, uint32_t location)
{
	check_prefetch(((struct serial *)user)->check, location);
}

static void violation(void *user, const struct check_cycle *whole)
{
	struct serial *serial = user;
	struct check_cycle cycle = *whole;

	if (!serial->options.conflicts_only && whole->length > 2) {
		if (serial->edge_room < whole->length) {
			serial->edge_room = whole->length * 2;
			serial->edges = mem_resize(serial->edges, serial->edge_room, sizeof(*serial->edges));
		}
		cycle.length = cycle_shorten(whole, serial->edges);
		cycle.edges = serial->edges;
	}
	if (cycle_is_retry(&cycle)) {
		serial->retries++;
		return;
	}
	uint64_t key = cycle_key(serial->model, &cycle), shape = cycle_shape(serial->model, &cycle);
	uint32_t known = map_get(&serial->known, key);

	if (!map_get(&serial->shapes, shape)) {
		map_set(&serial->shapes, shape, 1);
		serial->sizes[cycle.length < LARGEST_SIZE ? cycle.length : LARGEST_SIZE]++;
	}
	if (!known) {
		struct finding *finding = finding_add(serial->list);

		map_set(&serial->known, key, serial->list->finding_count);
		cycle_tell(serial->trace, serial->model, &cycle, serial->list, finding);
		if (serial->options.found)
			serial->options.found(serial->options.user, serial->list, finding);
		return;
	}
	/* The shortest cycle is the one to look at. */
	struct finding *finding = &serial->list->findings[known - 1];

	finding->seen++;
	if (cycle.length < finding->unit_count) {
		uint64_t seen = finding->seen;

		*finding = (struct finding){.verb = serial->list->verb, .seen = seen};
		cycle_tell(serial->trace, serial->model, &cycle, serial->list, finding);
	}
}

struct serial *serial_new(struct trace *trace, const struct serial_options *options,
			  struct finding_list *list)
{
	struct serial *serial = mem_zalloc(1, sizeof(*serial));
	struct check_config config = {.kind = options->engine,
				      .program_order = !options->conflicts_only,
				      .violation = violation,
				      .user = serial};
	struct model_sink sink = {.user = serial,
				  .set_new = set_new,
				  .set_merge = set_merge,
				  .set_free = set_free,
				  .set_quiet = options->all_units ? NULL : set_quiet,
				  .unit_begin = unit_begin,
				  .unit_end = unit_end,
				  .location_new = location_new,
				  .location_split = location_split,
				  .location_free = location_free,
				  .read = read_location,
				  .write = write_location,
				  .unary_read = unary_read,
				  .unary_write = unary_write,
				  .prefetch = prefetch};

	serial->trace = trace;
	serial->options = *options;
	serial->list = list;
	serial->check = check_new(&config);
	serial->model = model_new(trace, &options->model, &sink);
	return serial;
}

void serial_event(struct serial *serial, const struct trace_event *event)
{
	model_event(serial->model, event);
}

void serial_events(struct serial *serial, const struct trace_event *events, size_t count)
{
	enum { FAR = 18, PARTS = 12, NEAR = 6 };

	for (size_t i = 0; i < count; i++) {
		if (i + FAR < count)
			model_prefetch_far(serial->model, &events[i + FAR]);
		if (i + PARTS < count)
			model_prefetch_parts(serial->model, &events[i + PARTS]);
		if (i + NEAR < count)
			model_prefetch_near(serial->model, &events[i + NEAR]);
		model_event(serial->model, &events[i]);
	}
}

static void add_blind_spots(struct serial *serial)
{
	char *text = NULL, *rest, *line;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	stats_blind_spots(serial->trace, "", out);
	fclose(out);
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line) /* reports have these words of their own */
			finding_add_blind_spot(serial->list,
					       strncmp(line, "not seen: ", 10) ? line : line + 10);
	free(text);
}

void serial_finish(struct serial *serial)
{
	struct model_stats model;
	struct check_stats check;

	model_finish(serial->model);
	model_stats(serial->model, &model);
	check_stats(serial->check, &check);
	add_blind_spots(serial);
	finding_add_count(serial->list, "events", (double)model.events);
	finding_add_count(serial->list, "accesses", (double)model.accesses);
	finding_add_count(serial->list, "accesses left out", (double)model.left_out);
	if (model.private_data)
		finding_add_count(serial->list, "accesses to private data left out",
				  (double)model.private_data);
	finding_add_count(serial->list, "threads", serial->trace->thread_count);
	finding_add_count(serial->list, "atomic sets", (double)model.sets);
	finding_add_count(serial->list, "merged sets", (double)model.merges);
	finding_add_count(serial->list, "units", (double)model.units);
	finding_add_count(serial->list, "single accesses", (double)(check.unary + model.alone));
	finding_add_count(serial->list, "calling contexts", (double)model.contexts);
	finding_add_count(serial->list, "edges", (double)check.edges);
	finding_add_count(serial->list, "largest graph", (double)check.most_live_units);
	finding_add_count(serial->list, "violations", (double)(check.violations - serial->retries));
	finding_add_count(serial->list, "retries", (double)serial->retries);
	for (uint32_t i = 1; i <= LARGEST_SIZE; i++)
		if (serial->sizes[i]) {
			char name[32];

			snprintf(name, sizeof(name), "cycles of %u%s", i,
				 i == LARGEST_SIZE ? " or more" : "");
			finding_add_count(serial->list, name, (double)serial->sizes[i]);
		}
}

void serial_free(struct serial *serial)
{
	if (!serial)
		return;
	model_free(serial->model);
	check_free(serial->check);
	map_release(&serial->known);
	map_release(&serial->shapes);
	free(serial->edges);
	free(serial);
}

void serial_describe_run(const struct trace *trace, struct finding_list *list)
{
	const char *at = trace->argv.data, *end = at + trace->argv.length;
	uint32_t count = 0;

	list->program = finding_text(list, trace_program(trace));
	list->seed = trace->header.seed;
	for (const char *p = at; p && p < end; p += strnlen(p, (size_t)(end - p)) + 1)
		count++;
	list->arguments = finding_memory(list, count ? count : 1, sizeof(*list->arguments));
	for (; at && at < end && list->argument_count < count; at += strnlen(at, (size_t)(end - at)) + 1)
		list->arguments[list->argument_count++] =
			finding_textf(list, "%.*s", (int)strnlen(at, (size_t)(end - at)), at);
	if (trace->module_count && trace->modules[0].build_id_length) {
		const struct trace_module_table *module = &trace->modules[0];
		char *text = finding_memory(list, 2 * (size_t)module->build_id_length + 1, 1);

		for (uint32_t i = 0; i < module->build_id_length; i++)
			snprintf(text + 2 * (size_t)i, 3, "%02x", module->build_id[i]);
		list->build_id = text;
	}
}
