/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/named.h"

#include "analysis/around.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT 64

uint64_t named_key(const struct history_event *event)
{
	return predict_mix(predict_mix(event->time, event->object), event->kind == HISTORY_WRITE);
}

static uint64_t event_key(uint32_t event, uint32_t variable)
{
	return (uint64_t)event << 32 | variable;
}

/* An access to a part of what was one variable at the time has the name of the whole. */
static uint32_t variable_then(const struct history *h, uint32_t variable, uint32_t event)
{
	return h->events[event].object != variable ? h->events[event].object : variable;
}

void named_seen(struct named *n, const struct load_access *a)
{
	struct history_event key = {.time = (uint32_t)a->access->time,
				    .object = a->variable,
				    .kind = a->write ? HISTORY_WRITE : HISTORY_READ};
	uint32_t event = map_get(&n->wanted, named_key(&key));
	struct finding_list *list = n->list;
	const uint64_t *locks;

	if (!event)
		return;
	if (n->count == n->room) {
		n->room = n->room ? n->room * 2 : 64;
		n->accesses = mem_resize(n->accesses, n->room, sizeof(*n->accesses));
	}
	struct named_access *named = &n->accesses[n->count++];
	char *variable = model_variable_name(a->model, a->access),
	     *set = model_set_name(a->model, a->access->address, a->access->site);
	uint32_t lock_count = model_locks(a->model, a->access->locks, &locks);

	*named = (struct named_access){.variable = finding_text(list, variable),
				       .set = finding_text(list, set),
				       .context = a->access->context,
				       .unit_context = a->context,
				       .rule = a->rule,
				       .site = a->access->site};
	free(variable);
	free(set);
	named->locks = finding_memory(list, lock_count + 1ull, sizeof(*named->locks));
	for (uint32_t i = 0; i < lock_count; i++) {
		char *name = model_lock_name(a->model, locks[i]);

		named->locks[named->lock_count++] = finding_text(list, name);
		free(name);
	}
	named->unit_function = model_context_function(a->model, a->context);
	named->functions = finding_memory(list, DEPTH_LIMIT, sizeof(*named->functions));
	for (uint32_t c = a->access->context; c && named->depth < DEPTH_LIMIT;
	     c = model_context_parent(a->model, c))
		named->functions[named->depth++] = model_context_function(a->model, c);
	map_set(&n->index, event_key(event - 1, a->variable), n->count);
}

void named_want(struct named *n, uint32_t prediction)
{
	const struct prediction *p = &n->predict->predictions[prediction];

	for (uint32_t k = 0; k < p->access_count; k++) {
		const struct history_event *e = &n->predict->history->events[p->accesses[k]];

		if (n->time_count == n->time_room) {
			n->time_room = n->time_room ? n->time_room * 2 : 256;
			n->times = mem_resize(n->times, n->time_room, sizeof(*n->times));
		}
		n->times[n->time_count++] = e->time;
		map_set(&n->wanted, named_key(e), p->accesses[k] + 1);
	}
}

void named_release(struct named *n)
{
	map_release(&n->index);
	map_release(&n->wanted);
	free(n->accesses);
	free(n->times);
}

const struct named_access *named_access(const struct named *n, uint32_t event, uint32_t variable)
{
	uint32_t index =
		map_get(&n->index, event_key(event, variable_then(n->predict->history, variable, event)));

	return index ? &n->accesses[index - 1] : NULL;
}

static struct finding_place function_place(const struct named *n, uint32_t number)
{
	struct finding_place place = {0};
	struct trace_function function;

	if (number && trace_function(n->trace, number, &function, NULL) >= 0) {
		place.function = finding_text(n->list, function.name);
		place.file = finding_text(n->list, function.file);
		place.line = function.line;
	}
	return place;
}

static struct finding_place site_place(const struct named *n, uint32_t number)
{
	struct finding_place place = {0};
	struct trace_site site;

	if (number != TRACE_NO_SITE && trace_site(n->trace, number, &site, NULL) >= 0) {
		place.function = finding_text(n->list, site.function);
		place.file = finding_text(n->list, site.file);
		place.line = site.line;
		place.column = site.column;
	}
	return place;
}

