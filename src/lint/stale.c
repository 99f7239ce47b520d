/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stale values (MoTH, section 5.2): a value read in one region is used in
 * another, and a thread may write the variable in between. The paper's edges
 * (m1, x, m2) of the view dependency graph are flow's edges whose ends lie in
 * different regions, or in one that the value left and came back to.
 *
 * A use is any access in the second region that depends on the value, also a
 * read or an access to another variable: a copy into private memory with a stale
 * length writes nothing that is shared (StringBuffer).
 *
 * What the paper has no word for decides how sure we are. Permissive rules are
 * all in weigh().
 */
#include <string.h>

#include "lint/answer.h"
#include "lint/flow.h"
#include "lint/pair.h"
#include "lint/pause.h"
#include "lint/recheck.h"
#include "lint/search.h"
#include "lint/taken.h"
#include "lint/update.h"
#include "lint/verdict.h"
#include "lint/view.h"

/* Is the address made of the variable that was read, by this read of it or another in the region? */
static bool is_index(const struct lint *lint, uint32_t value, const struct access *read, int depth)
{
	const struct program *p = &lint->program;
	uint32_t maker = program_maker(p, value), count;
	const struct access *a;

	if (!maker || depth > 6 || p->insts[maker].op == PROGRAM_PHI)
		return false;
	a = access_at(lint, maker, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!a[i].write && a[i].variable == read->variable &&
		    flow_same_regions(lint, maker, read->inst))
			return true;
	for (uint32_t i = 0; i < p->insts[maker].operand_count; i++)
		if (is_index(lint, program_operand(p, &p->insts[maker], i), read, depth + 1))
			return true;
	return false;
}

/*
 * Does the value that was read say which element of the same set was looked at, in
 * the same region? Then to see later that there still is an element is no check:
 * it may be another one.
 */
static bool selects(const struct lint *lint, uint32_t access)
{
	const struct program *p = &lint->program;
	const struct access *a = &lint->accesses.at.at[access];
	const char *set = lint->accesses.variables.at[a->variable].set;
	const struct program_function *f = &p->functions[program_function_of(p, a->inst)];

	for (uint32_t b = f->block; b < f->block + f->block_count; b++)
		for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count; i++) {
			uint32_t count;
			const struct access *other = access_at(lint, i, &count);

			for (uint32_t n = 0; n < count; n++)
				if (!other[n].write && other[n].variable != a->variable &&
				    p->insts[i].op == PROGRAM_LOAD &&
				    !strcmp(lint->accesses.variables.at[other[n].variable].set, set) &&
				    flow_same_regions(lint, i, a->inst) &&
				    is_index(lint, program_operand(p, &p->insts[i], 0), a, 0))
					return true;
		}
	return false;
}

/* Does the region change anything of the set? */
static bool changes_set(const struct lint *lint, uint32_t region, const char *set)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			if (item & 1 && !strcmp(lint->accesses.variables.at[item / 2].set, set))
				return true;
		}
	return false;
}

/* Does the region make itself a user of something (of the set, if one is given)? What it found then stays
 * until it is done with it. */
static bool counts_itself(const struct lint *lint, uint32_t region, const char *set)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			if (item & 1 && !view_is_everything(&s->at.at[i]) &&
			    (!set || !strcmp(lint->accesses.variables.at[item / 2].set, set)) &&
			    update_counts_users(lint, item / 2))
				return true;
		}
	return false;
}

/*
 * Does the old value only say which object is used, and was its user counted in the same region as it
 * was read? Then the object is there still. Who is counted only now was not.
 */
static bool is_held(const struct lint *lint, const struct flow_edge *e, uint32_t region)
{
	const struct access *b = &lint->accesses.at.at[e->to.access];
	const char *set = lint->accesses.variables.at[b->variable].set;

	return e->to.kind == USE_ADDRESSES && counts_itself(lint, region, set) && !update_counts_up(lint, b);
}

