/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/cycle.h"

#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

/* What a unit is known by: its function, or the place of a single access. */
static uint64_t place_of(const struct model *model, const struct check_edge *edge)
{
	if (edge->from.rule == MODEL_RULE_NONE)
		return (uint64_t)(edge->program_order ? 0 : edge->source.site & ~MODEL_SOMEWHERE) << 32;
	return model_context_function(model, edge->from.context);
}

/* All accesses of a cycle are to one set. The latest of them has most likely not been freed since, and what
 * lay where others were may be something else by now. */
static char *cycle_set(const struct model *model, const struct check_cycle *cycle)
{
	const struct check_access_tag *latest = NULL;

	for (uint32_t i = 0; i < cycle->length; i++)
		if (!cycle->edges[i].program_order && (!latest || cycle->edges[i].target.time > latest->time))
			latest = &cycle->edges[i].target;
	return latest ? model_set_name(model, latest->address, latest->site & ~MODEL_SOMEWHERE)
		      : mem_text("?");
}

static uint64_t key_of(const struct model *model, const struct check_cycle *cycle, bool every_unit)
{
	char *set = cycle_set(model, cycle);
	uint64_t key = hash_text(set), places = 0;

	free(set);
	/* A sum, so that it does not matter with which unit the cycle begins. */
	for (uint32_t i = 0; i < cycle->length; i++) {
		uint64_t place = place_of(model, &cycle->edges[i]);
		uint32_t earlier = 0;

		while (!every_unit && earlier < i && place_of(model, &cycle->edges[earlier]) != place)
			earlier++;
		if (every_unit || earlier == i)
			places += map_hash(place + 1);
	}
	return map_hash(key ^ places);
}

uint64_t cycle_key(const struct model *model, const struct check_cycle *cycle)
{
	return key_of(model, cycle, false);
}

uint64_t cycle_shape(const struct model *model, const struct check_cycle *cycle)
{
	return key_of(model, cycle, true);
}

/*
 * Units of one thread that follow each other in a cycle follow each other in
 * the thread: the first and the last of them say as much.
 */
uint32_t cycle_shorten(const struct check_cycle *cycle, struct check_edge *edges)
{
	uint32_t start = 0, count = 0, length = cycle->length;

	/* Begin where the thread changes, lest a run goes over the end. */
	while (start < length &&
	       cycle->edges[start].from.thread == cycle->edges[(start + length - 1) % length].from.thread)
		start++;
	for (uint32_t i = 0; i < length; i++) {
		const struct check_edge *edge = &cycle->edges[(start + i) % length];
		const struct check_edge *last = count ? &edges[count - 1] : NULL;

		if (last && last->from.thread == last->to.thread && edge->from.thread == edge->to.thread &&
		    last->to.thread == edge->from.thread) {
			edges[count - 1].to = edge->to;
			edges[count - 1].program_order = true;
		} else {
			edges[count++] = *edge;
		}
	}
	return count;
}

struct teller {
	const struct trace *trace;
	const struct model *model;
	const struct locking *locking;
	const struct check_cycle *cycle;
	struct finding_list *list;
	struct finding *finding;
	struct check_access_tag *accesses; /* that the edges are made of, in their order */
	uint32_t access_count;
	uint32_t *told; /* where each of them is among the finding's */
};

/* A lock that is taken or given up around an access of a unit. */
struct lock_step {
	const struct locking_op *op;
	uint32_t unit;
};

struct lock_steps {
	struct lock_step *steps;
	uint32_t count, room;
};

static struct finding_place function_place(struct teller *t, uint32_t number)
{
	struct finding_place place = {0};
	struct trace_function function;

	if (number && trace_function(t->trace, number, &function, NULL) >= 0) {
		place.function = finding_text(t->list, function.name);
		place.file = finding_text(t->list, function.file);
		place.line = function.line;
	}
	return place;
}

static struct finding_place site_place(struct teller *t, uint32_t number)
{
	struct finding_place place = {0};
	struct trace_site site;

	if (number != TRACE_NO_SITE && trace_site(t->trace, number, &site, NULL) >= 0) {
		place.function = finding_text(t->list, site.function);
		place.file = finding_text(t->list, site.file);
		place.line = site.line;
		place.column = site.column;
	}
	return place;
}

