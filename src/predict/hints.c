/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/hints.h"

#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is known of a granule, as a number that is not 0: the first thread + 1, and two bits. */
enum { WRITTEN = 1u << 31, SHARED = 1u << 30 };

/* A range longer than this is looked at by its ends: it is a buffer that is passed on as a whole. */
enum { RANGE_MAX = 1 << 16 };

struct work {
	struct map granules;
	uint8_t *seen, *matters; /* by site */
	uint8_t *ruled_out;      /* by site: is about something else; NULL: nothing is */
	uint64_t sites;
	uint64_t *weights; /* by thread */
};

static bool writes(const struct trace_event *e)
{
	if (e->kind == TRACE_OP)
		return e->op != TRACE_OP_ATOMIC_LOAD && e->op != TRACE_OP_ATOMIC_FAILED;
	return e->access == ATOMSAN_WRITE || e->access == ATOMSAN_UPDATE;
}

static uint64_t length_of(const struct trace_event *e)
{
	return e->value > RANGE_MAX ? RANGE_MAX : e->value ? e->value : 1;
}

static void touch(struct work *w, const struct trace_event *e)
{
	for (uint64_t p = e->address & ~7ull, end = e->address + length_of(e); p < end; p += 8) {
		uint32_t state = map_get(&w->granules, p), mine = e->thread + 1, next = state;

		if (!state)
			next = mine;
		else if ((state & (SHARED - 1)) != mine)
			next |= SHARED;
		if (writes(e))
			next |= WRITTEN;
		if (next != state)
			map_set(&w->granules, p, next);
	}
}

static bool is_shared(const struct work *w, const struct trace_event *e)
{
	for (uint64_t p = e->address & ~7ull, end = e->address + length_of(e); p < end; p += 8)
		if ((map_get(&w->granules, p) & (SHARED | WRITTEN)) == (SHARED | WRITTEN))
			return true;
	return false;
}

static bool is_access(const struct trace_event *e)
{
	return e->kind == TRACE_ACCESS && e->access != ATOMSAN_OBJECT;
}

static void first_look(struct work *w, const struct trace_event *e)
{
	if (is_access(e))
		touch(w, e);
}

static void second_look(struct work *w, const struct trace_event *e)
{
	if (e->kind == TRACE_OP)
		w->weights[e->thread]++;
	if (!is_access(e) || !e->site || e->site >= w->sites)
		return;
	w->seen[e->site] = 1;
	if (!(w->ruled_out && w->ruled_out[e->site]) && is_shared(w, e)) {
		w->matters[e->site] = 1;
		w->weights[e->thread]++;
	}
}

static int each_event(struct work *w, struct trace *trace,
		      void (*look)(struct work *, const struct trace_event *), struct err *err)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event e;
	int got;

	while ((got = trace_next(cursor, &e)) > 0)
		look(w, &e);
	if (got < 0)
		*err = *trace_cursor_error(cursor);
	trace_cursor_close(cursor);
	return got;
}

static void write_text(struct hints *h, const struct work *w, const struct trace *trace)
{
	size_t length;
	FILE *out = open_memstream(&h->text, &length);

	BUG_ON(!out);
	for (uint64_t i = 1; i < w->sites; i++) {
		h->places += w->seen[i];
		h->shared_places += w->matters[i];
		if (w->seen[i] && !w->matters[i])
			fprintf(out, "skip %" PRIu64 "\n", i);
	}
	for (uint32_t i = 0; i < trace->thread_count; i++)
		fprintf(out, "thread %s %" PRIu64 "\n", trace_thread_name(trace, i), w->weights[i]);
	fprintf(out, "points %" PRIu64 "\n", h->points);
	fclose(out);
}

int hints_make(struct hints *h, struct trace *trace, struct err *err)
{
	return hints_make_about(h, trace, NULL, NULL, err);
}

int hints_make_about(struct hints *h, struct trace *trace, hints_about *about, void *user, struct err *err)
{
	struct work w = {.sites = 1};
	int got;

	memset(h, 0, sizeof *h);
	for (uint32_t i = 0; i < trace->module_count; i++)
		if (trace->modules[i].first_site + trace->modules[i].sites > w.sites)
			w.sites = trace->modules[i].first_site + trace->modules[i].sites;
	w.seen = mem_zalloc(w.sites, 1);
	w.matters = mem_zalloc(w.sites, 1);
	if (about) {
		w.ruled_out = mem_zalloc(w.sites, 1);
		for (uint64_t i = 1; i < w.sites; i++)
			w.ruled_out[i] = !about(user, (uint32_t)i);
	}
	w.weights = mem_zalloc(trace->thread_count ? trace->thread_count : 1, sizeof *w.weights);
	got = each_event(&w, trace, first_look, err);
	if (got >= 0)
		got = each_event(&w, trace, second_look, err);
	if (got >= 0) {
		for (uint32_t i = 0; i < trace->thread_count; i++)
			h->points += w.weights[i];
		h->locations = w.granules.count;
		for (uint64_t i = 0; w.granules.slots && i <= w.granules.mask; i++)
			h->shared_locations +=
				(w.granules.slots[i].value & (SHARED | WRITTEN)) == (SHARED | WRITTEN);
		write_text(h, &w, trace);
	}
	map_release(&w.granules);
	free(w.seen);
	free(w.matters);
	free(w.ruled_out);
	free(w.weights);
	return got < 0 ? -1 : 0;
}

void hints_release(struct hints *h)
{
	free(h->text);
	h->text = NULL;
}