static bool is_loop(const struct named *n, uint32_t number)
{
	struct trace_function function;

	return number && trace_function(n->trace, number, &function, NULL) >= 0 &&
	       function.flags & ATOMSAN_FN_LOOP;
}

static const char *thread_name(const struct named *n, uint32_t event)
{
	return finding_text(n->list, trace_thread_name(n->trace, n->predict->history->events[event].thread));
}

/* The finding's unit that the access belongs to: one for each thread of the pattern. */
static uint32_t unit_of(const struct prediction *p, const struct history *h, uint32_t access)
{
	uint32_t unit = 0;

	for (uint32_t i = 0; i < access; i++) {
		uint32_t earlier = 0;

		if (h->events[p->accesses[i]].thread == h->events[p->accesses[access]].thread)
			return unit_of(p, h, i);
		while (earlier < i &&
		       h->events[p->accesses[earlier]].thread != h->events[p->accesses[i]].thread)
			earlier++;
		unit += earlier == i;
	}
	return unit;
}

static void tell_unit(const struct named *n, const struct prediction *p, uint32_t access, struct finding *f)
{
	const struct named_access *a = named_access(n, p->accesses[access], p->variables[access]);
	struct finding_unit *unit = finding_add_unit(n->list, f);

	*unit = (struct finding_unit){.thread = thread_name(n, p->accesses[access])};
	if (!a)
		return;
	unit->place =
		a->rule == MODEL_RULE_NONE ? site_place(n, a->site) : function_place(n, a->unit_function);
	unit->set = a->set;
	unit->why = model_rule_text(a->rule);
}

static void tell_access(const struct named *n, const struct prediction *p, uint32_t access, struct finding *f)
{
	const struct history_event *e = &n->predict->history->events[p->accesses[access]];
	const struct named_access *a = named_access(n, p->accesses[access], p->variables[access]);
	struct finding_access *told = finding_add_access(n->list, f);

	told->unit = unit_of(p, n->predict->history, access);
	told->op = e->kind == HISTORY_READ ? 'R' : 'W';
	told->thread = f->units[told->unit].thread;
	told->place = site_place(n, e->site);
	told->variable = a ? a->variable : "?";
	finding_add_variable(n->list, f, told->variable);
	if (!a)
		return;
	for (uint32_t i = 0; i < a->lock_count; i++)
		finding_add_lock(n->list, told, a->locks[i]);
	finding_add_frame(n->list, told, told->place);
	for (uint32_t i = 0; i < a->depth; i++) {
		struct finding_place place = function_place(n, a->functions[i]);

		if (is_loop(n, a->functions[i]) || (!i && place.function && told->place.function &&
						    !strcmp(place.function, told->place.function)))
			continue;
		finding_add_frame(n->list, told, place);
	}
}

static void tell_lock_step(const struct named *n, const struct prediction *p, const struct around_step *step,
			   struct finding *f)
{
	struct finding_access *told = finding_add_access(n->list, f);

	told->unit = unit_of(p, n->predict->history, step->access);
	told->op = step->taken ? 'L' : 'A';
	told->variable = step->lock;
	told->thread = f->units[told->unit].thread;
	told->place = site_place(n, n->predict->history->events[step->event].site);
}

/* The accesses in the order of the interleaving, and the locks around them. Fills in where each access is
 * told. */
static void tell_steps(const struct named *n, const struct prediction *p, struct finding *f, uint32_t *told)
{
	struct around around = {0};
	uint32_t step = 0;

	around_find(&around, n, p);
	for (uint32_t i = 0; i < p->access_count; i++) {
		for (; step < around.count && around.steps[step].access == i && around.steps[step].taken;
		     step++)
			tell_lock_step(n, p, &around.steps[step], f);
		told[i] = f->access_count;
		tell_access(n, p, i, f);
		for (; step < around.count && around.steps[step].access == i; step++)
			tell_lock_step(n, p, &around.steps[step], f);
	}
	around_release(&around);
}

