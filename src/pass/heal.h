/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between the two halves of instrumenting for healing: what is found, and what is built of it. */
#ifndef ATOMSAN_PASS_HEAL_H
#define ATOMSAN_PASS_HEAL_H

#include "atomicity/heal.h"
#include "pass/pass.h"

/* An access of the module. */
struct heal_found {
	LLVMValueRef instruction, pointer;
	LLVMValueRef store; /* of an update; else NULL */
	uint64_t size;
	bool atomic;
	bool wanted;          /* its variable has sections */
	bool harmless;        /* a read, and they let others read */
	const char *variable; /* of the repository, or akin to one; NULL: by its place alone */
	struct heal_role {
		uint32_t section;
		uint32_t what, kind;
	} *roles;
	uint32_t role_count;
	uint32_t minded_by; /* without roles: a section that it must not come between */
};

struct heal_plan {
	const struct atomicity_section *sections;
	const bool *lost;  /* of each */
	const bool *local; /* of each, see heal_local.c */
	uint32_t section_count;
	struct heal_found *accesses;
	uint64_t access_count;
};

/* Makes the plan's constants and calls. */
void heal_emit(LLVMModuleRef module, const struct heal_plan *plan);
const char *heal_unit_function(const struct atomicity_section *section);
const char *heal_unit_file(const struct atomicity_section *section);

/* ---- heal_local.c ---- */

/* Does the section begin and end in one block of its unit, wherever it does in this module, with nothing
 * called in between? */
bool heal_is_local(const struct heal_plan *plan, uint32_t section);

/* ---- heal_groups.c ---- */

/* Once, when all sections are known. */
void heal_groups(const struct atomicity_section *sections, uint32_t count);
/* Is there one that shares its gate, or it itself, that must not be read meanwhile? */
bool heal_group_minds_reads(uint32_t section);

/* The name that the site's variable goes by. */
const char *heal_word(struct atomicity_word word);

#endif
