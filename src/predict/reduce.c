/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The observed run with fewer context switches. A thread runs on while what it
 * does next depends on nothing that is still to come before it: a read on no
 * earlier write of the variable, a write on no earlier access, an operation on
 * no earlier one on the same object. When it has to stop, the thread whose event
 * is the oldest left goes on; nothing can hold that one back.
 */
#include "base/err.h"
#include "predict/synth.h"

#include <stdlib.h>

/* Objects of all kinds as numbers: each kind has its range. */
struct objects {
	uint32_t lock, semaphore, condition, barrier, once, thread, atomic, count;
};

static struct objects number_objects(const struct history *h)
{
	struct objects o = {.lock = 0};

	o.semaphore = o.lock + h->lock_count;
	o.condition = o.semaphore + h->semaphore_count;
	o.barrier = o.condition + h->condition_count;
	o.once = o.barrier + h->barrier_count;
	o.thread = o.once + h->once_count;
	o.atomic = o.thread + h->thread_count;
	o.count = o.atomic + h->atomic_count;
	return o;
}

static uint32_t object_of(const struct objects *o, const struct history_event *e)
{
	switch ((enum history_kind)e->kind) {
	case HISTORY_LOCK:
	case HISTORY_RDLOCK:
	case HISTORY_UNLOCK:
		return o->lock + e->object;
	case HISTORY_POST:
	case HISTORY_SEM_WAIT:
		return o->semaphore + e->object;
	case HISTORY_WAIT:
	case HISTORY_WAKE:
	case HISTORY_TIMEOUT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
		return o->condition + e->object;
	case HISTORY_BARRIER_ENTER:
	case HISTORY_BARRIER_LEAVE:
		return o->barrier + e->object;
	case HISTORY_ONCE_END:
	case HISTORY_ONCE_SEEN:
		return o->once + e->object;
	case HISTORY_CREATE:
	case HISTORY_JOIN:
		return o->thread + e->object;
	case HISTORY_START:
	case HISTORY_END:
	case HISTORY_ALLOC: /* depends on nobody */
		return o->thread + e->thread;
	case HISTORY_RELEASE:
	case HISTORY_ACQUIRE:
	case HISTORY_SET:
	case HISTORY_TEST:
	case HISTORY_EXCHANGE:
	case HISTORY_SWAP:
	case HISTORY_MARK:
		return o->atomic + e->object;
	default:
		return HISTORY_NONE;
	}
}

struct reduce {
	const struct history *h;
	const struct machine_index *index;
	struct objects objects;
	uint32_t *rank;              /* by event: what must have been done on its object before */
	uint32_t *writes, *accesses; /* by variable: done */
	uint32_t *operations;        /* by object: done */
	uint32_t *next;              /* by thread: position in index->events */
	uint32_t *joinable;          /* by thread: where it was when it was joined */
	bool *ready;                 /* by thread: was created */
};

static void rank_events(struct reduce *r)
{
	const struct history *h = r->h;

	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];

		r->next[e->thread]++;
		if (history_is_access(e)) {
			uint32_t v = history_variable_root(h, e->object);

			r->rank[i] = e->kind == HISTORY_READ ? r->writes[v] : r->accesses[v];
			r->accesses[v]++;
			r->writes[v] += e->kind == HISTORY_WRITE;
		} else {
			r->rank[i] = r->operations[object_of(&r->objects, e)]++;
			if (e->kind == HISTORY_JOIN)
				r->joinable[e->object] = r->next[e->object];
		}
	}
	for (uint32_t t = 0; t < h->thread_count; t++)
		r->next[t] = r->index->first[t];
	for (uint32_t v = 0; v < h->variable_count; v++)
		r->writes[v] = r->accesses[v] = 0;
	for (uint32_t o = 0; o < r->objects.count; o++)
		r->operations[o] = 0;
}

static bool try_event(struct reduce *r, uint32_t i)
{
	const struct history_event *e = &r->h->events[i];

	if (!r->ready[e->thread])
		return false;
	if (history_is_access(e)) {
		uint32_t v = history_variable_root(r->h, e->object);

		if (r->rank[i] != (e->kind == HISTORY_READ ? r->writes[v] : r->accesses[v]))
			return false;
		r->accesses[v]++;
		r->writes[v] += e->kind == HISTORY_WRITE;
	} else {
		uint32_t *done = &r->operations[object_of(&r->objects, e)];

		if (*done != r->rank[i])
			return false;
		if (e->kind == HISTORY_JOIN && r->next[e->object] < r->joinable[e->object])
			return false;
		++*done;
		if (e->kind == HISTORY_CREATE)
			r->ready[e->object] = true;
	}
	return true;
}

void synth_add_step(struct synth_schedule *s, uint32_t thread, uint32_t limit)
{
	if (s->count && s->steps[s->count - 1].thread == thread) {
		s->steps[s->count - 1].limit = limit;
		return;
	}
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->steps = mem_resize(s->steps, s->room, sizeof(*s->steps));
	}
	s->steps[s->count++] = (struct synth_step){thread, limit};
}

void synth_reduce(const struct history *h, const struct machine_index *index, struct synth_schedule *schedule)
{
	struct reduce r = {.h = h, .index = index, .objects = number_objects(h)};
	uint8_t *done = mem_zalloc(h->count + 1ull, 1);

	r.next = mem_zalloc(h->thread_count + 1ull, sizeof(*r.next));
	r.joinable = mem_zalloc(h->thread_count + 1ull, sizeof(*r.joinable));
	r.rank = mem_zalloc(h->count + 1ull, sizeof(*r.rank));
	r.writes = mem_zalloc(h->variable_count + 1ull, sizeof(*r.writes));
	r.accesses = mem_zalloc(h->variable_count + 1ull, sizeof(*r.accesses));
	r.operations = mem_zalloc(r.objects.count + 1ull, sizeof(*r.operations));
	r.ready = mem_zalloc(h->thread_count + 1ull, sizeof(*r.ready));
	for (uint32_t t = 0; t < h->thread_count; t++) {
		r.next[t] = index->first[t];
		r.ready[t] = !index->created[t];
	}
	rank_events(&r);
	for (uint32_t oldest = 0; oldest < h->count;) {
		uint32_t thread = h->events[oldest].thread, ran = 0;

		if (done[oldest]) {
			oldest++;
			continue;
		}
		/* A thread that runs before the CREATE that made it, in a damaged trace, is let go. */
		r.ready[thread] = true;
		for (; r.next[thread] < index->first[thread + 1]; r.next[thread]++, ran++) {
			uint32_t i = index->events[r.next[thread]];

			if (!try_event(&r, i))
				break;
			done[i] = 1;
			synth_add_step(schedule, thread, i + 1);
		}
		BUG_ON(!ran);
	}
	free(r.next);
	free(r.joinable);
	free(done);
	free(r.rank);
	free(r.writes);
	free(r.accesses);
	free(r.operations);
	free(r.ready);
}
