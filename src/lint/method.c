/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Method consistency (von Praun & Gross, section 3.3). The method view of a
 * function has every variable that is touched while it runs; the lock views of
 * all threads that overlap with it must form a chain (methodview.h). Views are
 * partitioned by atomic set, the paper's classes.
 *
 * Of C's functions only those are looked at that have two lock scopes on the
 * set, or one in a loop: a getter that locks in its body is not split, while in
 * Java its lock lies outside of it. Only the lowest of the functions that call
 * each other is reported.
 */
#include "lint/methodview.h"
#include "lint/pair.h"
#include "lint/pause.h"
#include "lint/rounds.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_PLACES = 96 };

struct place {
	uint32_t inst;
	uint32_t view; /* of the set */
};

struct method {
	struct lint *lint;
	struct verdicts *verdicts;
	struct methodviews views;
	uint32_t *view_of;         /* by region: its view of the set at hand + 1, or 0 */
	struct vec_u32 *functions; /* by region: that have it in their scope */
	struct vec_u32 *points;    /* by function: where regions begin, and calls of who has some */
	uint32_t *position;        /* by function: in the order from callees to callers */
};

/* Who has which regions in its scope, and where it comes to them. */
static void find_functions(struct method *m)
{
	const struct lint *lint = m->lint;
	const struct program *p = &lint->program;

	m->functions = mem_zalloc(lint->regions.regions.count + 1, sizeof(*m->functions));
	m->points = mem_zalloc(p->functions_count + 1, sizeof(*m->points));
	m->position = mem_zalloc(p->functions_count + 1, sizeof(*m->position));
	for (uint32_t n = 0; n < lint->calls.order_count; n++) {
		uint32_t f = lint->calls.order[n];
		const struct vec_u32 *scope = &lint->views->scopes[f];

		m->position[f] = n;
		if (!lint->threads.reach[f])
			continue;
		for (uint32_t i = 0; i < scope->count; i++)
			vec_push(&m->functions[scope->at[i]], f);
	}
	for (uint32_t i = 1; i < p->insts_count; i++) {
		uint32_t count;
		const struct call_edge *edges = callgraph_at(&lint->calls, i, &count);
		bool any = lint->regions.by_inst[i] != 0;

		for (uint32_t e = 0; e < count && !any; e++)
			any = lint->views->scopes[edges[e].callee].count != 0;
		if (any)
			vec_push(&m->points[program_function_of(p, i)], i);
	}
}

/* Lock scopes of the function on the set at hand: where in it they begin. */
static uint32_t places_of(const struct method *m, uint32_t f, struct place *out)
{
	const struct lint *lint = m->lint;
	uint32_t count = 0;

	for (uint32_t k = 0; k < m->points[f].count && count < MOST_PLACES; k++) {
		uint32_t i = m->points[f].at[k], edge_count;
		const struct call_edge *edges = callgraph_at(&lint->calls, i, &edge_count);
		uint32_t own = lint->regions.by_inst[i];

		if (own && m->view_of[own])
			out[count++] = (struct place){i, m->view_of[own] - 1};
		for (uint32_t e = 0; e < edge_count; e++) {
			const struct vec_u32 *below = &lint->views->scopes[edges[e].callee];

			for (uint32_t n = 0; n < below->count && count < MOST_PLACES; n++)
				if (m->view_of[below->at[n]])
					out[count++] = (struct place){i, m->view_of[below->at[n]] - 1};
		}
	}
	return count;
}

static bool is_candidate(const struct lint *lint, const struct place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct cfg *c = &lint->cfgs[program_function_of(&lint->program, places[i].inst)];

		if (places[i].inst != places[0].inst || c->on_cycle[lint_block(lint, places[i].inst)])
			return true;
	}
	return false;
}

/* Some access of the view that can be shown. */
static uint32_t shown_access(const struct method *m, const struct methodview_set *set, uint32_t region,
			     const struct methodview_whole *whole)
{
	const struct view_class *v = &set->classes.at[set->views.at[m->view_of[region] - 1].class];

	for (int write = 1; write >= 0; write--)
		for (uint32_t i = 0; i < v->count; i++) {
			uint32_t item = m->views.items.at[v->item + i];
			uint32_t a = methodview_find(whole, item / 2) >= 0 && (item & 1 || !write)
					     ? view_access(m->lint, region, item / 2, write)
					     : 0;

			if (a)
				return a;
		}
	return 0;
}