/* Where it is, or the function in which it is somewhere. */
static struct finding_place access_place(struct teller *t, const struct check_access_tag *tag)
{
	return tag->site & MODEL_SOMEWHERE ? function_place(t, model_context_function(t->model, tag->context))
					   : site_place(t, tag->site);
}

static bool has_flag(struct teller *t, uint32_t number, unsigned flag)
{
	struct trace_function function;

	return trace_function(t->trace, number, &function, NULL) >= 0 && function.flags & flag;
}

/* The unit's edge out of it says where a single access happened. */
static void tell_unit(struct teller *t, uint32_t index)
{
	const struct check_edge *edge = &t->cycle->edges[index];
	struct finding_unit *unit = finding_add_unit(t->list, t->finding);
	char *set = cycle_set(t->model, t->cycle);

	if (edge->from.rule == MODEL_RULE_NONE && !edge->program_order)
		unit->place = access_place(t, &edge->source);
	else
		unit->place = function_place(t, model_context_function(t->model, edge->from.context));
	unit->thread = finding_text(t->list, trace_thread_name(t->trace, edge->from.thread));
	unit->set = finding_text(t->list, set);
	unit->why = model_rule_text(edge->from.rule);
	free(set);
}

static int by_time(const void *a, const void *b)
{
	const struct check_access_tag *x = a, *y = b;

	return x->time != y->time ? (x->time > y->time) - (x->time < y->time)
				  : (x->address > y->address) - (x->address < y->address);
}

static uint32_t unit_of_access(struct teller *t, const struct check_access_tag *access)
{
	for (uint32_t i = 0; i < t->cycle->length; i++) {
		const struct check_edge *edge = &t->cycle->edges[i];

		if (edge->program_order)
			continue;
		if (!by_time(&edge->source, access) && edge->source.site == access->site)
			return i;
		if (!by_time(&edge->target, access) && edge->target.site == access->site)
			return (i + 1) % t->cycle->length;
	}
	return FINDING_NO_UNIT;
}

static bool reads(const struct check_access_tag *tag)
{
	return tag->op == MODEL_READ || tag->op == MODEL_READ_AGAIN;
}

static void tell_access(struct teller *t, const struct check_access_tag *tag)
{
	struct finding_access *access = finding_add_access(t->list, t->finding);
	struct model_access as_model = {.site = tag->site & ~MODEL_SOMEWHERE, .address = tag->address};
	char *variable = model_variable_name(t->model, &as_model);
	const uint64_t *locks;
	uint32_t count = model_locks(t->model, tag->locks, &locks), unit = unit_of_access(t, tag);

	access->unit = unit;
	access->op = tag->op == MODEL_UPDATE ? 'U' : reads(tag) ? 'R' : 'W';
	access->variable = finding_text(t->list, variable);
	access->place = access_place(t, tag);
	if (unit != FINDING_NO_UNIT)
		access->thread = t->finding->units[unit].thread;
	finding_add_variable(t->list, t->finding, variable);
	free(variable);
	for (uint32_t i = 0; i < count; i++) {
		char *name = model_lock_name(t->model, locks[i]);

		finding_add_lock(t->list, access, name);
		free(name);
	}
	/* The innermost frame is where the access is; of the others their function is known. */
	finding_add_frame(t->list, access, access->place);
	for (uint32_t context = tag->context, first = 1; context;
	     context = model_context_parent(t->model, context), first = 0) {
		uint32_t function = model_context_function(t->model, context);
		struct finding_place place = function_place(t, function);

		if (has_flag(t, function, ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT) ||
		    (first && place.function && access->place.function &&
		     !strcmp(place.function, access->place.function)))
			continue;
		finding_add_frame(t->list, access, place);
	}
}

static uint32_t access_index(struct teller *t, const struct check_access_tag *tag)
{
	for (uint32_t i = 0; i < t->access_count; i++)
		if (!by_time(&t->accesses[i], tag) && t->accesses[i].site == tag->site)
			return t->told[i];
	return 0;
}

static void add_lock_step(struct lock_steps *steps, const struct locking_op *op, uint32_t unit)
{
	for (uint32_t i = 0; i < steps->count; i++)
		if (steps->steps[i].op == op)
			return;
	if (steps->count == steps->room) {
		steps->room = steps->room ? steps->room * 2 : 8;
		steps->steps = mem_resize(steps->steps, steps->room, sizeof(*steps->steps));
	}
	steps->steps[steps->count++] = (struct lock_step){.op = op, .unit = unit};
}

