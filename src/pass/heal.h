/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Between the two halves of instrumenting for healing: what is found, and what is built of it. */
#ifndef ATOMSAN_PASS_HEAL_H
#define ATOMSAN_PASS_HEAL_H

#include "atomicity/heal.h"
#include "pass/pass.h"

/* An access of the module. */
struct heal_found {
	LLVMValueRef instruction, pointer;
	LLVMValueRef store;  /* of an update; else NULL */
	LLVMValueRef length; /* of a copy; else NULL */
	uint64_t size;       /* 0: length tells */
	const char *whole;   /* the struct that it is all of, or "" */
	bool reads, writes, atomic;
	bool wanted;          /* its variable has sections */
	bool harmless;        /* a read, and they let others read */
	const char *variable; /* of the repository, or akin to one; NULL: by its place alone */
	struct heal_role {
		uint32_t section;
		uint32_t what, kind;
	} *roles;
	uint32_t role_count;
	uint32_t minded_by; /* without roles: a section that it must not come between */
	uint32_t *joined;   /* of a copy, or a part of what is copied: all sections that it is about */
	uint32_t joined_count;
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

/* ---- heal_copies.c ---- */

/* What a call that copies, or hands a struct over by value, does to one side. */
struct heal_copy {
	LLVMValueRef pointer, length;
	bool writes;
};
enum { HEAL_COPIES = 8 }; /* of one call that are told apart */
unsigned heal_copies(LLVMValueRef call, struct heal_copy copies[HEAL_COPIES]);
/* Of a copy both of whose sides are wanted, and of an argument by value, the read becomes an instruction of
 * its own, so that something can be done when it has happened. */
void heal_copies_part(struct heal_plan *plan);

/* ---- heal_local.c ---- */

/* Does the section begin and end in one block of its unit, wherever it does in this module, with nothing
 * called in between? */
bool heal_is_local(const struct heal_plan *plan, uint32_t section);

/* ---- heal_line.c ---- */

/* Calls before atomic operations that may take a lock, in units that stand in line for their section. */
void heal_line(LLVMModuleRef module, const struct heal_plan *plan);

/* ---- heal_groups.c ---- */

/* Once, when all sections are known. */
void heal_groups(const struct atomicity_section *sections, uint32_t count);
/* Is there one that shares its gate, or it itself, that must not be read meanwhile? */
bool heal_group_minds_reads(uint32_t section);

/* The name that the site's variable goes by. */
const char *heal_word(struct atomicity_word word);

#endif
