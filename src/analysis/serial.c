/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The model feeds an engine; what the engine finds is told as a finding. */
#include "analysis/serial.h"

#include "analysis/cycle.h"
#include "analysis/judge.h"
#include "analysis/recent.h"
#include "analysis/waiting.h"
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
	struct waiting waiting;
	struct recent recent;
	struct locking locking;
	struct values values;
	uint64_t turn; /* of what belongs together, when those that wait were last looked at */
	uint64_t violations, retries, taken;
	uint64_t sizes[LARGEST_SIZE + 1];
	struct check_edge *edges; /* the cycle that is being told */
	uint32_t *chosen;         /* of the pairs of accesses of its edges */
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

static bool unit_matters(void *user, uint32_t unit)
{
	return check_unit_matters(((struct serial *)user)->check, unit);
}

static uint64_t unit_reference(void *user, uint32_t unit)
{
	return check_unit_reference(((struct serial *)user)->check, unit);
}

static bool unit_there(void *user, uint64_t reference)
{
	return check_unit_there(((struct serial *)user)->check, reference);
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

static uint64_t news(void *user)
{
	return check_news(((struct serial *)user)->check);
}

static bool location_idle(void *user, uint32_t location)
{
	return check_location_idle(((struct serial *)user)->check, location);
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

/* A finding of the key, the shortest cycle told. */
static void add_finding(struct serial *serial, uint64_t key, const struct finding *told, uint64_t seen)
{
	uint32_t known = map_get(&serial->known, key);
	struct finding *finding;

	if (known) {
		finding = &serial->list->findings[known - 1];
		seen += finding->seen;
		if (told->unit_count < finding->unit_count)
			*finding = *told;
		finding->seen = seen;
		return;
	}
	finding = finding_add(serial->list);
	map_set(&serial->known, key, serial->list->finding_count);
	*finding = *told;
	finding->seen = seen;
	if (serial->options.found)
		serial->options.found(serial->options.user, serial->list, finding);
}

static struct finding tell(struct serial *serial, const struct check_cycle *cycle)
{
	struct finding told = {.verb = serial->list->verb};

	cycle_tell(serial->trace, serial->model, &serial->locking, &serial->values, cycle, serial->list,
		   &told);
	return told;
}

static void report(struct serial *serial, const struct check_cycle *cycle)
{
	uint64_t key = cycle_key(serial->model, cycle), shape = cycle_shape(serial->model, cycle);
	uint32_t known = map_get(&serial->known, key);
	struct finding told;

	/* One more pair of accesses of a violation that was told, or of one that was not. */
	if (cycle->again && known)
		return;
	serial->violations++;
	if (!map_get(&serial->shapes, shape)) {
		map_set(&serial->shapes, shape, 1);
		serial->sizes[cycle->length < LARGEST_SIZE ? cycle->length : LARGEST_SIZE]++;
	}
	/* The shortest cycle is the one to look at. */
	if (known && cycle->length >= serial->list->findings[known - 1].unit_count) {
		serial->list->findings[known - 1].seen++;
		return;
	}
	told = tell(serial, cycle);
	add_finding(serial, key, &told, 1);
}

/* False if there is no room. */
static bool wait_for_more(struct serial *serial, const struct check_cycle *cycle)
{
	uint64_t key = cycle_key(serial->model, cycle);
	struct waiting_cycle *waiting = waiting_find(&serial->waiting, key, cycle);

	if (waiting) {
		waiting->seen += !cycle->again;
		return true;
	}
	waiting = waiting_add(&serial->waiting, key, cycle);
	if (!waiting)
		return false;
	judge_choose(serial->edges, cycle->length, serial->chosen);
	waiting->told = tell(serial, cycle);
	return true;
}

/* What belongs together is better known now than when these were found. */
static void look_again(struct serial *serial)
{
	serial->turn = model_together_turn(serial->model);
	for (uint32_t i = 0; i < serial->waiting.count; i++) {
		struct waiting_cycle *waiting = &serial->waiting.items[i];

		if (!waiting->edges || judge_cycle(serial->model, waiting->edges, waiting->length,
						   serial->chosen) != JUDGE_VIOLATION)
			continue;
		serial->violations += waiting->seen;
		add_finding(serial, waiting->key, &waiting->told, waiting->seen);
		waiting_let_go(waiting);
	}
}

/* The edges are the serial's own. */
static void judged(struct serial *serial, const struct check_cycle *cycle, enum judge_verdict verdict)
{
	switch (verdict) {
	case JUDGE_RETRY:
		serial->retries += !cycle->again;
		return;
	case JUDGE_TAKEN:
		serial->taken += !cycle->again;
		recent_add(&serial->recent, cycle);
		return;
	case JUDGE_APART:
		recent_add(&serial->recent, cycle);
		if (wait_for_more(serial, cycle))
			return;
		break;
	case JUDGE_VIOLATION:
		break;
	}
	judge_choose(serial->edges, cycle->length, serial->chosen);
	report(serial, cycle);
}

static void violation(void *user, const struct check_cycle *whole)
{
	struct serial *serial = user;
	struct check_cycle cycle = *whole;

	if (serial->edge_room < whole->length) {
		serial->edge_room = whole->length * 2;
		serial->edges = mem_resize(serial->edges, serial->edge_room, sizeof(*serial->edges));
		serial->chosen = mem_resize(serial->chosen, serial->edge_room, sizeof(*serial->chosen));
	}
	cycle.edges = serial->edges;
	if (!serial->options.conflicts_only && whole->length > 2)
		cycle.length = cycle_shorten(whole, serial->edges);
	else
		memcpy(serial->edges, whole->edges, whole->length * sizeof(*serial->edges));
	if (serial->options.every_cycle) {
		report(serial, &cycle);
		return;
	}
	judged(serial, &cycle, judge_cycle(serial->model, serial->edges, cycle.length, serial->chosen));
}

/* Two units that were in a cycle conflict once more. */
static void conflict(void *user, const struct check_unit_tag *from, const struct check_unit_tag *to,
		     const struct check_pair *pair)
{
	struct serial *serial = user;

	for (uint32_t i = 0; i < RECENT_CYCLES; i++) {
		struct recent_cycle *recent = &serial->recent.cycles[i];
		struct check_cycle cycle = {.edges = serial->edges, .length = recent->length, .again = true};

		if (!recent->length || !recent_more(recent, from, to, pair) ||
		    judge_cycle(serial->model, recent->edges, recent->length, serial->chosen) !=
			    JUDGE_VIOLATION)
			continue;
		memcpy(serial->edges, recent->edges, recent->length * sizeof(*serial->edges));
		recent->length = 0;
		judged(serial, &cycle, JUDGE_VIOLATION);
	}
}

static void synchronised(void *user, const struct trace_event *event, uint64_t time)
{
	struct serial *serial = user;

	locking_event(&serial->locking, event, time);
	if (serial->waiting.count && serial->turn != model_together_turn(serial->model))
		look_again(serial);
}

struct serial *serial_new(struct trace *trace, const struct serial_options *options,
			  struct finding_list *list)
{
	struct serial *serial = mem_zalloc(1, sizeof(*serial));
	struct check_config config = {.kind = options->engine,
				      .program_order = !options->conflicts_only,
				      .violation = violation,
				      .conflict = conflict,
				      .user = serial};
	struct model_sink sink = {.user = serial,
				  .set_new = set_new,
				  .set_merge = set_merge,
				  .set_free = set_free,
				  .set_quiet = options->all_units ? NULL : set_quiet,
				  .unit_begin = unit_begin,
				  .unit_end = unit_end,
				  .unit_matters = unit_matters,
				  .unit_reference = unit_reference,
				  .unit_there = unit_there,
				  .location_new = location_new,
				  .location_split = location_split,
				  .location_free = location_free,
				  .location_idle = location_idle,
				  .news = news,
				  .read = read_location,
				  .write = write_location,
				  .unary_read = unary_read,
				  .unary_write = unary_write,
				  .prefetch = prefetch,
				  .op = synchronised};

	serial->trace = trace;
	serial->options = *options;
	serial->list = list;
	serial->check = check_new(&config);
	serial->model = model_new(trace, &options->model, &sink);
	return serial;
}

const struct model *serial_model(const struct serial *serial)
{
	return serial->model;
}

const struct locking *serial_locking(const struct serial *serial)
{
	return &serial->locking;
}

void serial_event(struct serial *serial, const struct trace_event *event)
{
	/* It will be the model's next. */
	if (__builtin_expect(event->prefixes, 0))
		values_event(&serial->values, event, model_time(serial->model) + 1);
	model_event(serial->model, event);
}

int serial_all(struct serial *serial, struct trace_cursor *cursor)
{
	struct trace_event event;
	int got;

	do {
		model_run(serial->model, cursor);
		got = trace_next(cursor, &event);
		if (got > 0)
			serial_event(serial, &event);
	} while (got > 0);
	return got;
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
	uint64_t apart = 0;

	model_finish(serial->model);
	look_again(serial);
	values_tell(&serial->values, serial->list);
	for (uint32_t i = 0; i < serial->waiting.count; i++)
		apart += serial->waiting.items[i].edges ? serial->waiting.items[i].seen : 0;
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
	finding_add_count(serial->list, "violations", (double)serial->violations);
	finding_add_count(serial->list, "retries", (double)serial->retries);
	if (serial->taken)
		finding_add_count(serial->list, "taken and given back", (double)serial->taken);
	if (apart)
		finding_add_count(serial->list, "over unrelated members", (double)apart);
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
	waiting_release(&serial->waiting);
	recent_release(&serial->recent);
	locking_release(&serial->locking);
	values_release(&serial->values);
	free(serial->edges);
	free(serial->chosen);
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
