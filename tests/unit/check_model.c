/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* See check_model.h. */
#include "check_model.h"

#include <stddef.h>
#include <string.h>

#define WRONG(model, text)                       \
	do {                                     \
		if (!(model)->wrong)             \
			(model)->wrong = (text); \
	} while (0)

static uint32_t draw(struct model *model, uint32_t below)
{
	model->random ^= model->random << 13;
	model->random ^= model->random >> 7;
	model->random ^= model->random << 17;
	return (uint32_t)((model->random >> 16) % below);
}

static uint32_t root(struct model *model, uint32_t set)
{
	while (model->parent[set] != set)
		set = model->parent[set];
	return set;
}

static struct check_unit_tag unit_tag(struct model *model, uint32_t unit, int engine)
{
	struct model_unit *at = &model->units[unit];

	return (struct check_unit_tag){.thread = at->thread,
				       .context = at->begin * 3,
				       .rule = at->unary,
				       .set = model->sets[root(model, at->set)][engine],
				       .begin = at->begin};
}

static struct check_access_tag access_tag(struct model *model, uint32_t time)
{
	struct model_access *at = &model->accesses[time];

	return (struct check_access_tag){.site = at->location,
					 .context = time * 3,
					 .locks = time * 5,
					 .op = at->write,
					 .time = time,
					 .address = 0x1000 + at->location};
}

/* Length of a shortest way along the edges of the order, implied ones left out; 0: there is none. */
static uint32_t distance(struct model *model, uint32_t from, uint32_t to)
{
	static uint32_t queue[MODEL_UNITS], far[MODEL_UNITS];
	uint32_t count = 1, at, next;

	memset(far, 0, sizeof(far));
	queue[0] = from;
	for (at = 0; at < count; at++) {
		for (next = 0; next < model->unit_count; next++) {
			if (!model->kept[queue[at]][next] || model->implied[queue[at]][next] || far[next] ||
			    next == from)
				continue;
			far[next] = far[queue[at]] + 1;
			if (next == to)
				return far[next];
			queue[count++] = next;
		}
	}
	return 0;
}

/* Did the two accesses meet on one location, and was one of them a write? */
static bool conflict(struct model *model, uint64_t source, uint64_t target)
{
	struct model_access *second = &model->accesses[target];
	struct model_location *location = &model->locations[second->location];
	uint32_t i;

	if (source >= target || (!model->accesses[source].write && !second->write))
		return false;
	/* A split copies the history, so the access is in it whatever its location was called. */
	for (i = second->first; i < location->count; i++)
		if (model->history[second->location][i] == source)
			return true;
	return false;
}

static bool same_tag(const struct check_access_tag *a, struct model *model)
{
	struct check_access_tag b;

	if (a->time >= MODEL_EVENTS)
		return false;
	b = access_tag(model, (uint32_t)a->time);
	return a->site == b.site && a->context == b.context && a->locks == b.locks && a->op == b.op &&
	       a->address == b.address;
}

/*
 * Without program order a unary write or read stands for the same one again by
 * the same thread, if nothing that comes after this one does not come after it.
 */
static bool stands_for(struct model *model, uint32_t told, uint32_t unit)
{
	return told == unit ||
	       (!model->program_order && model->units[told].unary && model->units[unit].unary &&
		model->units[told].thread == model->units[unit].thread && distance(model, told, unit));
}

/* The unit of a tag, which must be the tag that was given. */
static uint32_t unit_told(struct model *model, const struct check_unit_tag *tag)
{
	uint32_t unit = tag->begin < MODEL_EVENTS ? model->begun[tag->begin] : 0;

	if (!unit--) {
		WRONG(model, "a cycle names a unit that there never was");
		return 0;
	}
	if (tag->thread != model->units[unit].thread || tag->rule != model->units[unit].unary ||
	    tag->context != tag->begin * 3)
		WRONG(model, "a unit's tag is not what was given");
	return unit;
}