/* A write by a concurrent thread to something in the method view. */
static bool find_writer(const struct lint *lint, struct verdict *v, const struct methodview_whole *whole)
{
	struct lockset held = pair_held(lint, v->function, v->first_via, v->second_via, v->again);

	for (uint32_t i = 0; i < whole->count; i++) {
		const struct variable *x = &lint->accesses.variables.at[whole->items[i] / 2];

		for (uint32_t n = 0; n < x->writes.count; n++)
			for (uint32_t t = 0; t < lint->threads.count; t++) {
				uint32_t by;

				if (!(lint->threads.reach[v->function] >> t & 1))
					continue;
				by = context_interferes(lint, &lint->accesses.at.at[x->writes.at[n]], t,
							v->second_via, &held);
				if (!by)
					continue;
				v->other = x->writes.at[n];
				v->thread = t;
				v->other_thread = by - 1;
				return true;
			}
	}
	return false;
}

/* Two places of the function, to show what is split: the i-th, and another one, of this region if it can be.
 */
static struct verdict split_at(const struct method *m, const struct methodview_set *set, uint32_t f,
			       const struct place *places, uint32_t count, uint32_t i, uint32_t region)
{
	uint32_t other = i;

	for (uint32_t k = 0; k < count; k++)
		if (places[k].inst != places[i].inst &&
		    (other == i || set->views.at[places[k].view].region == region))
			other = k;
	const struct place *first = &places[i < other ? i : other], *second = &places[i < other ? other : i];

	return (struct verdict){.rule = VERDICT_METHOD,
				.function = f,
				.first_via = first->inst,
				.second_via = second->inst,
				.first_region = set->views.at[first->view].region,
				.second_region = set->views.at[second->view].region,
				.again = other == i,
				.confidence = 0.3};
}

