/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/harmless.h"

#include "analysis/judge.h"
#include "analysis/named.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Accesses of one part of the order; with more of them nothing is said. */
#define PART_MOST 128
/* Events, of whatever thread, that are looked through for them. */
#define LOOK_MOST 4096

struct part {
	uint32_t events[PART_MOST]; /* in order */
	uint32_t count;
};

/* The order, as far as it is certain. One unit is torn apart by another. */
struct scene {
	struct part before;  /* what it did until then */
	struct part earlier; /* of the other one, that may have come before that */
	struct part between; /* a critical section of the other one */
	struct part after;   /* what it does then */
	struct part held;    /* what the other one wrote last, before that, of what it writes there */
};

/* Pairs of accesses that conflict, one for each location, in the order in which the second ones come. */
struct edge {
	struct {
		uint32_t source, target;
	} pairs[CHECK_PAIRS];
	uint32_t count;
};

/* The accesses of a unit among the events from one limit to another. False: there are too many. */
static bool collect(const struct history *h, struct part *part, uint32_t unit, uint32_t from, uint32_t to)
{
	part->count = 0;
	if (to > from && to - from > LOOK_MOST)
		return false;
	for (uint32_t i = from; i < to; i++) {
		if (!history_is_access(&h->events[i]) || h->events[i].unit != unit)
			continue;
		if (part->count == PART_MOST)
			return false;
		part->events[part->count++] = i;
	}
	return true;
}

/* Can the other one come to this access before the unit does to its end? *limit is how far the unit has come,
 * and may have to go on to give up locks. */
static bool can_come(struct predict *p, uint32_t one, uint32_t *limit, uint32_t end, uint32_t other,
		     uint32_t to)
{
	const struct lockset_position *positions = p->locks.positions;
	uint32_t context = lockset_context(&p->locks, other, to),
		 at = lockset_position(&p->locks, one, *limit);

	while (!lockset_compatible(&p->locks, positions[at].context, context)) {
		at = positions[at].next;
		if (!at || positions[at].event >= end)
			return false;
		*limit = positions[at].event + 1;
	}
	uint32_t needs = order_needs(&p->order, other, to + 1, one);

	if (needs > *limit)
		*limit = needs;
	return needs <= end;
}

/* To the end of the critical section. */
static uint32_t section_end(const struct predict *p, uint32_t thread, uint32_t event)
{
	uint32_t end = lockset_free_after(&p->locks, thread, event + 1);

	return end == HISTORY_NONE ? event + 1 : end;
}

/* All of the other's critical sections from one access to another. */
static bool collect_sections(const struct predict *p, struct part *part, uint32_t thread, uint32_t from,
			     uint32_t to)
{
	uint32_t unit = p->history->events[from].unit;

	if (!unit) {
		*part = (struct part){.events = {from, to}, .count = from == to ? 1 : 2};
		return true;
	}
	return collect(p->history, part, unit, lockset_free_before(&p->locks, thread, from),
		       section_end(p, thread, to));
}

/* What the unit of an access did last to the same variable in the critical sections before. */
static void find_held(const struct predict *p, struct scene *scene, uint32_t thread)
{
	const struct history *h = p->history;

	scene->held.count = 0;
	for (uint32_t i = 0; i < scene->between.count; i++) {
		const struct history_event *e = &h->events[scene->between.events[i]];
		uint32_t at = lockset_free_before(&p->locks, thread, scene->between.events[i]),
			 stop = at > LOOK_MOST ? at - LOOK_MOST : 0;

		if (e->kind != HISTORY_WRITE || !e->unit)
			continue;
		while (at > stop &&
		       !(history_is_access(&h->events[at - 1]) && h->events[at - 1].unit == e->unit &&
			 h->events[at - 1].object == e->object))
			at--;
		if (at > stop && h->events[at - 1].kind == HISTORY_WRITE)
			scene->held.events[scene->held.count++] = at - 1;
	}
}

/*
 * Two units that are both in the middle go on one after the other, in this order
 * or in that: these are two ways. SCENE_NONE: it cannot go this way.
 */
enum scene_is { SCENE_MADE, SCENE_NONE, SCENE_UNKNOWN };

