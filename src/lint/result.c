/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/result.h"

#include <stdio.h>
#include <string.h>

#include "lint/flow.h"
#include "lint/group.h"

static const struct access *access_number(const struct lint *lint, uint32_t n)
{
	return &lint->accesses.at.at[n];
}

static const char *function_name(const struct lint *lint, uint32_t f)
{
	return program_text(&lint->program, lint->program.functions[f].name);
}

static struct finding_place place_of(struct lint *lint, struct finding_list *list, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[program_function_of(p, inst)];

	return (struct finding_place){
		.function = finding_text(list, program_text(p, f->name)),
		.file = *program_text(p, f->file) ? finding_text(list, program_text(p, f->file)) : NULL,
		.line = p->insts[inst].line,
		.column = p->insts[inst].column,
	};
}

static struct finding_place function_place(struct lint *lint, struct finding_list *list, uint32_t function)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[function];

	return (struct finding_place){
		.function = finding_text(list, program_text(p, f->name)),
		.file = *program_text(p, f->file) ? finding_text(list, program_text(p, f->file)) : NULL,
		.line = f->line,
	};
}

/* Where the source has the access, if that is in a function that was inlined. */
static void add_inlined(struct lint *lint, struct finding_list *list, struct finding_access *a, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct program_place *place = &p->places[p->insts[inst].place];
	const char *function = program_text(p, place->function), *file = program_text(p, place->file);

	if (p->insts[inst].place && *function && *file && a->place.function &&
	    strcmp(function, a->place.function) != 0)
		finding_add_frame(list, a,
				  (struct finding_place){.function = finding_text(list, function),
							 .file = finding_text(list, file),
							 .line = place->line,
							 .column = place->column});
}

/* ---- one finding ---- */

static void add_locks(struct lint *lint, struct finding_list *list, struct finding_access *a,
		      const struct access *access)
{
	const struct lockset *set;

	if (!context_list(lint, access)->at.count)
		return;
	set = &lint->contexts.locksets.at[context_list(lint, access)->at.at[0].lockset];
	for (uint32_t i = 0; i < set->count; i++)
		finding_add_lock(list, a, lint->regions.locks.at[set->locks[i]].name);
}

static struct finding_access *add_step(struct lint *lint, struct finding_list *list, struct finding *finding,
				       uint32_t number, uint32_t via, uint32_t unit, const char *note)
{
	const struct access *access = access_number(lint, number);
	struct finding_access *a = finding_add_access(list, finding);
	uint8_t op = lint->program.insts[access->inst].op;

	a->unit = unit;
	a->op = op == PROGRAM_UPDATE ? 'U' : access->write ? 'W' : 'R';
	a->variable = finding_text(list, lint->accesses.variables.at[access->variable].name);
	a->place = place_of(lint, list, access->inst);
	add_inlined(lint, list, a, access->inst);
	finding_add_frame(list, a, a->place);
	if (via && via != access->inst)
		finding_add_frame(list, a, place_of(lint, list, via));
	add_locks(lint, list, a, access);
	a->note = finding_text(list, note);
	return a;
}

static const char *why_unit(struct lint *lint, struct finding_list *list, const struct verdict *v)
{
	switch (v->rule) {
	case VERDICT_STALE:
		if (v->searches)
			return "it claims one of several things because those before it did not fit, and by "
			       "then "
			       "they may";
		return v->data ? "what it reads in one critical region it uses in another"
			       : "what it reads in one critical region decides what it does in another";
	case VERDICT_READS:
		return "it uses together what it reads in two critical regions";
	case VERDICT_WRITES:
		return "it writes in two critical regions what others read in one";
	case VERDICT_METHOD:
		return "its critical regions protect different parts of what it accesses";
	case VERDICT_SPLIT:
		return "it writes the same variable in two critical regions";
	case VERDICT_WHOLE:
		return finding_textf(
			list, "it holds %s over two critical regions of %s, and others need not",
			lint->regions.locks.at[v->outer].name,
			lint->regions.locks.at[lint->regions.regions.at[v->first_region].lock].name);
	case VERDICT_PRIVATE_LOCK:
		return "its lock is one that no other thread can take";
	default:
		return "?";
	}
}

static const char *region_words(struct lint *lint, struct finding_list *list, uint32_t region)
{
	const struct region *r = &lint->regions.regions.at[region];

	if (!region)
		return "";
	if (!r->lock)
		return " in an atomic operation";
	return finding_textf(list, " in the region of %s that begins at line %u",
			     lint->regions.locks.at[r->lock].name, lint->program.insts[r->inst].line);
}