static bool judge_places(struct method *m, uint32_t f, const struct methodview_set *set,
			 const struct place *places, uint32_t count)
{
	struct methodview_whole whole = {.count = 0};
	struct lint *lint = m->lint;

	if (!is_candidate(lint, places, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		methodview_add(&m->views, &whole, &set->classes.at[set->views.at[places[i].view].class]);
	methodview_restrict(&m->views, set, &whole);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t class = set->views.at[places[i].view].class;
		bool seen = false;

		/* Called twice is looked at once; places of a call lie side by side. */
		for (uint32_t k = i; k-- > 0 && places[k].inst == places[i].inst && !seen;)
			seen = places[k].view == places[i].view;
		if (seen || !methodview_breaks_any(&m->views, set, class))
			continue;
		for (uint32_t n = 0; n < set->views.count; n++) {
			const struct lock_view *b = &set->views.at[n];

			lint->effort->steps[EFFORT_METHOD]++;
			if (!lint->regions.regions.at[b->region].lock ||
			    !methodview_breaks(&m->views.shadows.at[class], &m->views.shadows.at[b->class]))
				continue;
			struct verdict v = split_at(m, set, f, places, count, i, b->region);

			v.first = shown_access(m, set, v.first_region, &whole);
			v.second = shown_access(m, set, v.second_region, &whole);
			if (!v.first || !v.second)
				continue;
			/* Who writes does not depend on the other region, but on the two that are shown, and
			 * so does what lies between them. */
			if (pause_splits(lint, &v) || rounds_part(lint, v.first_via, v.second_via) ||
			    !find_writer(lint, &v, &whole))
				break;
			if (pair_same_object(lint, v.first_via, v.second_via) < 0)
				v.confidence -= 0.15;
			m->verdicts->count[VERDICT_METHOD]++;
			vec_push(&m->verdicts->at, v);
			return true;
		}
	}
	return false;
}

/* Accesses of a region that begins in the function itself; at most `room`. */
static uint32_t accesses_of(const struct method *m, const struct methodview_set *set,
			    const struct place *place, uint32_t *out, uint32_t room)
{
	const struct lock_view *view = &set->views.at[place->view];
	const struct view_class *v = &set->classes.at[view->class];
	uint32_t count = 0;

	for (uint32_t i = 0; m->lint->regions.by_inst[place->inst] == view->region && i < v->count; i++)
		for (int write = 0; write < 2; write++) {
			uint32_t item = m->views.items.at[v->item + i];
			uint32_t a = view_access(m->lint, view->region, item / 2, write);

			if (a && count < room)
				out[count++] = m->lint->accesses.at.at[a].inst;
		}
	/* What is further down is where the call is. */
	if (!count)
		out[count++] = place->inst;
	return count;
}

/* Are others meant to work between all that the one does and all that the other does? */
static bool is_apart(const struct method *m, const struct methodview_set *set, const struct place *a,
		     const struct place *b)
{
	uint32_t first[METHODVIEW_MOST], second[METHODVIEW_MOST];
	uint32_t firsts = accesses_of(m, set, a, first, METHODVIEW_MOST);
	uint32_t seconds = accesses_of(m, set, b, second, METHODVIEW_MOST);

	for (uint32_t i = 0; i < firsts; i++)
		for (uint32_t k = 0; k < seconds; k++) {
			m->lint->effort->steps[EFFORT_METHOD]++;
			if (!pause_parts(m->lint, first[i], second[k]))
				return false;
		}
	return true;
}

/* A function that pauses is as many as it has stretches in between. Places are in the order of the program;
 * those of a call lie side by side, and nothing tells them apart. */
static bool judge(struct method *m, uint32_t f, const struct methodview_set *set)
{
	struct place places[MOST_PLACES];
	uint32_t count = places_of(m, f, places), begin = 0;

	if (!pause_any(m->lint, f))
		return judge_places(m, f, set, places, count);
	for (uint32_t i = 1; i <= count; i++) {
		if (i < count &&
		    (places[i].inst == places[i - 1].inst || !is_apart(m, set, &places[i - 1], &places[i])))
			continue;
		if (judge_places(m, f, set, places + begin, i - begin))
			return true;
		begin = i;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Functions that have lock scopes on the set, callees first. */
static void functions_of(struct method *m, const struct methodview_set *set, struct vec_u32 *out)
{
	uint32_t *positions = NULL, count = 0, kept = 0;

	for (uint32_t i = 0; i < set->views.count; i++)
		count += m->functions[set->views.at[i].region].count;
	positions = mem_alloc((count + 1) * sizeof(*positions));
	count = 0;
	for (uint32_t i = 0; i < set->views.count; i++) {
		const struct vec_u32 *all = &m->functions[set->views.at[i].region];

		for (uint32_t n = 0; n < all->count; n++)
			positions[count++] = m->position[all->at[n]];
	}
	qsort(positions, count, sizeof(*positions), by_number);
	out->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!i || positions[i] != positions[kept])
			vec_push(out, m->lint->calls.order[positions[kept = i]]);
	free(positions);
}

static void judge_set(struct method *m, const struct methodview_set *set)
{
	struct vec_u32 functions = {0}, found = {0};

	for (uint32_t i = 0; i < set->views.count; i++)
		m->view_of[set->views.at[i].region] = i + 1;
	functions_of(m, set, &functions);
	for (uint32_t n = 0; n < functions.count; n++) {
		bool below = false;

		for (uint32_t k = 0; k < found.count && !below; k++)
			below = callgraph_below(m->lint, functions.at[n], found.at[k]);
		if (!below && judge(m, functions.at[n], set))
			vec_push(&found, functions.at[n]);
	}
	for (uint32_t i = 0; i < set->views.count; i++)
		m->view_of[set->views.at[i].region] = 0;
	vec_free(&functions);
	vec_free(&found);
}

void method_judge(struct lint *lint, struct verdicts *verdicts)
{
	struct method m = {.lint = lint, .verdicts = verdicts};

	methodview_build(&m.views, lint);
	find_functions(&m);
	m.view_of = mem_zalloc(lint->regions.regions.count + 1, sizeof(*m.view_of));
	for (uint32_t s = 0; s < m.views.sets.count; s++)
		judge_set(&m, &m.views.sets.at[s]);
	for (uint32_t r = 0; r < lint->regions.regions.count; r++)
		vec_free(&m.functions[r]);
	for (uint32_t f = 0; f < lint->program.functions_count; f++)
		vec_free(&m.points[f]);
	methodview_release(&m.views);
	free(m.functions);
	free(m.points);
	free(m.position);
	free(m.view_of);
}