static enum scene_is make_scene(struct predict *p, const struct prediction *q, unsigned way,
				struct scene *scene)
{
	const struct history *h = p->history;
	bool crossed = q->kind == PREDICT_CROSSED;
	uint32_t last = q->access_count - 1, limit = q->goal.targets[way];
	/* Of the one that is torn apart, and of the one that comes in between. */
	uint32_t first = q->accesses[way], end = q->accesses[way ? 2 : last];
	uint32_t from = q->accesses[way ? last : crossed ? 2 : 1], to = q->accesses[way ? last : last - 1];
	uint32_t one = q->goal.threads[way], other = q->goal.threads[!way];

	if (q->kind == PREDICT_CYCLE || q->inside || h->events[first].thread != one ||
	    h->events[from].thread != other || !h->events[first].unit)
		return SCENE_UNKNOWN;
	if (way && !crossed)
		return SCENE_NONE;
	if (crossed && !can_come(p, one, &limit, end, other, to))
		return SCENE_NONE;
	scene->earlier.count = 0;
	if (!collect(h, &scene->before, h->events[first].unit, lockset_free_before(&p->locks, one, first),
		     limit) ||
	    !collect(h, &scene->after, h->events[first].unit, limit, section_end(p, one, end)) ||
	    !collect_sections(p, &scene->between, other, from, to))
		return SCENE_UNKNOWN;
	find_held(p, scene, other);
	if (crossed) {
		uint32_t start = q->accesses[!way];

		if (!collect(h, &scene->earlier, h->events[start].unit,
			     lockset_free_before(&p->locks, other, start),
			     lockset_free_before(&p->locks, other, from)))
			return SCENE_UNKNOWN;
	}
	return SCENE_MADE;
}

static bool conflict(const struct history_event *a, const struct history_event *b)
{
	return a->object == b->object && (a->kind == HISTORY_WRITE || b->kind == HISTORY_WRITE);
}

static bool has_location(const struct history *h, const struct edge *edge, uint32_t event)
{
	for (uint32_t i = 0; i < edge->count; i++)
		if (h->events[edge->pairs[i].target].object == h->events[event].object)
			return true;
	return false;
}

/* The latest access that conflicts with this one; HISTORY_NONE: there is none. */
static uint32_t source_of(const struct history *h, const struct part *part, uint32_t target)
{
	for (uint32_t k = part->count; k-- > 0;)
		if (conflict(&h->events[part->events[k]], &h->events[target]))
			return part->events[k];
	return HISTORY_NONE;
}

/* `earlier` comes before `from`; NULL: there is no such part. */
static struct edge edge_between(const struct history *h, const struct part *earlier, const struct part *from,
				const struct part *to)
{
	struct edge edge = {.count = 0};

	for (uint32_t i = 0; i < to->count && edge.count < CHECK_PAIRS; i++) {
		uint32_t target = to->events[i], source;

		if (has_location(h, &edge, target))
			continue;
		source = source_of(h, from, target);
		if (source == HISTORY_NONE && earlier)
			source = source_of(h, earlier, target);
		if (source == HISTORY_NONE)
			continue;
		edge.pairs[edge.count].source = source;
		edge.pairs[edge.count++].target = target;
	}
	return edge;
}

static void want(struct harmless *harmless, const struct part *part)
{
	for (uint32_t i = 0; i < part->count; i++) {
		const struct history_event *e = &harmless->predict->history->events[part->events[i]];
		uint64_t key = named_key(e);

		if (map_get(&harmless->wanted, key))
			continue;
		map_set(&harmless->wanted, key, part->events[i] + 1);
		if (harmless->time_count == harmless->time_room) {
			harmless->time_room = harmless->time_room ? harmless->time_room * 2 : 256;
			harmless->times =
				mem_resize(harmless->times, harmless->time_room, sizeof(*harmless->times));
		}
		harmless->times[harmless->time_count++] = e->time;
	}
}

void harmless_want(struct harmless *harmless, uint32_t prediction)
{
	const struct prediction *q = &harmless->predict->predictions[prediction];
	struct scene scene;
	struct part pattern = {.count = q->access_count};

	memcpy(pattern.events, q->accesses, q->access_count * sizeof(*q->accesses));
	want(harmless, &pattern);
	for (unsigned way = 0; way < 2; way++) {
		if (make_scene(harmless->predict, q, way, &scene) != SCENE_MADE)
			continue;
		want(harmless, &scene.before);
		want(harmless, &scene.earlier);
		want(harmless, &scene.between);
		want(harmless, &scene.after);
		want(harmless, &scene.held);
	}
}