/* Other pairs of the same two units conflict as well, on other locations. */
static void check_more_is_real(struct model *model, const struct check_edge *edge, uint32_t from, uint32_t to)
{
	uint32_t i, k;

	if (edge->more_count >= CHECK_PAIRS)
		WRONG(model, "an edge has more pairs of accesses than it may have");
	for (i = 0; i < edge->more_count && !model->wrong; i++) {
		const struct check_pair *pair = &edge->more[i];

		model->more_pairs++;
		if (!same_tag(&pair->source, model) || !same_tag(&pair->target, model)) {
			WRONG(model, "an access's tag is not what was given");
			return;
		}
		/* Unary accesses that were put together are one unit. */
		if ((model->accesses[pair->source.time].unit != from && !model->units[from].unary) ||
		    (model->accesses[pair->target.time].unit != to && !model->units[to].unary))
			WRONG(model, "a pair's accesses are not the edge's units'");
		if (!conflict(model, pair->source.time, pair->target.time))
			WRONG(model, "a pair's accesses do not conflict");
		if (pair->source.address == edge->source.address)
			WRONG(model, "an edge has a location twice");
		for (k = 0; k < i; k++)
			if (pair->source.address == edge->more[k].source.address)
				WRONG(model, "an edge has a location twice");
	}
}

/* The closing edge is none of the order; all others must be. */
static void check_edge_is_real(struct model *model, const struct check_edge *edge, bool closing)
{
	uint32_t from = unit_told(model, &edge->from), to = unit_told(model, &edge->to);

	if (edge->program_order) {
		if (closing || !model->program_order || !model->po[from][to])
			WRONG(model, "a cycle has program order where there is none");
		return;
	}
	if (!same_tag(&edge->source, model) || !same_tag(&edge->target, model)) {
		WRONG(model, "an access's tag is not what was given");
		return;
	}
	if (model->accesses[edge->source.time].unit != from || model->accesses[edge->target.time].unit != to)
		WRONG(model, "an edge's accesses are not its units'");
	if (!conflict(model, edge->source.time, edge->target.time))
		WRONG(model, "an edge's accesses do not conflict");
	check_more_is_real(model, edge, from, to);
	if (!closing && !model->kept[from][to] &&
	    !(!model->program_order && model->units[from].unary && distance(model, from, to)))
		WRONG(model, "a cycle has an edge that the order has not");
}

static void take_report(struct model *model, int engine, const struct check_cycle *cycle)
{
	const struct check_edge *closing = cycle->edges;
	uint32_t from = unit_told(model, &closing->from), to = unit_told(model, &closing->to);
	uint32_t i, far;

	model->reports[engine] += !cycle->again;
	for (i = 0; i < cycle->length; i++) {
		check_edge_is_real(model, &cycle->edges[i], !i);
		if (!engine && cycle->edges[i].to.begin != cycle->edges[(i + 1) % cycle->length].from.begin)
			WRONG(model, "a cycle does not close");
	}
	if (model->wrong)
		return;
	if (cycle->again) {
		/* The edge was refused before, and the access at hand is new to it. */
		model->told_again++;
		if (engine || !model->told[0][from][to] || !closing->more_count ||
		    closing->more[0].target.time != model->time)
			WRONG(model, "a cycle is told again without a reason");
		return;
	}
	if (to != model->current || closing->target.time != model->time)
		WRONG(model, "a cycle is closed by another access than the one at hand");
	for (i = 0; i < model->refused_count && !stands_for(model, from, model->refused[i]); i++)
		;
	if (i == model->refused_count)
		WRONG(model, "an edge is refused that closes no cycle");
	if (!engine && model->told[0][from][to])
		WRONG(model, "a pair of units is reported again");
	model->told[engine][from][to] = true;
	if (model->units[from].unary)
		model->told_unary[engine][to][model->units[from].thread] = true;
	if (engine)
		return;
	if (cycle->length < 2)
		WRONG(model, "a cycle has one edge");
	model->cycles_longer_than_two += cycle->length > 2;
	/* Several steps of program order are told as one. A row of unary accesses is entered at its
	 * first one, from where it takes a step to the others. */
	far = distance(model, to, from) + 1;
	for (i = 0; i < cycle->length; i++)
		far += cycle->edges[i].from.rule;
	if (cycle->length > far || (!model->unary_count && !model->program_order && cycle->length < far))
		WRONG(model, "there is a shorter cycle");
}

