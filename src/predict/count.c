/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/count.h"

#include "predict/touched.h"

#include <stdlib.h>
#include <string.h>

enum { NOT, COUNTS, SITED, FAILED };

/* As in rt/sched_count.c; atomic operations are among them, for a trace has them as operations. */
static const unsigned char kinds[256] = {
	[TRACE_OP_CREATE] = COUNTS,
	[TRACE_OP_JOIN] = COUNTS,
	[TRACE_OP_DETACH] = COUNTS,
	[TRACE_OP_LOCK] = COUNTS,
	[TRACE_OP_UNLOCK] = COUNTS,
	[TRACE_OP_RDLOCK] = COUNTS,
	[TRACE_OP_LOCK_FAILED] = FAILED,
	[TRACE_OP_LOCK_INIT] = COUNTS,
	[TRACE_OP_LOCK_DESTROY] = COUNTS,
	[TRACE_OP_WAIT] = COUNTS,
	[TRACE_OP_WAKE] = COUNTS,
	[TRACE_OP_SIGNAL] = COUNTS,
	[TRACE_OP_BROADCAST] = COUNTS,
	[TRACE_OP_BARRIER_INIT] = COUNTS,
	[TRACE_OP_BARRIER_ENTER] = COUNTS,
	[TRACE_OP_BARRIER_LEAVE] = COUNTS,
	[TRACE_OP_SEM_INIT] = COUNTS,
	[TRACE_OP_SEM_POST] = COUNTS,
	[TRACE_OP_SEM_WAIT] = COUNTS,
	[TRACE_OP_SEM_FAILED] = FAILED,
	[TRACE_OP_ONCE_BEGIN] = COUNTS,
	[TRACE_OP_ONCE_END] = COUNTS,
	[TRACE_OP_ONCE_SEEN] = COUNTS,
	[TRACE_OP_FENCE] = COUNTS,
	[TRACE_OP_ATOMIC_LOAD] = COUNTS,
	[TRACE_OP_ATOMIC_STORE] = COUNTS,
	[TRACE_OP_ATOMIC_RMW] = COUNTS,
	[TRACE_OP_ATOMIC_FAILED] = COUNTS,
	[TRACE_OP_ALLOC] = SITED,
	[TRACE_OP_FREE] = SITED,
	[TRACE_OP_MAP] = SITED,
	[TRACE_OP_UNMAP] = SITED,
	[TRACE_OP_FORK] = COUNTS,
	[TRACE_OP_EXEC] = COUNTS,
	[TRACE_OP_CANCEL] = COUNTS,
	[TRACE_OP_UNIT_BEGIN] = COUNTS,
	[TRACE_OP_UNIT_END] = COUNTS,
};

/* A place that is none, for failed attempts: they repeat each other wherever they come from. */
#define FAILED_PLACE UINT64_MAX

struct thread {
	uint64_t done;
	uint64_t last_object, last_place;
	uint32_t handlers; /* signal handlers under way */
	uint64_t calls;    /* of functions, so far */
	struct open {
		uint64_t call, receiver;
	} *open; /* those that are, outermost first */
	uint64_t depth, depth_room;
	uint64_t call;          /* that the last access was in */
	struct touched touched; /* in the stretch at hand */
};

struct count {
	const struct trace *trace;
	bool every;
	struct thread *threads;
};

struct count *count_new_as(const struct trace *trace, bool every)
{
	struct count *count = mem_zalloc(1, sizeof *count);

	count->trace = trace;
	count->every = every;
	count->threads = mem_zalloc(trace->thread_count ? trace->thread_count : 1, sizeof *count->threads);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		touched_init(&count->threads[i].touched);
	return count;
}

struct count *count_new(const struct trace *trace)
{
	return count_new_as(trace, trace->header.flags & TRACE_UNFILTERED);
}

void count_free(struct count *count)
{
	if (!count)
		return;
	for (uint32_t i = 0; i < count->trace->thread_count; i++) {
		touched_release(&count->threads[i].touched);
		free(count->threads[i].open);
	}
	free(count->threads);
	free(count);
}

uint64_t count_done(const struct count *count, uint32_t thread)
{
	return count->threads[thread].done;
}

static void done(struct thread *t, uint64_t events, uint64_t object, uint64_t place)
{
	t->done += events;
	t->last_object = object;
	t->last_place = place;
}

