/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/perfetto.h"

#include "base/err.h"
#include "report/value.h"

#include <stdlib.h>

/* Microseconds: a step begins every millisecond, and ends a little before the next. */
enum { STEP = 1000, LENGTH = 900, MARGIN = 50 };

struct track {
	json_t *events;
	const struct report_options *options;
	const struct finding *finding;
	struct report_lanes lanes;
	uint32_t process;
	uint64_t *next_arrow;
};

static json_t *event(struct track *t, const char *phase, json_t *name, uint32_t lane, uint64_t time)
{
	json_t *object =
		json_pack("{ss,so,sI,sI,sI}", "ph", phase, "name", name, "pid", (json_int_t)t->process, "tid",
			  (json_int_t)lane + 1, "ts", (json_int_t)time);

	json_array_append_new(t->events, object);
	return object;
}

static void name_tracks(struct track *t)
{
	char *title = finding_title(t->finding);
	json_t *name = json_pack("{ss,ss,sI,s{so}}", "ph", "M", "name", "process_name", "pid",
				 (json_int_t)t->process, "args", "name",
				 value_take(mem_textf("%s %s", t->finding->id, title)));

	free(title);
	json_array_append_new(t->events, name);
	for (uint32_t i = 0; i < t->lanes.count; i++)
		json_array_append_new(t->events,
				      json_pack("{ss,ss,sI,sI,s{so}}", "ph", "M", "name", "thread_name",
						"pid", (json_int_t)t->process, "tid", (json_int_t)i + 1,
						"args", "name", value_text(t->lanes.names[i])));
}

/* The first and last step of a unit in a lane; false if it has none there. */
static bool span_of(const struct track *t, uint32_t unit, uint32_t lane, uint32_t *first, uint32_t *last)
{
	bool found = false;

	*first = *last = 0;
	for (uint32_t i = 0; i < t->finding->access_count; i++) {
		if (t->finding->accesses[i].unit != unit || t->lanes.of_step[i] != lane)
			continue;
		if (!found)
			*first = i;
		*last = i;
		found = true;
	}
	return found;
}

/* Slices of one thread must nest; of two units that overlap otherwise only the earlier one is drawn. */
static bool nests(const struct track *t, uint32_t unit, uint32_t lane)
{
	uint32_t first, last, f, l;

	if (!span_of(t, unit, lane, &first, &last))
		return false;
	for (uint32_t u = 0; u < unit; u++)
		if (span_of(t, u, lane, &f, &l) && !(last < f || first > l || (first > f && last < l)))
			return false;
	return true;
}

static void add_units(struct track *t)
{
	for (uint32_t u = 0; u < t->finding->unit_count; u++) {
		const struct finding_unit *unit = &t->finding->units[u];

		for (uint32_t lane = 0; lane < t->lanes.count; lane++) {
			uint32_t first, last;

			if (!nests(t, u, lane) || !span_of(t, u, lane, &first, &last))
				continue;
			json_t *slice = event(
				t, "X",
				value_take(mem_textf("unit %u: %s", u + 1,
						     unit->place.function ? unit->place.function : "?")),
				lane, (uint64_t)first * STEP + MARGIN);

			json_object_set_new(
				slice, "dur",
				json_integer((json_int_t)(last - first) * STEP + LENGTH + MARGIN));
			json_object_set_new(slice, "cat", json_string("unit"));
			json_object_set_new(slice, "args",
					    json_pack("{so,so}", "set", value_text(unit->set), "why",
						      value_text(unit->why)));
		}
	}
}

static void add_steps(struct track *t)
{
	for (uint32_t i = 0; i < t->finding->access_count; i++) {
		const struct finding_access *access = &t->finding->accesses[i];
		json_t *locks = json_array();
		json_t *slice = event(t, "X",
				      value_take(mem_textf("%s %s", report_op_text(access->op),
							   access->variable ? access->variable : "memory")),
				      t->lanes.of_step[i], (uint64_t)i * STEP + 2 * MARGIN);

		for (uint32_t k = 0; k < access->lock_count; k++)
			json_array_append_new(locks, value_text(access->locks[k]));
		json_object_set_new(slice, "dur", json_integer(LENGTH - MARGIN));
		json_object_set_new(slice, "cat", json_string("step"));
		json_object_set_new(slice, "args",
				    json_pack("{sI,so,so,sI,so,so,so}", "step", (json_int_t)i + 1, "function",
					      value_text(access->place.function), "file",
					      value_text(report_path(t->options, access->place.file)), "line",
					      (json_int_t)access->place.line, "locks", locks, "note",
					      value_text(access->note), "value", value_text(access->value)));
	}
}

static void add_arrows(struct track *t)
{
	for (uint32_t i = 0; i < t->finding->edge_count; i++) {
		const struct finding_edge *edge = &t->finding->edges[i];

		if (edge->source >= t->finding->access_count || edge->target >= t->finding->access_count)
			continue;
		uint64_t id = ++*t->next_arrow;
		json_t *from = event(t, "s", json_string("conflict"), t->lanes.of_step[edge->source],
				     (uint64_t)edge->source * STEP + LENGTH / 2);
		json_t *to = event(t, "f", json_string("conflict"), t->lanes.of_step[edge->target],
				   (uint64_t)edge->target * STEP + LENGTH / 2);

		json_object_set_new(from, "id", json_integer((json_int_t)id));
		json_object_set_new(to, "id", json_integer((json_int_t)id));
		json_object_set_new(from, "cat", json_string("conflict"));
		json_object_set_new(to, "cat", json_string("conflict"));
		json_object_set_new(to, "bp", json_string("e"));
	}
}

void report_perfetto(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	json_t *events = json_array();
	uint64_t arrows = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		struct track t = {.events = events,
				  .options = options,
				  .finding = &list->findings[i],
				  .process = i + 1,
				  .next_arrow = &arrows};

		report_lanes_init(&t.lanes, t.finding);
		name_tracks(&t);
		add_units(&t);
		add_steps(&t);
		add_arrows(&t);
		report_lanes_release(&t.lanes);
	}
	json_t *root = json_pack("{so,ss}", "traceEvents", events, "displayTimeUnit", "ms");

	json_dumpf(root, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	putc('\n', out);
	json_decref(root);
}
