/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/witness.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* What a site is for the finding. */
enum { FIRST = 1, BETWEEN = 2, LAST = 4, LOOKED_UP = 8 };

/* Accesses in between that are remembered; a thread that waits for longer has seen enough of them. */
enum { BETWEEN_MOST = 32 };

struct range {
	uint64_t from, to;
};

/* How far a thread is. */
struct progress {
	bool began;
	struct range first;
	struct range between[BETWEEN_MOST];
	uint32_t count; /* all that there were; the latest are kept */
};

struct witness {
	const struct trace *trace;
	const struct finding *finding;
	struct map roles; /* by site */
	struct progress **threads;
	uint32_t thread_count;
	unsigned reached;
	bool happened;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool same_file(const char *a, const char *b)
{
	return !a || !b || !strcmp(last_part(a), last_part(b));
}

static bool same_place(const struct finding_place *place, const struct trace_site *site)
{
	if (place->function && site->function && strcmp(place->function, site->function) != 0)
		return false;
	return place->line == site->line && same_file(place->file, site->file);
}

static unsigned role_of(struct witness *w, uint32_t number)
{
	const struct finding *f = w->finding;
	unsigned role = map_get(&w->roles, number);
	struct trace_site site;

	if (role)
		return role;
	role = LOOKED_UP;
	if (!trace_site(w->trace, number, &site, NULL))
		for (uint32_t i = 0; i < f->access_count; i++)
			if (same_place(&f->accesses[i].place, &site))
				role |= i == 0 ? FIRST : i + 1 == f->access_count ? LAST : BETWEEN;
	map_set(&w->roles, number, role);
	return role;
}

struct witness *witness_new(const struct trace *trace, const struct finding *finding)
{
	struct witness *w = mem_zalloc(1, sizeof(*w));

	w->trace = trace;
	w->finding = finding;
	return w;
}

static bool is_access(const struct trace_event *e)
{
	if (e->kind == TRACE_OP)
		return e->op >= TRACE_OP_ATOMIC_LOAD && e->op <= TRACE_OP_ATOMIC_FAILED;
	return e->kind == TRACE_ACCESS && e->access != ATOMSAN_OBJECT;
}

static struct range range_of(const struct trace_event *e)
{
	/* The value of an operation is no length; eight bytes is what the tools tell apart. */
	uint64_t length = e->kind == TRACE_ACCESS && e->value ? e->value : 1;

	return (struct range){e->address & ~7ull, e->address + length};
}

static bool overlap(struct range a, struct range b)
{
	return a.from < b.to && b.from < a.to;
}

static struct progress *progress_of(struct witness *w, uint32_t thread)
{
	if (thread >= w->thread_count) {
		w->threads = mem_resize(w->threads, thread + 1, sizeof(struct progress *));
		memset(w->threads + w->thread_count, 0,
		       (thread + 1 - w->thread_count) * sizeof(struct progress *));
		w->thread_count = thread + 1;
	}
	if (!w->threads[thread])
		w->threads[thread] = mem_zalloc(1, sizeof(struct progress));
	return w->threads[thread];
}

static void come_between(struct witness *w, uint32_t thread, struct range range)
{
	for (uint32_t t = 0; t < w->thread_count; t++) {
		struct progress *p = w->threads[t];

		if (t != thread && p && p->began)
			p->between[p->count++ % BETWEEN_MOST] = range;
	}
}

static void end(struct witness *w, const struct progress *p, struct range last)
{
	uint32_t kept = p->count < BETWEEN_MOST ? p->count : BETWEEN_MOST;

	for (uint32_t i = 0; p->began && i < kept; i++)
		if (overlap(p->between[i], p->first) || overlap(p->between[i], last))
			w->happened = true;
}

void witness_event(struct witness *w, const struct trace_event *e)
{
	if (w->happened || !is_access(e) || !e->site || e->site == TRACE_NO_SITE)
		return;
	unsigned role = role_of(w, e->site);

	if (role == LOOKED_UP)
		return;
	struct progress *p = progress_of(w, e->thread);

	w->reached |= role;
	if (role & LAST)
		end(w, p, range_of(e));
	if (role & BETWEEN)
		come_between(w, e->thread, range_of(e));
	if (role & FIRST) {
		p->began = true;
		p->first = range_of(e);
		p->count = 0;
	}
}

bool witness_happened(const struct witness *w)
{
	return w->happened;
}

bool witness_reached(const struct witness *w)
{
	return (w->reached & (FIRST | BETWEEN | LAST)) == (FIRST | BETWEEN | LAST);
}

void witness_free(struct witness *w)
{
	if (!w)
		return;
	for (uint32_t t = 0; t < w->thread_count; t++)
		free(w->threads[t]);
	free(w->threads);
	map_release(&w->roles);
	free(w);
}

static bool same_function(const struct finding_place *place, const struct trace_site *site)
{
	return place->function && site->function && !strcmp(place->function, site->function) &&
	       same_file(place->file, site->file);
}

bool witness_concerns(const struct finding *f, const struct trace *trace, uint32_t number)
{
	struct trace_site site;

	if (trace_site(trace, number, &site, NULL))
		return false;
	for (uint32_t i = 0; i < f->unit_count; i++)
		if (same_function(&f->units[i].place, &site))
			return true;
	for (uint32_t i = 0; i < f->access_count; i++) {
		const struct finding_access *a = &f->accesses[i];

		if (same_function(&a->place, &site))
			return true;
		for (uint32_t k = 0; k < a->depth; k++)
			if (same_function(&a->stack[k], &site))
				return true;
	}
	return false;
}