/* Two accesses of different units to one variable, one of them a write. */
static bool conflict(const struct named *n, const struct prediction *p, uint32_t a, uint32_t b)
{
	const struct history_event *events = n->predict->history->events;

	return p->variables[a] == p->variables[b] &&
	       events[p->accesses[a]].thread != events[p->accesses[b]].thread &&
	       (events[p->accesses[a]].kind == HISTORY_WRITE || events[p->accesses[b]].kind == HISTORY_WRITE);
}

static double confidence_of(uint32_t rule)
{
	switch (rule) {
	case MODEL_RULE_DECLARED:
	case MODEL_RULE_UNITFOR:
		return 0.9;
	case MODEL_RULE_RECEIVER:
	case MODEL_RULE_HOLDER:
	case MODEL_RULE_SECTION:
		return 0.8;
	case MODEL_RULE_FILE:
		return 0.7;
	case MODEL_RULE_DIRECT:
	case MODEL_RULE_CALLS:
		return 0.6;
	default:
		return 0.5;
	}
}

static void tell_summary(const struct named *n, const struct prediction *p, const uint32_t *told,
			 struct finding *f)
{
	const struct named_access *a = named_access(n, p->accesses[0], p->variables[0]);
	const struct finding_unit *unit = &f->units[0];
	const struct finding_place *first = &f->accesses[told[0]].place, *last = NULL;
	char pattern[64];

	f->kind = FINDING_ATOMICITY;
	f->state = p->seen ? FINDING_OBSERVED : FINDING_PREDICTED;
	predict_pattern_text(n->predict, p, pattern);
	f->pattern = finding_text(n->list, pattern);
	f->confidence = a ? confidence_of(a->rule) : 0.5;
	f->title = finding_textf(n->list, "%s%s is not atomic over %s",
				 a && is_loop(n, a->unit_function) ? "an iteration of the loop in " : "",
				 unit->place.function ? unit->place.function : "a unit of work",
				 unit->set ? unit->set : "its data");
	for (uint32_t i = 1; i < p->access_count; i++)
		if (!f->accesses[told[i]].unit)
			last = &f->accesses[told[i]].place;
	if (p->inside)
		f->advice = finding_textf(
			n->list,
			"The read and the write of line %u of %s must be one atomic operation, or "
			"every access must hold the same lock.",
			first->line, first->file ? first->file : "?");
	else if (last && first->line && last->line)
		f->advice = finding_textf(
			n->list,
			"One lock must be held from line %u of %s to line %u of %s without being released.",
			first->line, first->file ? first->file : "?", last->line,
			last->file ? last->file : "?");
}

void named_tell(const struct named *n, const struct prediction *p, struct finding *f)
{
	const struct history *h = n->predict->history;
	uint32_t told[PREDICT_MAX_ACCESSES];

	for (uint32_t i = 0; i < p->access_count; i++)
		if (unit_of(p, h, i) == f->unit_count)
			tell_unit(n, p, i, f);
	tell_steps(n, p, f, told);
	for (uint32_t i = 0; i < p->access_count; i++)
		for (uint32_t k = i + 1; k < p->access_count; k++)
			if (conflict(n, p, i, k))
				finding_add_edge(n->list, f,
						 (struct finding_edge){.from = f->accesses[told[i]].unit,
								       .to = f->accesses[told[k]].unit,
								       .source = told[i],
								       .target = told[k]});
	tell_summary(n, p, told, f);
	finding_identify(f);
}

const char *named_variable(const struct named *n, const struct prediction *p, uint32_t access)
{
	const struct named_access *a =
		access < p->access_count ? named_access(n, p->accesses[access], p->variables[access]) : NULL;

	return a ? a->variable : "?";
}

char *named_note(const struct named *n, uint32_t event, const char *variable)
{
	const struct history_event *e = &n->predict->history->events[event];
	struct trace_site site = {0};

	if (e->site != TRACE_NO_SITE)
		trace_site(n->trace, e->site, &site, NULL);
	return mem_textf("%s %s:%u %s %s", site.function ? site.function : "?", site.file ? site.file : "?",
			 site.line, e->kind == HISTORY_READ ? "reads" : "writes", variable);
}
