/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the static side can tell the others (docs/sections.md): atomic sections
 * by pattern (AtomRace, section 4), getters and setters, and which variables
 * threads share, as a JSON document; the sections into the atomicity repository,
 * too.
 */
#ifndef ATOMSAN_LINT_SECTION_H
#define ATOMSAN_LINT_SECTION_H

#include <stdio.h>

#include "lint/lint.h"
#include "repository/repository.h"

enum section_pattern { SECTION_LOAD_STORE, SECTION_TEST_USE, SECTION_PAIR, SECTION_PATTERNS };

struct section_found {
	const struct variable *variable;
	const struct access *entry;
	enum section_pattern pattern;
	struct vec_u32 ends; /* numbers of accesses */
};

void section_each(const struct lint *lint, void (*take)(const struct section_found *found, void *arg),
		  void *arg);
const char *section_pattern_text(enum section_pattern pattern);

/* Adds the sections, and in which order locks are taken, to the atomicity repository. Returns how many
 * sections there are in the program with these sites. */
uint32_t section_add(struct lint *lint, struct repository *repository, const struct atomicity_table *table);

void section_write(FILE *out, struct lint *lint, const char *program);

#endif