static void graph_violation(void *user, const struct check_cycle *cycle)
{
	take_report(user, 0, cycle);
}

/* Two units with an edge between them have one more pair of accesses. */
static void graph_conflict(void *user, const struct check_unit_tag *from, const struct check_unit_tag *to,
			   const struct check_pair *pair)
{
	struct model *model = user;
	uint32_t source, target = unit_told(model, to);

	if (!same_tag(&pair->source, model) || !same_tag(&pair->target, model)) {
		WRONG(model, "an access's tag is not what was given");
		return;
	}
	source = model->accesses[pair->source.time].unit;
	model->conflicts++;
	if (target != model->current || pair->target.time != model->time ||
	    model->units[source].thread != from->thread || !conflict(model, pair->source.time, model->time))
		WRONG(model, "a pair's accesses do not conflict");
}

static void aerodrome_violation(void *user, const struct check_cycle *cycle)
{
	take_report(user, 1, cycle);
}

struct model *model_new(uint64_t seed, bool program_order)
{
	static struct model one;
	struct model *model = &one;

	model->seed = seed;
	model->random = (seed + 1) * 0x9e3779b97f4a7c15u;
	model->program_order = program_order;
	model->configs[0] = (struct check_config){CHECK_CONFLICT_GRAPH, program_order, graph_violation, model,
						  graph_conflict};
	model->configs[1] =
		(struct check_config){CHECK_AERODROME, program_order, aerodrome_violation, model, NULL};
	model->engines[0] = check_new(&model->configs[0]);
	model->engines[1] = check_new(&model->configs[1]);
	return model;
}

void model_free(struct model *model)
{
	uint32_t i;

	check_free(model->engines[0]);
	check_free(model->engines[1]);
	for (i = 0; i < model->unit_count; i++) {
		memset(model->kept[i], 0, model->unit_count);
		memset(model->implied[i], 0, model->unit_count);
		memset(model->po[i], 0, model->unit_count);
		memset(model->told[0][i], 0, model->unit_count);
		memset(model->told[1][i], 0, model->unit_count);
	}
	memset(model, 0, offsetof(struct model, kept));
}

static uint32_t unit_new(struct model *model, uint32_t thread, uint32_t set, bool unary)
{
	uint32_t unit = model->unit_count++;
	uint32_t i, j;

	model->units[unit] = (struct model_unit){
		.thread = thread, .set = set, .begin = model->time, .unary = unary, .open = !unary};
	model->begun[model->time] = unit + 1;
	model->unary_count += unary;
	for (i = 0; model->program_order && i < unit; i++) {
		if (model->units[i].open || model->units[i].thread != thread ||
		    root(model, model->units[i].set) != root(model, set))
			continue;
		model->kept[i][unit] = model->po[i][unit] = true;
		if (model->exhaustive)
			model->before[unit] |= 1ull << i;
		for (j = 0; j < i; j++)
			model->implied[j][unit] |= model->po[j][unit] && model->po[j][i];
	}
	return unit;
}

static void begin(struct model *model, uint32_t thread, uint32_t set)
{
	struct check_unit_tag tag;
	uint32_t unit;
	int i;

	model->time++;
	unit = unit_new(model, thread, set, false);
	model->open[set][thread] = unit + 1;
	for (i = 0; i < 2; i++) {
		tag = unit_tag(model, unit, i);
		model->units[unit].handles[i] = check_unit_begin(model->engines[i], &tag);
	}
}

static void end(struct model *model, uint32_t thread, uint32_t set)
{
	uint32_t unit = model->open[set][thread] - 1;
	int i;

	model->open[set][thread] = 0;
	model->units[unit].open = false;
	for (i = 0; i < 2; i++)
		check_unit_end(model->engines[i], model->units[unit].handles[i]);
}