/*
 * Where the critical sections around the accesses begin, and where they end if
 * they do before the last one. What a thread does with its locks between two
 * accesses in different sections goes without saying.
 */
static void find_lock_steps(struct teller *t, struct lock_steps *steps)
{
	uint64_t end = t->access_count ? t->accesses[t->access_count - 1].time : 0;

	for (uint32_t i = 0; i < t->access_count; i++) {
		const struct check_access_tag *tag = &t->accesses[i];
		uint32_t unit = unit_of_access(t, tag);
		const uint64_t *locks;
		uint32_t count = model_locks(t->model, tag->locks, &locks);

		for (uint32_t k = 0; k < count && unit != FINDING_NO_UNIT; k++) {
			uint32_t thread = t->cycle->edges[unit].from.thread;
			const struct locking_op *taken =
				locking_taken(t->locking, thread, locks[k], tag->time);
			const struct locking_op *given =
				locking_given_up(t->locking, thread, locks[k], tag->time);

			if (taken)
				add_lock_step(steps, taken, unit);
			if (given && given->time < end)
				add_lock_step(steps, given, unit);
		}
	}
}

static int by_lock_time(const void *a, const void *b)
{
	const struct lock_step *x = a, *y = b;

	return (x->op->time > y->op->time) - (x->op->time < y->op->time);
}

static void tell_lock_step(struct teller *t, const struct lock_step *step)
{
	struct finding_access *access = finding_add_access(t->list, t->finding);
	char *name = model_lock_name(t->model, step->op->address);

	access->unit = step->unit;
	access->op = step->op->taken ? 'L' : 'A';
	access->variable = finding_text(t->list, name);
	access->place = site_place(t, step->op->site);
	access->thread = t->finding->units[step->unit].thread;
	free(name);
}

/* The accesses of all edges, in the order in which they happened, each once, and the locks around them. */
static void tell_accesses(struct teller *t)
{
	struct lock_steps locks = {0};
	uint32_t count = 0, kept = 0, lock = 0;

	t->accesses = mem_zalloc(2 * (size_t)t->cycle->length + 1, sizeof(*t->accesses));
	t->told = mem_zalloc(2 * (size_t)t->cycle->length + 1, sizeof(*t->told));
	for (uint32_t i = 0; i < t->cycle->length; i++)
		if (!t->cycle->edges[i].program_order) {
			t->accesses[count++] = t->cycle->edges[i].source;
			t->accesses[count++] = t->cycle->edges[i].target;
		}
	qsort(t->accesses, count, sizeof(*t->accesses), by_time);
	for (uint32_t i = 0; i < count; i++)
		if (!kept || by_time(&t->accesses[kept - 1], &t->accesses[i]))
			t->accesses[kept++] = t->accesses[i];
	t->access_count = kept;
	find_lock_steps(t, &locks);
	if (locks.count)
		qsort(locks.steps, locks.count, sizeof(*locks.steps), by_lock_time);
	for (uint32_t i = 0; i < kept; i++) {
		while (lock < locks.count && locks.steps[lock].op->time < t->accesses[i].time)
			tell_lock_step(t, &locks.steps[lock++]);
		t->told[i] = t->finding->access_count;
		tell_access(t, &t->accesses[i]);
	}
	free(locks.steps);
}

static void tell_edges(struct teller *t)
{
	for (uint32_t i = 0; i < t->cycle->length; i++) {
		const struct check_edge *edge = &t->cycle->edges[i];
		struct finding_edge told = {.from = i, .to = (i + 1) % t->cycle->length};

		told.source = edge->program_order ? FINDING_NO_ACCESS : access_index(t, &edge->source);
		told.target = edge->program_order ? FINDING_NO_ACCESS : access_index(t, &edge->target);
		finding_add_edge(t->list, t->finding, told);
	}
}

/* The unit that others came into: it acts before them and after them. One that comes in between whole is left
 * before it is entered, too, if it conflicts by two accesses; but then nobody is between these two. */
static uint32_t broken_unit(const struct check_cycle *cycle)
{
	uint32_t left_first = cycle->length;

	for (uint32_t i = 0; i < cycle->length; i++) {
		const struct check_edge *out = &cycle->edges[i];
		const struct check_edge *in = &cycle->edges[(i + cycle->length - 1) % cycle->length];

		if (out->from.rule == MODEL_RULE_NONE || out->program_order || in->program_order ||
		    out->source.time >= in->target.time)
			continue;
		if (out->target.time < in->target.time || in->source.time > out->source.time)
			return i;
		if (left_first == cycle->length)
			left_first = i;
	}
	return left_first == cycle->length ? 0 : left_first;
}