static bool region_reads(const struct lint *lint, uint32_t region, uint32_t variable)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		if (view_reads(&s->at.at[i], variable))
			return true;
	return false;
}

/* The highest rank that a writer can have: nobody need look for a better one. */
enum { RANK_LOCKED = 1, RANK_IN_SCOPE = 2, RANK_KEPT_OUT = 4, RANK_BEST = 7 };

/* Locks that are surely held where the value of an edge is read: by the function, and further down. */
static struct lockset locks_of_read(const struct lint *lint, const struct flow_edge *e)
{
	uint32_t always = lint->contexts.always[e->function];
	uint32_t inst = lint->accesses.at.at[e->from.access].inst;
	struct lockset set = context_at(lint, always == UINT32_MAX ? 0 : always, e->from.via);

	if (inst != e->from.via)
		context_hold(lint, &set, inst);
	if (e->from.region)
		context_add(lint, &set, lint->regions.regions.at[e->from.region].lock,
			    lint->regions.regions.at[e->from.region].shared);
	return set;
}

/* Does who writes hold a lock that is held where the value is read? Then to hold it longer keeps it out. */
static bool kept_out(const struct lint *lint, const struct lockset *read, const struct access *write,
		     uint32_t by, const struct lockset *throughout)
{
	const struct context_list *list = context_list(lint, write);

	for (uint32_t i = 0; i < list->at.count; i++) {
		const struct lockset *held = &lint->contexts.locksets.at[list->at.at[i].lockset];

		if (list->at.at[i].thread == by && !context_exclude(throughout, held) &&
		    context_exclude(read, held))
			return true;
	}
	return false;
}

static void look_for_writers(const struct lint *lint, const struct flow_edge *e, const struct lockset *read,
			     bool atomic, struct answer *a)
{
	const struct variable *x = &lint->accesses.variables.at[a->x];

	for (uint32_t t = 0; t < lint->threads.count; t++) {
		if (!(lint->threads.reach[e->function] >> t & 1))
			continue;
		for (uint32_t i = 0; i < x->writes.count; i++) {
			const struct access *w = &lint->accesses.at.at[x->writes.at[i]];
			uint32_t by = context_interferes(lint, w, t, e->to.via, &a->held);

			lint->effort->steps[EFFORT_STALE]++;

			if (!by || !context_interferes(lint, w, t, e->from.via, &a->held))
				continue;
			bool out = kept_out(lint, read, w, by - 1, &a->held) ||
				   (atomic && lint->program.insts[w->inst].flags & PROGRAM_ATOMIC);
			int rank = (out ? RANK_KEPT_OUT : 0) +
				   (pair_in_scope(lint, w->inst, e->function) ? RANK_IN_SCOPE : 0) +
				   (region_state(lint, w->inst)->held_count ? RANK_LOCKED : 0);

			a->count = verdict_add_other(
				lint, a->others, a->count,
				(struct verdict_other){
					.access = x->writes.at[i], .thread = t, .by = by - 1, .rank = rank});
			if (rank == RANK_BEST && VERDICT_OTHERS == 1)
				return;
		}
	}
}

/* Writes that make the value stale, one per function and the likeliest first; one by the same function in
 * another thread tells most. */
static const struct answer *find_writers(struct lint *lint, struct answers *answers,
					 const struct flow_edge *e)
{
	const struct lockset read = locks_of_read(lint, e);
	const struct access *from = &lint->accesses.at.at[e->from.access];
	bool atomic = lint->program.insts[from->inst].flags & PROGRAM_ATOMIC, is_new;
	struct answer *answer =
		answer_to(lint, answers,
			  (struct answer_question){.function = e->function,
						   .first_via = e->from.via,
						   .second_via = e->to.via,
						   .left = e->around,
						   .x = from->variable,
						   .kind = context_lockset(lint, &read) * 2 + atomic},
			  &is_new);

	if (is_new)
		look_for_writers(lint, e, &read, atomic, answer);
	return answer;
}