static const char *first_note(struct lint *lint, struct finding_list *list, const struct verdict *v)
{
	return finding_textf(list, "%s%s", access_number(lint, v->first)->write ? "writes it" : "reads it",
			     region_words(lint, list, v->first_region));
}

static const char *second_note(struct lint *lint, struct finding_list *list, const struct verdict *v)
{
	const char *where = region_words(lint, list, v->second_region);
	const struct variable *x = &lint->accesses.variables.at[access_number(lint, v->first)->variable];

	switch (v->rule) {
	case VERDICT_STALE:
		return v->data ? finding_textf(list, "with the old %s%s", x->name, where)
			       : finding_textf(list, "because of the old %s%s", x->name, where);
	case VERDICT_READS:
		return finding_textf(list, "and uses both together%s", where);
	default:
		return finding_textf(list, "%s%s", access_number(lint, v->second)->write ? "writes" : "reads",
				     where);
	}
}

static const char *other_note(struct lint *lint, struct finding_list *list, const struct verdict *v)
{
	const char *thread = thread_name(lint, v->other_thread);
	const char *who = finding_textf(list, "%s%s", v->thread == v->other_thread ? "another " : "", thread);

	switch (v->rule) {
	case VERDICT_STALE:
		return finding_textf(list, "makes it stale, in thread %s", who);
	case VERDICT_READS:
		return finding_textf(list, "changes both in between, in thread %s", who);
	case VERDICT_WRITES:
	case VERDICT_SPLIT:
		return finding_textf(list, "sees a state in between, in thread %s", who);
	default:
		return finding_textf(list, "comes in between, in thread %s", who);
	}
}

static char letter(const struct lint *lint, uint32_t access)
{
	return access_number(lint, access)->write ? 'W' : 'R';
}

static const char *advice_for(struct lint *lint, struct finding_list *list, const struct group *g,
			      const struct verdict *v)
{
	const struct region *a = &lint->regions.regions.at[v->first_region];
	const struct region *b = &lint->regions.regions.at[v->second_region];
	const char *f = function_name(lint, v->function);

	if (v->rule == VERDICT_PRIVATE_LOCK)
		return finding_textf(
			list,
			"Use a lock that all threads share, such as one beside the data that %s changes.", f);
	if (!a->lock && !b->lock)
		return finding_textf(
			list,
			"Make one atomic operation of both in %s (compare and exchange, fetch and "
			"add), or hold a lock over lines %u to %u.",
			f, g->from_line, g->to_line);
	if (a->lock == b->lock || !b->lock || !a->lock)
		return finding_textf(
			list, "Hold %s in %s from line %u to line %u, without giving it back in between.",
			lint->regions.locks.at[a->lock ? a->lock : b->lock].name, f, g->from_line,
			g->to_line);
	return finding_textf(list, "Hold both %s and %s in %s from line %u to line %u.",
			     lint->regions.locks.at[a->lock].name, lint->regions.locks.at[b->lock].name, f,
			     g->from_line, g->to_line);
}

static enum finding_kind kind_of(const struct verdict *v)
{
	switch (v->rule) {
	case VERDICT_STALE:
		return FINDING_STALE_VALUE;
	case VERDICT_READS:
	case VERDICT_WRITES:
		return FINDING_HIGH_LEVEL_RACE;
	default:
		return FINDING_ATOMICITY;
	}
}

static void add_unit(struct lint *lint, struct finding_list *list, struct finding *finding, uint32_t function,
		     const char *set, const char *why)
{
	struct finding_unit *unit = finding_add_unit(list, finding);

	memset(unit, 0, sizeof(*unit));
	unit->place = function_place(lint, list, function);
	unit->set = finding_text(list, set);
	unit->why = finding_text(list, why);
}

static void add_finding(struct lint *lint, const struct verdicts *verdicts, const struct group *g,
			struct finding_list *list)
{
	const struct verdict *v = &verdicts->at.at[g->best];
	struct finding *finding = finding_add(list);
	char pattern[4] = {letter(lint, v->first), letter(lint, v->other), letter(lint, v->second), 0};

	finding->kind = kind_of(v);
	finding->state = FINDING_SUSPECTED;
	finding->pattern = finding_text(list, pattern);
	finding->confidence = g->confidence;
	finding->seen = g->pairs;
	add_unit(lint, list, finding, g->function, g->set, why_unit(lint, list, v));
	add_unit(lint, list, finding, g->other_function, g->set,
		 g->function == g->other_function ? "another thread runs it at the same time"
						  : "another thread runs it in between");
	add_step(lint, list, finding, v->first, v->first_via, 0, first_note(lint, list, v));
	add_step(lint, list, finding, v->other, 0, 1, other_note(lint, list, v));
	if (v->other_second)
		add_step(lint, list, finding, v->other_second, 0, 1, "in the same critical region");
	add_step(lint, list, finding, v->second, v->second_via, 0, second_note(lint, list, v));
	uint32_t last = finding->access_count - 1;