/* Three accesses of one location, two of one unit around one of another, have a name. */
static const char *pattern_of(struct teller *t, uint32_t broken)
{
	const struct check_edge *out = &t->cycle->edges[broken], *in = &t->cycle->edges[(broken + 1) % 2];
	char first, middle, last;

	if (t->cycle->length != 2 || out->program_order || in->program_order ||
	    out->source.address != in->target.address || out->target.time != in->source.time)
		return "cycle";
	first = reads(&out->source) ? 'R' : 'W';
	middle = reads(&out->target) ? 'R' : 'W';
	last = reads(&in->target) ? 'R' : 'W';
	return finding_textf(t->list, "%c%c%c", first, middle, last);
}

static double confidence_of(uint32_t rule)
{
	switch (rule) {
	case MODEL_RULE_DECLARED:
	case MODEL_RULE_UNITFOR:
		return 1.0;
	case MODEL_RULE_RECEIVER:
	case MODEL_RULE_HOLDER:
	case MODEL_RULE_SECTION:
		return 0.9;
	case MODEL_RULE_ARGUMENT:
	case MODEL_RULE_FILE:
		return 0.8;
	case MODEL_RULE_DIRECT:
	case MODEL_RULE_CALLS:
		return 0.7;
	default:
		return 0.6;
	}
}

static void tell_summary(struct teller *t)
{
	uint32_t broken = broken_unit(t->cycle), first = 0, last = 0;
	struct finding *finding = t->finding;
	const struct finding_unit *unit = &finding->units[broken];
	const char *name = unit->place.function ? unit->place.function : "a unit of work";
	bool loop = has_flag(t, model_context_function(t->model, t->cycle->edges[broken].from.context),
			     ATOMSAN_FN_LOOP),
	     any = false;

	finding->kind = FINDING_ATOMICITY;
	finding->state = FINDING_OBSERVED;
	finding->pattern = pattern_of(t, broken);
	finding->confidence = confidence_of(t->cycle->edges[broken].from.rule);
	finding->title = loop ? finding_textf(t->list, "an iteration of the loop in %s is not atomic over %s",
					      name, unit->set)
			      : finding_textf(t->list, "%s is not atomic over %s", name, unit->set);
	for (uint32_t i = 0; i < finding->access_count; i++)
		if (finding->accesses[i].unit == broken && !strchr("LA", finding->accesses[i].op)) {
			if (!any)
				first = i;
			last = i;
			any = true;
		}
	if (any && first != last && finding->accesses[first].place.line && finding->accesses[last].place.line)
		finding->advice = finding_textf(
			t->list,
			"One lock must be held from line %u of %s to line %u of %s without being released.",
			finding->accesses[first].place.line,
			finding->accesses[first].place.file ? finding->accesses[first].place.file : "?",
			finding->accesses[last].place.line,
			finding->accesses[last].place.file ? finding->accesses[last].place.file : "?");
}

void cycle_tell(const struct trace *trace, const struct model *model, const struct locking *locking,
		struct values *values, const struct check_cycle *cycle, struct finding_list *list,
		struct finding *finding)
{
	/* The cycle as it begins with the unit that the finding is about, which is where people look first.
	 */
	struct check_edge *edges = mem_zalloc(cycle->length + 1ull, sizeof(*edges));
	struct check_cycle begun = {.edges = edges, .length = cycle->length, .again = cycle->again};
	struct teller t = {.trace = trace,
			   .model = model,
			   .locking = locking,
			   .cycle = &begun,
			   .list = list,
			   .finding = finding};

	for (uint32_t i = 0, first = broken_unit(cycle); i < cycle->length; i++)
		edges[i] = cycle->edges[(first + i) % cycle->length];

	for (uint32_t i = 0; i < begun.length; i++)
		tell_unit(&t, i);
	tell_accesses(&t);
	tell_edges(&t);
	tell_summary(&t);
	finding_identify(finding);
	/* From here on they stay where they are. */
	for (uint32_t i = 0; i < t.access_count; i++)
		values_want(values, &finding->accesses[t.told[i]], t.accesses[i].time);
	free(t.accesses);
	free(t.told);
	free(edges);
}
