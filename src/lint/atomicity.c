/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections, and the order of locks, into the atomicity repository. How sure a
 * pattern is: what is loaded, computed with and stored again is hardly ever meant
 * to be interrupted; what is tested and then used sometimes is; two accesses one
 * after the other are candidates only, for runs to confirm. Volatile data is left
 * out, and atomic data but for loads and stores that make up an update; relaxed
 * ones say themselves that a lost one does not matter.
 */
#include "lint/section.h"

enum { ENDS = ATOMICITY_ENDS };

struct adding {
	struct lint *lint;
	struct repository *repository;
	const struct atomicity_table *table;
	uint32_t count;
};

static bool is_usable(const struct lint *lint, const struct access *a, enum section_pattern pattern)
{
	const struct program_inst *inst = &lint->program.insts[a->inst];

	return (inst->op == PROGRAM_LOAD || inst->op == PROGRAM_STORE) && inst->line &&
	       !(inst->flags & (PROGRAM_VOLATILE | PROGRAM_RELAXED)) &&
	       (pattern == SECTION_LOAD_STORE || !(inst->flags & PROGRAM_ATOMIC));
}

static struct repository_place place_of(const struct lint *lint, const struct variable *v,
					const struct access *a)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[program_function_of(p, a->inst)];

	return (struct repository_place){.kind = a->write ? ATOMICITY_WRITE : ATOMICITY_READ,
					 .variable = v->name,
					 .function = program_text(p, f->name),
					 .file = program_text(p, f->file),
					 .line = p->insts[a->inst].line,
					 .column = p->insts[a->inst].column};
}

static void add_found(const struct section_found *found, void *arg)
{
	static const uint32_t confidence[] = {
		[SECTION_LOAD_STORE] = 800, [SECTION_TEST_USE] = 600, [SECTION_PAIR] = 200};
	struct adding *adding = arg;
	const struct lint *lint = adding->lint;
	struct repository_end ends[ENDS];
	struct repository_from from = {.origin = ATOMICITY_LINT,
				       .what = section_pattern_text(found->pattern),
				       .confidence = confidence[found->pattern]};
	struct repository_section section = {.variable = found->variable->name,
					     .ends = ends,
					     .consecutive = found->pattern == SECTION_PAIR,
					     .from = &from,
					     .from_count = 1};

	if (!is_usable(lint, found->entry, found->pattern))
		return;
	section.entry = place_of(lint, found->variable, found->entry);
	for (uint32_t i = 0; i < found->ends.count && section.end_count < ENDS; i++) {
		const struct access *end = &lint->accesses.at.at[found->ends.at[i]];
		struct repository_end *to = &ends[section.end_count];

		if (!is_usable(lint, end, found->pattern))
			continue;
		to->place = place_of(lint, found->variable, end);
		to->allow = atomicity_serializable(section.entry.kind, to->place.kind);
		section.end_count++;
	}
	if (!section.end_count || repository_settle_section(&section, adding->table))
		return;
	/* The same access, in another instance of the analysis: nothing new. */
	if (!repository_find(adding->repository, section.id))
		adding->count++;
	repository_add(adding->repository, &section);
}

/* Where a region begins, what is held already comes before its lock. */
static void add_orders(struct adding *adding)
{
	struct lint *lint = adding->lint;

	for (uint32_t r = 1; r < lint->regions.regions.count; r++) {
		const struct region *region = &lint->regions.regions.at[r];
		uint32_t always = lint->contexts.always[region->function];
		struct lockset held;

		if (!region->lock)
			continue;
		held = context_at(lint, always == UINT32_MAX ? 0 : always, region->inst);
		for (uint32_t i = 0; i < held.count; i++)
			if (held.locks[i] != region->lock)
				repository_add_order(adding->repository,
						     lint->regions.locks.at[held.locks[i]].name,
						     lint->regions.locks.at[region->lock].name);
	}
}

uint32_t section_add(struct lint *lint, struct repository *repository, const struct atomicity_table *table)
{
	struct adding adding = {lint, repository, table, 0};

	section_each(lint, add_found, &adding);
	add_orders(&adding);
	return adding.count;
}