void harmless_seen(struct harmless *harmless, const struct load_access *a)
{
	struct history_event e = {.time = (uint32_t)a->access->time,
				  .object = a->variable,
				  .kind = a->write ? HISTORY_WRITE : HISTORY_READ};
	uint32_t event = map_get(&harmless->wanted, named_key(&e));

	if (!event)
		return;
	if (harmless->count == harmless->room) {
		harmless->room = harmless->room ? harmless->room * 2 : 256;
		harmless->accesses =
			mem_resize(harmless->accesses, harmless->room, sizeof(*harmless->accesses));
	}
	harmless->accesses[harmless->count++] = (struct harmless_access){
		.tag = {.site = a->access->site,
			.context = a->access->context,
			.locks = a->access->locks,
			.op = a->access->op,
			.address = a->access->address},
		.unit = {.context = a->context, .rule = a->rule, .set = a->set, .begin = a->begin},
	};
	map_set(&harmless->index, event - 1, harmless->count);
}

/* What is known of the access, as one of this part of the order: before, between, after. */
static const struct harmless_access *known(struct harmless *harmless, uint32_t event, uint64_t part)
{
	uint32_t index = map_get(&harmless->index, event);

	if (!index)
		return NULL;
	harmless->accesses[index - 1].tag.time = part << 32 | event;
	return &harmless->accesses[index - 1];
}

/* The edge as the checker would tell it; `more` has room for all pairs but the first. */
static bool tell_edge(struct harmless *harmless, const struct edge *edge, uint64_t part,
		      struct check_pair *more, struct check_edge *told)
{
	for (uint32_t i = 0; i < edge->count; i++) {
		const struct harmless_access *source = known(harmless, edge->pairs[i].source, part),
					     *target = known(harmless, edge->pairs[i].target, part + 1);

		if (!source || !target)
			return false;
		if (i)
			more[i - 1] = (struct check_pair){.source = source->tag, .target = target->tag};
		else
			*told = (struct check_edge){.from = source->unit,
						    .to = target->unit,
						    .source = source->tag,
						    .target = target->tag,
						    .more = more,
						    .more_count = edge->count - 1};
	}
	return edge->count > 0;
}

static bool writes(const struct history *h, const struct part *part, uint32_t object)
{
	for (uint32_t i = 0; i < part->count; i++)
		if (h->events[part->events[i]].object == object &&
		    h->events[part->events[i]].kind == HISTORY_WRITE)
			return true;
	return false;
}

/* Is the claim one of those who looked here, and went on only because it was free? */
static bool is_claim(struct harmless *harmless, struct model *model, uint32_t claim, uint32_t look)
{
	const struct harmless_access *w = known(harmless, claim, 0), *r = known(harmless, look, 0);

	return w && r && w->tag.op == MODEL_CLAIM &&
	       harmless->predict->history->events[look].kind == HISTORY_READ &&
	       model_claims(model, w->tag.site, r->tag.site) && model_decides(model, r->tag.site);
}

/* The unit found it taken by the other, and would have taken it itself. */
static bool would_take(struct harmless *harmless, struct model *model, const struct scene *scene,
		       const struct edge *out)
{
	const struct history *h = harmless->predict->history;

	for (uint32_t i = 0; i < out->count; i++) {
		uint32_t read = out->pairs[i].source, write = out->pairs[i].target;

		if (read > write && is_claim(harmless, model, write, read) &&
		    !writes(h, &scene->before, h->events[read].object))
			return true;
	}
	return false;
}

/* Has the unit written it in the critical section before this read? */
static bool wrote_before(const struct predict *p, uint32_t read)
{
	const struct history_event *events = p->history->events;

	for (uint32_t i = lockset_free_before(&p->locks, events[read].thread, read); i < read; i++)
		if (events[i].kind == HISTORY_WRITE && events[i].unit == events[read].unit &&
		    events[i].object == events[read].object)
			return true;
	return false;
}