/* Was the value, or another that was read with it, looked at again before the use? */
static bool checked_again(const struct lint *lint, const struct flow_edge *e, const struct verdict *v)
{
	const struct access *to = &lint->accesses.at.at[e->to.access];
	uint32_t x = lint->accesses.at.at[e->from.access].variable;
	/* An element was looked at, and then the way to it is changed: whichever it is now. */
	bool peeked = to->write && to->variable == x && e->to.guard_count && selects(lint, e->from.access);

	for (uint32_t i = 0; i < e->to.guard_count; i++) {
		uint32_t g = e->to.guards[i];

		if (g == x && (e->to.compared || (!e->data && !peeked)))
			return true;
		/* A version that was read with it and is still the same. */
		if (g != x && e->to.versions >> i & 1 && region_reads(lint, v->first_region, g))
			return true;
	}
	return false;
}

/* Was it waited for, and does nobody ever take it back? All who write it while others run write the same. */
static bool stays(const struct lint *lint, const struct access *read)
{
	const struct program *p = &lint->program;
	const struct vec_u32 *writes = &lint->accesses.variables.at[read->variable].writes;
	const struct program_value *all = NULL;

	if (!pause_is_waiting(lint, read->inst))
		return false;
	for (uint32_t i = 0; i < writes->count; i++) {
		const struct access *w = &lint->accesses.at.at[writes->at[i]];
		const struct program_value *value = &p->values[program_operand(p, &p->insts[w->inst], 0)];

		if (w->fresh || w->quiet)
			continue;
		if (p->insts[w->inst].op != PROGRAM_STORE || value->kind != VALUE_NUMBER ||
		    (all && all->number != value->number))
			return false;
		all = value;
	}
	return true;
}

/* Compare and exchange: what decides is what it finds then. */
static bool is_exchange(const struct lint *lint, uint32_t inst)
{
	return lint->program.insts[inst].op == PROGRAM_UPDATE && lint->program.insts[inst].sub == SUB_EQUAL;
}