/* Accesses in another call than the one before repeat nothing. */
static void look_at_call(struct thread *t)
{
	uint64_t call = t->depth ? t->open[t->depth - 1].call : 0;

	if (t->call != call) {
		t->call = call;
		touched_anew(&t->touched);
	}
}

/*
 * A loop that was told of when it was over is as many events as it made steps:
 * who is scheduled does them one by one.
 */
static void access_event(const struct count *count, struct thread *t, const struct trace_event *e)
{
	bool update = e->access == ATOMSAN_UPDATE, writes = update || e->access == ATOMSAN_WRITE;
	unsigned ways = (update || !writes ? TOUCHED_READ : 0) | (writes ? TOUCHED_WRITTEN : 0);
	struct touched_steps s = {.steps = 1, .fresh = 1, .first = true};

	if (e->access == ATOMSAN_OBJECT)
		return;
	if (e->step) {
		s.steps = s.fresh = e->value / e->step + (e->value % e->step != 0);
		s.last = s.steps - 1;
	}
	if (!count->every) {
		look_at_call(t);
		if (e->step)
			s = touched_steps(&t->touched, e->address, e->value, e->step, ways);
		else
			s.fresh = touched_first(&t->touched, e->address, e->value, ways);
	}
	/* A read that is done again and again at one place waits for another thread. */
	if (s.first && s.fresh && !writes && t->last_object == e->address && t->last_place == e->site)
		s.fresh--;
	if (s.fresh)
		done(t, update ? 2 * s.fresh : s.fresh, e->address + s.last * e->step, e->site);
}

static bool ends_stretch(const struct trace_event *e)
{
	return e->op != TRACE_OP_FREE && (e->op != TRACE_OP_ALLOC || e->value > TRACE_SMALL_BLOCK);
}

static void op_event(struct thread *t, const struct trace_event *e)
{
	unsigned kind = kinds[e->op];
	uint64_t place = kind == FAILED ? FAILED_PLACE : e->site;
	bool may_repeat = kind == FAILED || e->op == TRACE_OP_ATOMIC_LOAD || e->op == TRACE_OP_ATOMIC_FAILED;

	if (e->op == TRACE_OP_SIGNAL_BEGIN)
		t->handlers++;
	else if (e->op == TRACE_OP_SIGNAL_END && t->handlers)
		t->handlers--;
	if (t->handlers)
		return;
	if (e->op == TRACE_OP_ALLOC && e->value <= TRACE_SMALL_BLOCK)
		touched_forget(&t->touched, e->address, e->value);
	if (kind == NOT || (kind == SITED && e->site == TRACE_NO_SITE))
		return;
	if (may_repeat && t->last_object == e->address && t->last_place == place)
		return;
	done(t, 1, e->address, place);
	if (ends_stretch(e))
		touched_anew(&t->touched);
}

/* A part of the frame below is no other call: a trace need not have heard of it. */
static bool is_part(const struct count *count, const struct thread *t, const struct trace_event *e)
{
	return e->address == (t->depth ? t->open[t->depth - 1].receiver : 0) &&
	       trace_function_flags(count->trace, e->function) & ATOMSAN_FN_PART;
}

static void enter(const struct count *count, struct thread *t, const struct trace_event *e)
{
	uint64_t around = t->depth ? t->open[t->depth - 1].call : 0;

	if (t->depth == t->depth_room) {
		t->depth_room = t->depth_room ? t->depth_room * 2 : 64;
		t->open = mem_resize(t->open, t->depth_room, sizeof *t->open);
	}
	t->open[t->depth] = (struct open){is_part(count, t, e) ? around : ++t->calls, e->address};
	t->depth++;
}

uint64_t count_event(struct count *count, const struct trace_event *e)
{
	struct thread *t = &count->threads[e->thread];

	switch (e->kind) {
	case TRACE_ENTER:
		enter(count, t, e);
		break;
	case TRACE_EXIT:
		t->depth -= e->frames < t->depth ? e->frames : t->depth;
		break;
	case TRACE_ACCESS:
		if (!t->handlers)
			access_event(count, t, e);
		break;
	case TRACE_OP:
		op_event(t, e);
		break;
	}
	return t->done;
}
