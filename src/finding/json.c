/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes findings as JSON; json_read.c reads them. */
#include "finding/json.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static json_t *text(const char *t)
{
	if (!t)
		return json_null();
	json_t *value = json_string(t);

	if (!value) {
		char *clean = text_utf8(t);

		value = json_string(clean);
		free(clean);
	}
	BUG_ON(!value);
	return value;
}

static json_t *number(double value)
{
	/* Whole numbers as such, as far as a double has all of them. */
	bool small = value > -9e15 && value < 9e15;
	json_t *n = small && value == (double)(json_int_t)value ? json_integer((json_int_t)value)
								: json_real(value);

	return n ? n : json_null(); /* JSON has no infinities */
}

/* 64 bits are more than a JSON number holds everywhere. */
static json_t *large(uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%" PRIu64, value);
	return json_string(digits);
}

static json_t *texts(const char *const *t, uint32_t count)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(array, text(t[i]));
	return array;
}

static json_t *index_or_null(uint32_t index, uint32_t count)
{
	return index < count ? json_integer(index) : json_null();
}

static void put_place(json_t *object, const struct finding_place *place)
{
	json_object_set_new(object, "function", text(place->function));
	json_object_set_new(object, "file", text(place->file));
	json_object_set_new(object, "line", json_integer(place->line));
	json_object_set_new(object, "column", json_integer(place->column));
}

static json_t *unit_json(const struct finding_unit *unit)
{
	json_t *object = json_object();

	put_place(object, &unit->place);
	json_object_set_new(object, "thread", text(unit->thread));
	json_object_set_new(object, "set", text(unit->set));
	json_object_set_new(object, "why", text(unit->why));
	return object;
}

static json_t *access_json(const struct finding *finding, const struct finding_access *access)
{
	json_t *object = json_object(), *stack = json_array();

	json_object_set_new(object, "unit", index_or_null(access->unit, finding->unit_count));
	json_object_set_new(object, "thread", text(access->thread));
	json_object_set_new(object, "op", text((char[]){access->op ? access->op : 'R', 0}));
	json_object_set_new(object, "variable", text(access->variable));
	put_place(object, &access->place);
	json_object_set_new(object, "locks", texts(access->locks, access->lock_count));
	json_object_set_new(object, "note", text(access->note));
	if (access->value)
		json_object_set_new(object, "value", text(access->value));
	for (uint32_t i = 0; i < access->depth; i++) {
		json_t *frame = json_object();

		put_place(frame, &access->stack[i]);
		json_array_append_new(stack, frame);
	}
	json_object_set_new(object, "stack", stack);
	return object;
}

static json_t *forced_to_json(const struct finding_forced *forced)
{
	json_t *object = json_object();

	json_object_set_new(object, "schedules", json_integer((json_int_t)(forced->schedules & INT64_MAX)));
	json_object_set_new(object, "not_feasible",
			    json_integer((json_int_t)(forced->infeasible & INT64_MAX)));
	json_object_set_new(object, "failed", json_integer((json_int_t)(forced->failed & INT64_MAX)));
	return object;
}

/* What only a store knows. */
static void put_life(json_t *object, const struct finding *finding)
{
	json_t *history = json_array();

	json_object_set_new(object, "review", text(finding_review_text(finding->review)));
	json_object_set_new(object, "reason", text(finding->reason));
	json_object_set_new(object, "runs", json_integer((json_int_t)(finding->runs & INT64_MAX)));
	json_object_set_new(object, "first_seen", text(finding->first_seen));
	json_object_set_new(object, "last_seen", text(finding->last_seen));
	json_object_set_new(object, "forced", forced_to_json(&finding->forced));
	for (uint32_t i = 0; i < finding->history_count; i++) {
		const struct finding_event *e = &finding->history[i];
		json_t *event = json_object();

		json_object_set_new(event, "time", text(e->time));
		json_object_set_new(event, "what", text(e->what));
		json_object_set_new(event, "from", text(e->from));
		json_object_set_new(event, "to", text(e->to));
		json_object_set_new(event, "reason", text(e->reason));
		json_array_append_new(history, event);
	}
	json_object_set_new(object, "history", history);
}