/* How sure, from 0 to 1. Every lenient rule is here. */
static double weigh(struct lint *lint, const struct recheck *recheck, const struct flow_edge *e,
		    const struct verdict_other *writer, struct verdict *v)
{
	const struct access *a = &lint->accesses.at.at[e->from.access];
	const struct access *b = &lint->accesses.at.at[e->to.access];
	bool same = a->variable == b->variable;
	const struct variable *x = &lint->accesses.variables.at[a->variable];
	const struct variable *y = &lint->accesses.variables.at[b->variable];
	bool together = !y->vague && view_together(lint, a->variable, b->variable, false);
	bool same_set = !y->vague && !strcmp(x->set, y->set);
	double c;

	/* What is looked at then is another thing, so that is no second look. */
	v->searches = same_set && search_is(lint, e);
	v->checked_again = !v->searches && (checked_again(lint, e, v) || recheck_is(recheck, e) ||
					    (!e->data && same && is_exchange(lint, b->inst)));
	v->taken = taken_is(lint, e->from.access);
	/* Looked at again, and then acted not on what belongs to it but on something else: somebody notes
	 * that the old value was wrong. */
	bool noted = v->checked_again && !e->data && !same && !together && b->write;
	/* The same, and the function itself counts it. */
	bool counted = v->checked_again && !e->data && same && b->write && recheck_is_noted(lint, e);

	if (v->checked_again && !noted && !counted)
		return 0.1;
	if (e->data) {
		c = same ? (b->write ? 0.9 : 0.7) : together ? 0.75 : same_set ? 0.6 : 0.45;
		if (e->to.kind == USE_ADDRESSES)
			c -= 0.05;
		/* A ticket that something else is done with. */
		v->taken |= !same && taken_along(lint, e->from.access);
		if (v->taken || is_held(lint, e, v->first_region))
			c *= 0.4;
	} else if (v->searches) {
		c = 0.65;
	} else {
		/* To read the same variable again is no use of the old value. */
		c = counted    ? 0.6
		    : noted    ? 0.5
		    : same     ? (b->write ? 0.7 : 0.3)
		    : together ? 0.6
		    : same_set ? 0.3
			       : 0.15;
		/* Whether the value is still good makes a difference, and both ways something is done. */
		if (e->to.acts && same_set && c < 0.5)
			c = 0.5;
		if (!b->write && !e->to.acts && region_reads(lint, v->second_region, a->variable))
			c *= 0.5;
		/* Who goes round asks again, unless it is noted that the answer was old. */
		if ((e->again || e->carried) && !noted)
			c *= 0.75;
		if (pair_is_root(lint, e->function))
			c *= 0.8;
		if (stays(lint, a))
			c *= 0.5;
		/* Not a mere look: a ticket, a claim. */
		if (v->taken || changes_set(lint, v->first_region, x->set) ||
		    counts_itself(lint, v->first_region, NULL))
			c *= 0.6;
	}
	if (pair_is_job(lint, e->to.via, e->from.via))
		c *= 0.5;
	/* Each of the two has a lock of its own. */
	if (!same && !same_set && !pair_same_lock(lint, v->first_region, v->second_region))
		c *= 0.6;
	/* Two atomic operations on things that have nothing to do with each other: no one operation could do
	 * both. */
	if (!same && !same_set && !lint->regions.regions.at[v->first_region].lock &&
	    !lint->regions.regions.at[v->second_region].lock)
		c *= 0.6;
	/* What is added to the value as it is then takes nothing back that others did. */
	if (same && e->data && lint->program.insts[b->inst].op == PROGRAM_UPDATE &&
	    !is_exchange(lint, b->inst))
		c *= 0.7;
	/* What may be different things need not be one that changed. */
	if (x->vague)
		c *= 0.5;
	/* A longer region would not keep the writer out: it is a race, or was not meant to be one. */
	if (writer->rank < RANK_KEPT_OUT)
		c *= 0.5;
	/* From one object to another. */
	if (pair_same_object(lint, e->from.via, e->to.via) < 0)
		c *= 0.5;
	/* Who writes memory_order_relaxed twice where one operation would do counts on losing some. */
	if (lint->program.insts[a->inst].flags & lint->program.insts[b->inst].flags & PROGRAM_RELAXED)
		c *= 0.5;
	return c;
}

/* What was read is changed and put back where it was: whatever others did to it is lost, also if they were
 * meant to do it. */
static bool is_put_back(const struct lint *lint, const struct flow_edge *e)
{
	const struct access *a = &lint->accesses.at.at[e->from.access];
	const struct access *b = &lint->accesses.at.at[e->to.access];

	return e->data && b->write && a->variable == b->variable;
}

void stale_judge(struct lint *lint, struct verdicts *verdicts)
{
	const struct flows *f = lint->flows;
	struct answers answers = {.at.count = 0};
	struct recheck recheck;

	recheck_begin(&recheck, lint);
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.at[i];
		struct verdict v = {.rule = VERDICT_STALE,
				    .function = e->function,
				    .first = e->from.access,
				    .second = e->to.access,
				    .first_via = e->from.via,
				    .second_via = e->to.via,
				    .data = e->data,
				    .again = e->again};

		lint->effort->steps[EFFORT_STALE]++;
		v.first_region = e->from.region ? e->from.region : flow_region(lint, e->from.via);
		v.second_region = e->to.region ? e->to.region : flow_region(lint, e->to.via);
		if (!is_put_back(lint, e) && pause_splits(lint, &v))
			continue;
		const struct answer *writers = find_writers(lint, &answers, e);

		if (!writers->count)
			continue;
		v.confidence = weigh(lint, &recheck, e, &writers->others[0], &v);
		verdicts->count[VERDICT_STALE]++;
		verdict_add(verdicts, &v, writers->others, writers->count);
	}
	answer_release(&answers);
	recheck_end(&recheck);
}
