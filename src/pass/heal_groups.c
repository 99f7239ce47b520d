/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which reads nobody minds. A section says what others may do to its variable
 * meanwhile, and most let them read: then a read that begins and ends nothing
 * need not be told of. But sections share gates, and who waits at a gate waits
 * for whoever has it. So what counts is what all sections allow whose gates can
 * be one, and those are joined here as the runtime joins them (rt/heal_field.c),
 * from the repository alone, for a unit of compilation does not see the others.
 */
#include "pass/heal.h"

#include <stdlib.h>
#include <string.h>

struct names {
	const char *unit, *file;
	const char **variables; /* of the entry and of the ends */
	uint32_t count;
};

static uint32_t *leaders;
static bool *minds; /* by leader */
static uint32_t group_count;

static uint32_t leader_of(uint32_t section)
{
	while (leaders[section] != section)
		section = leaders[section];
	return section;
}

/* The same variable, or another member of the same struct. */
static bool akin(const char *a, const char *b)
{
	size_t length = strcspn(a, ".");

	return !strcmp(a, b) || (a[length] == '.' && !strncmp(a, b, length + 1));
}

/* One that is kept whole takes in what else its unit uses: of globals nobody knows which. */
static bool takes_globals(const struct atomicity_section *section, const struct names *names)
{
	return atomicity_is_whole(section) && !strchr(names->variables[0], '.');
}

static bool share(const struct names *a, const struct names *b)
{
	if (!strcmp(a->unit, b->unit) && !strcmp(a->file, b->file))
		return true;
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t k = 0; k < b->count; k++)
			if (akin(a->variables[i], b->variables[k]))
				return true;
	return false;
}

static struct names names_of(const struct atomicity_section *section)
{
	bool given = section->unit.length != 0;
	struct names names = {
		.unit = heal_word(given ? section->unit : section->entry.function),
		.file = atomicity_last_part(heal_word(given ? section->unit_file : section->entry.file)),
		.variables = calloc(section->end_count + 1, sizeof *names.variables)};

	names.variables[names.count++] = heal_word(section->entry.variable);
	for (uint32_t i = 0; i < section->end_count; i++)
		names.variables[names.count++] = heal_word(section->ends[i].place.variable);
	return names;
}

void heal_groups(const struct atomicity_section *sections, uint32_t count)
{
	struct names *names = calloc(count, sizeof *names);

	if (group_count)
		goto out;
	leaders = calloc(count, sizeof *leaders);
	minds = calloc(count, sizeof *minds);
	group_count = count;
	for (uint32_t i = 0; i < count; i++) {
		names[i] = names_of(&sections[i]);
		leaders[i] = i;
		for (uint32_t k = 0; k < i; k++)
			if (leader_of(k) != leader_of(i) &&
			    (share(&names[i], &names[k]) || (takes_globals(&sections[i], &names[i]) &&
							     takes_globals(&sections[k], &names[k]))))
				leaders[leader_of(i)] = leader_of(k);
	}
	for (uint32_t i = 0; i < count; i++) {
		minds[leader_of(i)] |= !(atomicity_heal_allow(&sections[i]) & ATOMSAN_HEAL_READ);
		free(names[i].variables);
	}
out:
	free(names);
}

bool heal_group_minds_reads(uint32_t section)
{
	return minds[leader_of(section)];
}
