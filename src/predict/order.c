/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/order.h"

#include "base/err.h"
#include "predict/atomics.h"
#include "predict/handover.h"
#include "predict/told.h"

#include <stdlib.h>
#include <string.h>

/* More sources than this and no single one of them is indispensable. */
#define SOURCE_LIMIT 16

/* Posts of one thread at one semaphore, or its signals at one condition. */
struct source {
	uint32_t thread;
	uint32_t *events;
	uint32_t count, room;
};

/* A semaphore or a condition. */
struct counted {
	struct source *sources;
	uint32_t count, room;
	uint64_t total;
	bool many;
	struct map index; /* thread to source, plus one */
};

struct barrier {
	struct vclock_sum basic, whole; /* of the round that fills up */
	struct vclock_sum last[2];      /* of the one before, from which threads leave */
	uint32_t *round, *last_round;   /* entering events */
	uint32_t entered, last_entered, room, last_room;
};

struct build {
	struct order *o;
	struct counted *semaphores, *conditions;
	struct barrier *barriers;
	struct map created; /* child to creating event, plus one */
	uint32_t *last;     /* per thread: its latest event, plus one */
	uint32_t *ends;     /* per thread: the last event that it has at all, plus one */
	uint32_t started;   /* threads so far */
	bool *alone;        /* per thread: see order_alone */
	bool unknown;       /* some thread came from nowhere */
	struct map waits;   /* semaphore or condition, and thread: successful waits so far, plus one */
	uint32_t *once;     /* event that ended it, plus one */
	struct told told;   /* who knows of which blocks */
	uint32_t next_told; /* of its edges */
	bool *flags;        /* by atomic data: is one */
	uint32_t *set;      /* by atomic data: event that stored it last, plus one */
	struct map tested;  /* flag and thread */
	struct handover *handover;
};

static void count_source(struct counted *c, uint32_t thread, uint32_t event)
{
	uint32_t index = map_get(&c->index, thread);

	c->total++;
	if (c->many)
		return;
	if (!index) {
		if (c->count == SOURCE_LIMIT) {
			c->many = true;
			return;
		}
		if (c->count == c->room) {
			c->room = c->room ? c->room * 2 : 2;
			c->sources = mem_resize(c->sources, c->room, sizeof(*c->sources));
		}
		c->sources[c->count] = (struct source){.thread = thread};
		index = ++c->count;
		map_set(&c->index, thread, index);
	}
	struct source *s = &c->sources[index - 1];

	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 4;
		s->events = mem_resize(s->events, s->room, sizeof(*s->events));
	}
	s->events[s->count++] = event;
}

static uint32_t count_before(const struct source *s, uint32_t event)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->events[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void counted_free(struct counted *c, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < c[i].count; k++)
			free(c[i].sources[k].events);
		free(c[i].sources);
		map_release(&c[i].index);
	}
	free(c);
}

static void end_segment(struct order *o, uint32_t event)
{
	o->ends[event / 64] |= 1ull << event % 64;
}

static void add_edge(struct build *b, uint32_t from, uint32_t from_event, uint32_t to, uint32_t to_event,
		     enum order_reason reason)
{
	struct order *o = b->o;

	if (from == to)
		return;
	if (o->edge_count == o->edge_room) {
		o->edge_room = o->edge_room ? o->edge_room * 2 : 64;
		o->edges = mem_resize(o->edges, o->edge_room, sizeof(*o->edges));
	}
	o->edges[o->edge_count++] = (struct order_edge){from, from_event, to, to_event, reason};
	end_segment(o, from_event);
	end_segment(o, to_event);
}

static void edge(struct build *b, uint32_t from, uint32_t from_event, uint32_t to, uint32_t to_event,
		 enum order_reason reason)
{
	struct order *o = b->o;

	add_edge(b, from, from_event, to, to_event, reason);
	if (reason <= ORDER_BARRIER)
		vclock_edge(&o->basic, from, from_event, to, to_event);
	if (!o->same)
		vclock_edge(&o->whole, from, from_event, to, to_event);
}