	finding_add_edge(list, finding, (struct finding_edge){0, 1, 0, 1});
	finding_add_edge(list, finding, (struct finding_edge){1, 0, last - 1, last});
	for (uint32_t i = 0; i < finding->access_count; i++)
		finding_add_variable(list, finding, finding->accesses[i].variable);
	finding->title =
		finding_textf(list, "%s is not atomic over %s", function_name(lint, g->function), g->set);
	finding->advice = advice_for(lint, list, g, v);
	finding_identify(finding);
}

/* ---- all ---- */

static void say_counts(struct lint *lint, const struct verdicts *verdicts, struct finding_list *list)
{
	static const char *const names[] = {[VERDICT_STALE] = "stale_values",
					    [VERDICT_READS] = "high_level_races_of_reads",
					    [VERDICT_WRITES] = "high_level_races_of_writes",
					    [VERDICT_METHOD] = "inconsistent_methods",
					    [VERDICT_SPLIT] = "split_writes",
					    [VERDICT_WHOLE] = "split_wholes",
					    [VERDICT_PRIVATE_LOCK] = "private_locks"};
	uint32_t shared = 0, regions = 0, functions = 0;

	for (uint32_t i = 1; i < lint->accesses.variables.count; i++)
		shared += lint->accesses.variables.at[i].shared;
	for (uint32_t i = 1; i < lint->regions.regions.count; i++)
		regions += lint->regions.regions.at[i].lock != 0;
	for (uint32_t f = 1; f < lint->program.functions_count; f++)
		functions += (lint->program.functions[f].flags & FUNCTION_DEFINED) != 0;
	finding_add_count(list, "functions", functions);
	finding_add_count(list, "instructions", lint->program.insts_count - 1);
	finding_add_count(list, "calls", lint->calls.edge_count);
	finding_add_count(list, "threads", lint->threads.count);
	finding_add_count(list, "locks", lint->regions.locks.count - 1);
	finding_add_count(list, "regions", regions);
	finding_add_count(list, "shared_variables", shared);
	for (int i = 0; i < VERDICT_RULES; i++)
		finding_add_count(list, names[i], verdicts->count[i]);
}

static void say_blind_spots(struct lint *lint, struct finding_list *list)
{
	const struct program *p = &lint->program;

	for (uint32_t i = 1; i < p->blind_spots_count; i++)
		finding_add_blind_spot(list, program_text(p, p->blind_spots[i]));
	if (lint->threads.is_library)
		finding_add_blind_spot(list,
				       "there is no main: all external functions are taken to be called by "
				       "several threads at a time");
	else if (lint->threads.count == 1)
		finding_add_blind_spot(list,
				       "no thread is created in what was read, so nothing can interfere");
	if (lint->threads.left_out)
		finding_add_blind_spot(
			list,
			finding_textf(list, "%u kinds of threads were taken for one, there are too many",
				      lint->threads.left_out + 1));
	if (lint->pt.guessed)
		finding_add_blind_spot(
			list,
			finding_textf(list,
				      "%u calls through pointers may lead to any function of their type",
				      lint->pt.guessed));
	if (lint->contexts.capped)
		finding_add_blind_spot(
			list,
			finding_textf(list,
				      "%u functions are called with too many sets of locks to tell all apart",
				      lint->contexts.capped));
	if (lint->flows->cut)
		finding_add_blind_spot(
			list,
			finding_textf(list,
				      "in %u functions not all values were followed to their ends, there "
				      "are too many",
				      lint->flows->cut));
}

void result_add(struct lint *lint, const struct verdicts *verdicts, double threshold,
		struct finding_list *list)
{
	struct groups groups = {.at.count = 0};

	lint_part(lint, EFFORT_GROUPS);
	group_build(lint, verdicts, threshold, &groups);
	for (uint32_t i = 0; i < groups.at.count && groups.at.at[i].confidence >= threshold; i++)
		add_finding(lint, verdicts, &groups.at.at[i], list);
	say_counts(lint, verdicts, list);
	say_blind_spots(lint, list);
	lint_part(lint, EFFORT_PARTS);
	vec_free(&groups.at);
}