/* One unit after the other, in any order that keeps conflicting accesses in theirs? */
static bool serializable(struct model *model, uint64_t done, uint8_t *seen)
{
	uint32_t unit;

	if (done == (1ull << model->unit_count) - 1)
		return true;
	if (seen[done / 8] & 1 << done % 8)
		return false;
	seen[done / 8] |= 1 << done % 8;
	for (unit = 0; unit < model->unit_count; unit++)
		if (!(done >> unit & 1) && !(model->before[unit] & ~done) &&
		    serializable(model, done | 1ull << unit, seen))
			return true;
	return false;
}

/* The verdict for all sets together; each is judged until it is violated, then left out. */
static bool still_serializable(struct model *model, uint32_t set)
{
	static uint8_t seen[1 << 13];
	uint64_t saved[64];
	uint32_t i;
	bool result;

	memcpy(saved, model->before, sizeof(saved));
	for (i = 0; i < model->unit_count; i++)
		if (root(model, model->units[i].set) != set)
			model->before[i] = 0;
	memset(seen, 0, sizeof(seen));
	result = serializable(model, 0, seen);
	memcpy(model->before, saved, sizeof(saved));
	return result;
}

static void try_edge(struct model *model, uint32_t from)
{
	uint32_t to = model->current;

	if (from == to)
		return;
	model->implied[from][to] = false;
	if (model->kept[from][to])
		return;
	if (distance(model, to, from))
		model->refused[model->refused_count++] = from;
	else
		model->kept[from][to] = true;
}

/* The edges that the access makes: Definition 2 of the paper, from the location's history. */
static void make_edges(struct model *model, uint32_t number, bool write)
{
	struct model_location *location = &model->locations[number];
	uint32_t *history = model->history[number];
	uint32_t i;

	model->refused_count = 0;
	for (i = location->count; i-- > location->first;) {
		struct model_access *earlier = &model->accesses[history[i]];

		if (earlier->write || write)
			try_edge(model, earlier->unit);
		if (earlier->write)
			break;
	}
	for (i = location->first; model->exhaustive && i < location->count; i++) {
		struct model_access *earlier = &model->accesses[history[i]];

		if ((earlier->write || write) && earlier->unit != model->current)
			model->before[model->current] |= 1ull << earlier->unit;
	}
}

static void check_reports(struct model *model, int engine)
{
	uint32_t i;

	for (i = 0; i < model->refused_count; i++) {
		uint32_t from = model->refused[i];
		struct model_unit *unit = &model->units[from];

		if (!model->told[engine][from][model->current] &&
		    !(unit->unary && model->told_unary[engine][model->current][unit->thread]))
			WRONG(model, engine ? "aerodrome misses a violation"
					    : "the conflict graph misses a violation");
	}
}

static void access_location(struct model *model, uint32_t thread, uint32_t number, bool write)
{
	struct model_location *location = &model->locations[number];
	uint32_t set = root(model, location->set);
	uint32_t time = ++model->time;
	bool unary = !model->open[set][thread];
	struct check_access_tag tag;
	struct check_unit_tag owner;
	bool violated;
	int i;

	model->current = unary ? unit_new(model, thread, set, true) : model->open[set][thread] - 1;
	model->accesses[time] = (struct model_access){model->current, number, write, location->first};
	make_edges(model, number, write);
	model->history[number][location->count++] = time;
	violated = model->refused_count;
	model->violations += violated;
	if (model->exhaustive && !model->violated[set] && still_serializable(model, set) == violated)
		WRONG(model, "the rules of the order and all serial orders disagree");
	model->violated[set] |= violated;
	tag = access_tag(model, time);
	for (i = 0; i < 2; i++) {
		struct check *engine = model->engines[i];

		model->reports[i] = 0;
		owner = unit_tag(model, model->current, i);
		if (unary)
			(write ? check_unary_write : check_unary_read)(engine, &owner, location->handles[i],
								       &tag);
		else
			(write ? check_write : check_read)(engine, model->units[model->current].handles[i],
							   location->handles[i], &tag);
		check_reports(model, i);
	}
}