json_t *finding_to_json(const struct finding *finding)
{
	json_t *object = json_object(), *units = json_array(), *accesses = json_array(),
	       *edges = json_array();

	json_object_set_new(object, "id", text(finding->id));
	json_object_set_new(object, "kind", text(finding_kind_text(finding->kind)));
	json_object_set_new(object, "state", text(finding_state_text(finding->state)));
	json_object_set_new(object, "pattern", text(finding->pattern));
	json_object_set_new(object, "confidence",
			    number(isfinite(finding->confidence) ? finding->confidence : 0));
	json_object_set_new(object, "verb", text(finding->verb));
	json_object_set_new(object, "title", text(finding->title));
	json_object_set_new(object, "advice", text(finding->advice));
	json_object_set_new(object, "variables", texts(finding->variables, finding->variable_count));
	for (uint32_t i = 0; i < finding->unit_count; i++)
		json_array_append_new(units, unit_json(&finding->units[i]));
	json_object_set_new(object, "units", units);
	for (uint32_t i = 0; i < finding->access_count; i++)
		json_array_append_new(accesses, access_json(finding, &finding->accesses[i]));
	json_object_set_new(object, "accesses", accesses);
	for (uint32_t i = 0; i < finding->edge_count; i++) {
		const struct finding_edge *e = &finding->edges[i];
		json_t *edge = json_object();

		json_object_set_new(edge, "from", json_integer(e->from));
		json_object_set_new(edge, "to", json_integer(e->to));
		json_object_set_new(edge, "source", index_or_null(e->source, finding->access_count));
		json_object_set_new(edge, "target", index_or_null(e->target, finding->access_count));
		json_array_append_new(edges, edge);
	}
	json_object_set_new(object, "edges", edges);
	json_object_set_new(object, "seen", json_integer((json_int_t)(finding->seen & INT64_MAX)));
	json_object_set_new(object, "schedule", text(finding->schedule));
	if (finding->runs)
		put_life(object, finding);
	return object;
}

static json_t *run_json(const struct finding_run *run)
{
	json_t *object = json_object();

	json_object_set_new(object, "time", text(run->time));
	json_object_set_new(object, "verb", text(run->verb));
	json_object_set_new(object, "program", text(run->program));
	json_object_set_new(object, "arguments", text(run->arguments));
	json_object_set_new(object, "build_id", text(run->build_id));
	json_object_set_new(object, "verdict", text(run->verdict));
	json_object_set_new(object, "seed", large(run->seed));
	json_object_set_new(object, "findings", json_integer((json_int_t)(run->findings & INT64_MAX)));
	json_object_set_new(object, "overhead", number(run->overhead));
	return object;
}

static json_t *trial_json(const struct finding_trial *trial)
{
	json_t *object = json_object();

	json_object_set_new(object, "schedule", text(trial->schedule));
	json_object_set_new(object, "strategy", text(trial->strategy));
	json_object_set_new(object, "verdict", text(trial->verdict));
	json_object_set_new(object, "finding", text(trial->finding));
	json_object_set_new(object, "seed", large(trial->seed));
	json_object_set_new(object, "runs", json_integer((json_int_t)(trial->runs & INT64_MAX)));
	json_object_set_new(object, "failures", json_integer((json_int_t)(trial->failures & INT64_MAX)));
	return object;
}

json_t *finding_list_to_json(const struct finding_list *list)
{
	json_t *object = json_object(), *counts = json_object(), *findings = json_array(),
	       *trials = json_array();

	json_object_set_new(object, "version", json_integer(1));
	json_object_set_new(object, "verb", text(list->verb));
	json_object_set_new(object, "program", text(list->program));
	json_object_set_new(object, "arguments", texts(list->arguments, list->argument_count));
	json_object_set_new(object, "build_id", text(list->build_id));
	json_object_set_new(object, "seed", large(list->seed));
	json_object_set_new(object, "blind_spots", texts(list->blind_spots, list->blind_spot_count));
	for (uint32_t i = 0; i < list->count_count; i++) {
		char *name = text_utf8(list->counts[i].name);

		json_object_set_new(counts, name, number(list->counts[i].value));
		free(name);
	}
	json_object_set_new(object, "counts", counts);
	for (uint32_t i = 0; i < list->finding_count; i++)
		json_array_append_new(findings, finding_to_json(&list->findings[i]));
	json_object_set_new(object, "findings", findings);
	for (uint32_t i = 0; i < list->trial_count; i++)
		json_array_append_new(trials, trial_json(&list->trials[i]));
	json_object_set_new(object, "trials", trials);
	if (list->run_count) {
		json_t *runs = json_array();

		for (uint32_t i = 0; i < list->run_count; i++)
			json_array_append_new(runs, run_json(&list->runs[i]));
		json_object_set_new(object, "runs", runs);
	}
	return object;
}