/* The n-th time that `to` needs one of the counted things, `free` of which need nobody. */
static void edges_of_count(struct build *b, const struct counted *c, uint64_t n, uint64_t free_ones,
			   uint32_t to, uint32_t to_event, enum order_reason reason)
{
	uint64_t others = c->total;
	uint32_t own = map_get(&c->index, to);

	if (c->many || n <= free_ones)
		return;
	if (own)
		others -= c->sources[own - 1].count;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct source *s = &c->sources[i];
		uint64_t rest = others - s->count + free_ones;

		if (s->thread == to || n <= rest || n - rest > s->count)
			continue;
		uint32_t event = s->events[n - rest - 1];

		if (event < to_event)
			edge(b, s->thread, event, to, to_event, reason);
	}
}

static uint32_t count_wait(struct build *b, uint32_t kind, uint32_t object, uint32_t thread)
{
	uint64_t key = (uint64_t)(object * 2 + kind) << 32 | thread;
	uint32_t before = map_get(&b->waits, key);

	map_set(&b->waits, key, before ? before + 1 : 2);
	return before ? before : 1; /* this is the so-manieth */
}

static void barrier_enter(struct build *b, struct barrier *r, uint32_t size, uint32_t thread, uint32_t event)
{
	if (r->entered == r->room) {
		r->room = r->room ? r->room * 2 : 8;
		r->round = mem_resize(r->round, r->room, sizeof(*r->round));
	}
	r->round[r->entered++] = event;
	vclock_sum_add(&b->o->basic, &r->basic, thread, event);
	if (!b->o->same)
		vclock_sum_add(&b->o->whole, &r->whole, thread, event);
	if (r->entered < size)
		return;
	/* The round is complete, and the next one begins. */
	vclock_sum_release(&r->last[0]);
	vclock_sum_release(&r->last[1]);
	r->last[0] = r->basic;
	r->last[1] = r->whole;
	r->basic = r->whole = (struct vclock_sum){0};
	uint32_t *old = r->last_round, old_room = r->last_room;

	r->last_round = r->round;
	r->last_entered = r->entered;
	r->last_room = r->room;
	r->round = old;
	r->room = old_room;
	r->entered = 0;
}

static void barrier_leave(struct build *b, struct barrier *r, uint32_t thread, uint32_t event)
{
	const struct history_event *events = b->o->history->events;

	if (!r->last_entered)
		return;
	/* One edge stands for the round in explanations: that of whoever came last. */
	for (uint32_t i = 0; i < r->last_entered && i < SOURCE_LIMIT * 4; i++)
		add_edge(b, events[r->last_round[i]].thread, r->last_round[i], thread, event, ORDER_BARRIER);
	vclock_sum_use(&b->o->basic, &r->last[0], thread, event);
	if (!b->o->same)
		vclock_sum_use(&b->o->whole, &r->last[1], thread, event);
}

static void handed_over(void *build, uint32_t from, uint32_t to)
{
	struct build *b = build;
	const struct history_event *events = b->o->history->events;

	edge(b, events[from].thread, from, events[to].thread, to, ORDER_HANDOVER);
}

static void found(void *build, uint32_t block, uint32_t put, uint32_t read, uint32_t use)
{
	const struct history_event *events = ((struct build *)build)->o->history->events;

	order_add_found(((struct build *)build)->o,
			(struct order_found){block, events[use].thread, use, read, events[put].thread, put});
}

/* What the thread had to be told before it came here. */
static void hear(struct build *b, uint32_t i)
{
	const struct history_event *events = b->o->history->events;

	for (; b->next_told < b->told.count && b->told.edges[b->next_told].heard == i; b->next_told++) {
		uint32_t said = b->told.edges[b->next_told].said;

		edge(b, events[said].thread, said, events[i].thread, i, ORDER_MEMORY);
	}
}