static void merge(struct model *model, uint32_t from, uint32_t to)
{
	uint32_t thread;
	int i;

	for (thread = 0; thread < MODEL_THREADS; thread++)
		if (model->open[from][thread] && model->open[to][thread])
			return;
	for (thread = 0; thread < MODEL_THREADS; thread++)
		if (model->open[from][thread])
			model->open[to][thread] = model->open[from][thread];
	for (i = 0; i < 2; i++)
		check_set_merge(model->engines[i], model->sets[from][i], model->sets[to][i]);
	model->parent[from] = to;
	model->violated[to] |= model->violated[from];
}

static void location_new(struct model *model, uint32_t number, uint32_t set)
{
	int i;

	model->locations[number].used = true;
	model->locations[number].set = set;
	for (i = 0; i < 2; i++)
		model->locations[number].handles[i] = check_location_new(model->engines[i]);
}

/* Splits it; or frees it and makes a new one, as memory is freed and allocated again. */
static void split(struct model *model, uint32_t number, uint32_t into)
{
	struct model_location *location = &model->locations[number];
	int i;

	if (into == number)
		return;
	/* A name is used once, so that an access's location is never another one. */
	if (!model->locations[into].used && model->locations[into].count == 0) {
		model->locations[into] = *location;
		memcpy(model->history[into], model->history[number],
		       location->count * sizeof(model->history[into][0]));
		for (i = 0; i < 2; i++)
			model->locations[into].handles[i] =
				check_location_split(model->engines[i], location->handles[i]);
	} else if (location->used) {
		for (i = 0; i < 2; i++) {
			check_location_free(model->engines[i], location->handles[i]);
			location->handles[i] = check_location_new(model->engines[i]);
		}
		location->first = location->count;
	}
}

static void one_step(struct model *model, const struct model_shape *shape)
{
	uint32_t thread = draw(model, shape->threads);
	uint32_t number = draw(model, MODEL_LOCATIONS);
	uint32_t what = draw(model, 1000);
	uint32_t set, other;

	while (!model->locations[number].used)
		number = draw(model, MODEL_LOCATIONS);
	set = root(model, model->locations[number].set);
	if (what < shape->ends) {
		if (model->open[set][thread])
			end(model, thread, set);
		return;
	}
	what -= shape->ends;
	if (what < shape->merges) {
		other = root(model, draw(model, model->set_count));
		if (other != set)
			merge(model, set, other);
		return;
	}
	what -= shape->merges;
	if (what < shape->splits) {
		split(model, number, draw(model, MODEL_LOCATIONS));
		return;
	}
	if (!model->open[set][thread]) {
		if (model->unit_count == model->units_at_most)
			return;
		if (draw(model, 1000) >= shape->unary)
			begin(model, thread, set);
	}
	access_location(model, thread, number, draw(model, 1000) < shape->writes);
}

static void finish(struct model *model)
{
	struct check_stats stats;
	uint32_t set, thread;
	int i;

	for (set = 0; set < model->set_count; set++)
		for (thread = 0; thread < MODEL_THREADS; thread++)
			if (root(model, set) == set && model->open[set][thread])
				end(model, thread, set);
	for (i = 0; i < 2; i++) {
		check_stats(model->engines[i], &stats);
		if (stats.live_units)
			WRONG(model, "units are left when all have ended");
		for (set = 0; set < model->set_count; set++)
			if (root(model, set) == set)
				check_set_free(model->engines[i], model->sets[set][i]);
	}
}

const char *model_run(struct model *model, const struct model_shape *shape, bool exhaustive,
		      void (*look)(struct model *model))
{
	uint32_t i, step;

	model->exhaustive = exhaustive;
	model->units_at_most = shape->units;
	model->set_count = shape->sets;
	for (i = 0; i < shape->sets; i++) {
		model->parent[i] = i;
		model->sets[i][0] = check_set_new(model->engines[0]);
		model->sets[i][1] = check_set_new(model->engines[1]);
	}
	for (i = 0; i < shape->sets * shape->locations; i++)
		location_new(model, i, i % shape->sets);
	for (step = 0; step < shape->steps && !model->wrong; step++) {
		one_step(model, shape);
		if (look)
			look(model);
	}
	if (!model->wrong)
		finish(model);
	return model->wrong;
}
