/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The repository and one build of the program: where its places are, and what is not there any more. */
#include "repository/inside.h"

#include <string.h>

static struct atomicity_word word(const char *text)
{
	return (struct atomicity_word){.at = text, .length = (uint32_t)strlen(text)};
}

/* False: the program does not have it. */
static bool settle(struct repository_place *place, const struct atomicity_table *table, bool same_build)
{
	struct atomicity_place at = {place->kind,       word(place->variable), word(place->function),
				     word(place->file), place->line,           place->column,
				     place->ordinal,    place->count};

	if (!atomicity_match(&at, table, same_build, &at.line, &at.column))
		return false;
	/* Whoever gave no column gets that of the first one on the line. */
	if (!at.column)
		at.column = table->sites[atomicity_next_site(&at, at.line, 0, table, 0) - 1].column;
	atomicity_number(&at, table);
	place->line = at.line;
	place->column = at.column;
	place->ordinal = at.ordinal;
	place->count = at.count;
	return true;
}

static const struct repository_place *settle_section(struct repository_section *section,
						     const struct atomicity_table *table, bool same_build)
{
	uint32_t kept = 0;

	if (!settle(&section->entry, table, same_build))
		return &section->entry;
	for (uint32_t i = 0; i < section->end_count; i++)
		if (settle(&section->ends[i].place, table, same_build))
			section->ends[kept++] = section->ends[i];
	if (!kept)
		return &section->ends[0].place;
	section->end_count = kept;
	repository_identify(section);
	return NULL;
}

const struct repository_place *repository_settle_section(struct repository_section *section,
							 const struct atomicity_table *table)
{
	return settle_section(section, table, true);
}

struct settling {
	const struct atomicity_table *table;
	bool same_build;
	void (*lost)(const struct repository_section *section, const struct repository_place *place,
		     void *arg);
	void *arg;
};

static bool is_lost(struct repository_section *section, void *arg)
{
	const struct settling *s = arg;
	const struct repository_place *missing = settle_section(section, s->table, s->same_build);

	if (missing && s->lost)
		s->lost(section, missing, s->arg);
	return missing != NULL;
}

uint32_t repository_settle(struct repository *repository, const struct atomicity_table *table,
			   const char *build,
			   void (*lost)(const struct repository_section *section,
					const struct repository_place *place, void *arg),
			   void *arg)
{
	bool same_build = !repository->build || (build && !strcmp(repository->build, build));
	struct settling settling = {table, same_build, lost, arg};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < repository->broken_count; i++)
		if (settle(&repository->broken[i][0], table, same_build) &&
		    settle(&repository->broken[i][1], table, same_build)) {
			memmove(&repository->broken[kept], &repository->broken[i],
				sizeof(*repository->broken));
			kept++;
		}
	repository->broken_count = kept;
	repository_remove(repository, is_lost, &settling);
	repository->build = repository_text(repository, build);
	return repository->section_count;
}