/* All others that were created are over, as this one knows. */
static bool is_alone(const struct build *b, uint32_t thread, uint32_t event)
{
	const struct order *o = b->o;

	for (uint32_t u = 0; u < o->history->thread_count; u++)
		if (u != thread && (b->last[u] || map_get(&b->created, u)) &&
		    vclock_needs(&o->basic, thread, event + 1, u) < b->ends[u])
			return false;
	return !b->unknown;
}

/* A thread's first look at a flag after it was set; the others follow. */
static void test_flag(struct build *b, const struct history_event *e, uint32_t event)
{
	uint64_t key = (uint64_t)e->object << 32 | e->thread;
	uint32_t set = b->set[e->object];

	if (!set || !b->flags[e->object] || map_get(&b->tested, key))
		return;
	map_set(&b->tested, key, 1);
	edge(b, b->o->history->events[set - 1].thread, set - 1, e->thread, event, ORDER_FLAG);
}

static void look_at(struct build *b, uint32_t i)
{
	const struct history *h = b->o->history;
	const struct history_event *e = &h->events[i];
	uint32_t creator;

	if (!b->last[e->thread] && (creator = map_get(&b->created, e->thread)))
		edge(b, h->events[creator - 1].thread, creator - 1, e->thread, i, ORDER_CREATE);
	if (!b->last[e->thread])
		b->alone[e->thread] = !b->started++ && !b->unknown;
	b->last[e->thread] = i + 1;
	/* Tokens are counted whether there are edges or not, and of a barrier's edges not all are kept. */
	if (e->kind >= HISTORY_BARRIER_ENTER && e->kind <= HISTORY_SEM_WAIT)
		end_segment(b->o, i);
	switch ((enum history_kind)e->kind) {
	case HISTORY_CREATE:
		map_set(&b->created, e->object, i + 1);
		b->alone[e->thread] = false;
		break;
	case HISTORY_JOIN:
		if (b->last[e->object])
			edge(b, e->object, b->last[e->object] - 1, e->thread, i, ORDER_JOIN);
		b->alone[e->thread] = is_alone(b, e->thread, i);
		break;
	case HISTORY_BARRIER_ENTER:
		barrier_enter(b, &b->barriers[e->object], h->barriers[e->object], e->thread, i);
		break;
	case HISTORY_BARRIER_LEAVE:
		barrier_leave(b, &b->barriers[e->object], e->thread, i);
		break;
	case HISTORY_SEM_WAIT: {
		const struct counted *c = &b->semaphores[e->object];
		uint32_t n = count_wait(b, 0, e->object, e->thread);
		uint32_t own = map_get(&c->index, e->thread);
		uint64_t free_ones = h->semaphores[e->object];

		if (own)
			free_ones += count_before(&c->sources[own - 1], i);
		edges_of_count(b, c, n, free_ones, e->thread, i, ORDER_SEMAPHORE);
		break;
	}
	case HISTORY_WAKE:
		edges_of_count(b, &b->conditions[e->object], count_wait(b, 1, e->object, e->thread), 0,
			       e->thread, i, ORDER_CONDITION);
		break;
	case HISTORY_ONCE_END:
		b->once[e->object] = i + 1;
		break;
	case HISTORY_SET:
	case HISTORY_SWAP:
		b->set[e->object] = i + 1;
		break;
	case HISTORY_TEST:
		test_flag(b, e, i);
		break;
	case HISTORY_ONCE_SEEN:
		if (b->once[e->object])
			edge(b, h->events[b->once[e->object] - 1].thread, b->once[e->object] - 1, e->thread,
			     i, ORDER_ONCE);
		break;
	default:
		break;
	}
}