/* The same of the pattern's own accesses: however much else is done there, the order does not exist. */
static bool made_once(struct harmless *harmless, struct model *model, const struct prediction *q)
{
	const struct predict *p = harmless->predict;

	if (q->kind == PREDICT_CYCLE || q->inside)
		return false;
	for (uint32_t i = 0; i < q->access_count; i++)
		for (uint32_t k = i + 1; k < q->access_count; k++) {
			uint32_t read = q->accesses[i], write = q->accesses[k];
			const struct history_event *r = &p->history->events[read],
						   *w = &p->history->events[write];

			if (read > write && r->thread != w->thread && r->object == w->object && r->unit &&
			    is_claim(harmless, model, write, read) && !wrote_before(p, read))
				return true;
		}
	return false;
}

/* The other one gives back what it took before, and meanwhile the unit took it: only one of them can. */
static bool both_took(struct harmless *harmless, struct model *model, const struct scene *scene)
{
	const struct history_event *events = harmless->predict->history->events;

	for (uint32_t i = 0; i < scene->held.count; i++)
		for (uint32_t k = 1; k < scene->before.count; k++) {
			uint32_t theirs = scene->held.events[i], ours = scene->before.events[k];

			if (events[ours].object != events[theirs].object ||
			    events[ours].kind != HISTORY_WRITE)
				continue;
			for (uint32_t n = k; n-- > 0;)
				if (events[scene->before.events[n]].object == events[ours].object &&
				    is_claim(harmless, model, ours, scene->before.events[n]) &&
				    is_claim(harmless, model, theirs, scene->before.events[n]))
					return true;
		}
	return false;
}

/* Where the other thread looks at what the unit has taken, its critical section is over. */
static bool stop_at_look(struct harmless *harmless, struct model *model, struct scene *scene,
			 const struct edge *out)
{
	const struct harmless_access *source = known(harmless, out->pairs[0].source, 0),
				     *target = known(harmless, out->pairs[0].target, 1);
	uint32_t i = 0;

	if (!source || !target || source->tag.op != MODEL_CLAIM || target->tag.op == MODEL_UPDATE ||
	    harmless->predict->history->events[out->pairs[0].target].kind != HISTORY_READ ||
	    !model_claims(model, source->tag.site, target->tag.site) ||
	    !model_decides(model, target->tag.site))
		return false;
	while (scene->between.events[i] != out->pairs[0].target)
		i++;
	scene->between.count = i + 1;
	return true;
}

static bool scene_is_harmless(struct harmless *harmless, struct model *model, struct scene *scene)
{
	const struct history *h = harmless->predict->history;
	struct edge out = edge_between(h, NULL, &scene->before, &scene->between), in;
	struct check_pair more[2][CHECK_PAIRS];
	struct check_edge edges[2];
	uint32_t chosen[2];

	if (!out.count)
		return false;
	if (would_take(harmless, model, scene, &out) || both_took(harmless, model, scene))
		return true;
	if (stop_at_look(harmless, model, scene, &out))
		out = edge_between(h, NULL, &scene->before, &scene->between);
	in = edge_between(h, &scene->earlier, &scene->between, &scene->after);
	return tell_edge(harmless, &out, 0, more[0], &edges[0]) &&
	       tell_edge(harmless, &in, 1, more[1], &edges[1]) &&
	       judge_cycle(model, edges, 2, chosen) != JUDGE_VIOLATION;
}

bool harmless_is(struct harmless *harmless, struct model *model, uint32_t prediction)
{
	const struct prediction *q = &harmless->predict->predictions[prediction];
	bool any = false;

	if (made_once(harmless, model, q))
		return true;
	for (unsigned way = 0; way < 2; way++) {
		struct scene scene;
		enum scene_is made = make_scene(harmless->predict, q, way, &scene);

		if (made == SCENE_UNKNOWN ||
		    (made == SCENE_MADE && !scene_is_harmless(harmless, model, &scene)))
			return false;
		any |= made == SCENE_MADE;
	}
	/* Two that are in the middle, and neither can go on, are not there at all. */
	return any || q->kind == PREDICT_CROSSED;
}

void harmless_release(struct harmless *harmless)
{
	map_release(&harmless->wanted);
	map_release(&harmless->index);
	free(harmless->accesses);
	free(harmless->times);
}