void order_build(struct order *o, const struct history *history)
{
	struct build b = {.o = o};

	*o = (struct order){.history = history, .same = true};
	b.semaphores = mem_zalloc(history->semaphore_count + 1ull, sizeof(*b.semaphores));
	b.conditions = mem_zalloc(history->condition_count + 1ull, sizeof(*b.conditions));
	b.barriers = mem_zalloc(history->barrier_count + 1ull, sizeof(*b.barriers));
	b.last = mem_zalloc(history->thread_count + 1ull, sizeof(*b.last));
	b.once = mem_zalloc(history->once_count + 1ull, sizeof(*b.once));
	told_find(&b.told, history);
	b.ends = mem_zalloc(history->thread_count + 1ull, sizeof(*b.ends));
	b.flags = atomics_find_flags(history);
	b.handover = handover_new(history, &(struct handover_sink){&b, handed_over, found});
	o->same = !b.handover;
	b.set = mem_zalloc(history->atomic_count + 1ull, sizeof(*b.set));
	b.alone = mem_zalloc(history->thread_count + 1ull, sizeof(*b.alone));
	o->alone = mem_zalloc(history->count / 64 + 1ull, sizeof(*o->alone));
	o->ends = mem_zalloc(history->count / 64 + 1ull, sizeof(*o->ends));
	for (uint32_t i = 0; i < history->count; i++) {
		const struct history_event *e = &history->events[i];

		/* All threads but the first have somebody who created them. */
		b.unknown |= i && !b.ends[e->thread] && !map_get(&b.created, e->thread);
		b.ends[e->thread] = i + 1;
		if (e->kind == HISTORY_CREATE)
			map_set(&b.created, e->object, 1);
		switch ((enum history_kind)e->kind) {
		case HISTORY_POST:
			count_source(&b.semaphores[e->object], e->thread, i);
			order_add_token(o, e, i);
			break;
		case HISTORY_SEM_WAIT:
			order_add_token(o, e, i);
			o->same = false;
			break;
		case HISTORY_SIGNAL:
		case HISTORY_BROADCAST:
			count_source(&b.conditions[e->object], e->thread, i);
			break;
		case HISTORY_WAKE:
		case HISTORY_ONCE_SEEN:
		case HISTORY_ALLOC:
		case HISTORY_TEST:
			o->same = false;
			break;
		default:
			break;
		}
	}
	map_clear(&b.created);
	vclock_init(&o->basic, history->thread_count);
	vclock_init(&o->whole, history->thread_count);
	for (uint32_t i = 0; i < history->count; i++) {
		uint32_t thread = history->events[i].thread;

		if (!history_is_access(&history->events[i]) || !b.last[thread])
			look_at(&b, i);
		else
			b.last[thread] = i + 1;
		hear(&b, i);
		if (b.handover && history_is_access(&history->events[i]))
			handover_access(b.handover, i);
		if (b.alone[thread])
			o->alone[i / 64] |= 1ull << i % 64;
	}
	order_index_posts(o);
	order_sort_found(o);
	counted_free(b.semaphores, history->semaphore_count);
	counted_free(b.conditions, history->condition_count);
	for (uint32_t i = 0; i < history->barrier_count; i++) {
		vclock_sum_release(&b.barriers[i].basic);
		vclock_sum_release(&b.barriers[i].whole);
		vclock_sum_release(&b.barriers[i].last[0]);
		vclock_sum_release(&b.barriers[i].last[1]);
		free(b.barriers[i].round);
		free(b.barriers[i].last_round);
	}
	free(b.barriers);
	told_release(&b.told);
	free(b.last);
	free(b.ends);
	free(b.alone);
	free(b.once);
	free(b.flags);
	handover_free(b.handover);
	free(b.set);
	map_release(&b.tested);
	map_release(&b.created);
	map_release(&b.waits);
}

void order_release(struct order *o)
{
	vclock_release(&o->basic);
	vclock_release(&o->whole);
	free(o->edges);
	free(o->found);
	free(o->alone);
	free(o->ends);
	for (uint32_t i = 0; i < o->token_count; i++) {
		free(o->tokens[i].events);
		free(o->tokens[i].balance);
	}
	free(o->tokens);
	free(o->posts);
	free(o->first_post);
	map_release(&o->token_index);
	*o = (struct order){0};
}
