/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections that begin and end in one block of their unit, with nothing called in
 * between: `count++`, or `next->left = free; free = next`. Who is in one is out
 * again in a moment, whatever happens: no lock is let go or taken, and the unit
 * is not left. So its unit need not be told of, which would cost each call of
 * it, and the runtime does without the gates of locks.
 */
#include "pass/heal.h"

#include <string.h>

static const struct heal_role *role_of(const struct heal_found *access, uint32_t section,
				       enum atomsan_heal_what what)
{
	for (uint32_t i = 0; i < access->role_count; i++)
		if (access->roles[i].section == section && access->roles[i].what == what)
			return &access->roles[i];
	return NULL;
}

/* It writes where it read before: then the kinds say which of the two comes first. */
static bool is_update(const struct heal_found *access, uint32_t section)
{
	const struct heal_role *entry = role_of(access, section, ATOMSAN_HEAL_ENTRY);
	const struct heal_role *end = role_of(access, section, ATOMSAN_HEAL_END);

	return access->store && entry && end && entry->kind == ATOMSAN_HEAL_READ &&
	       end->kind == ATOMSAN_HEAL_WRITE;
}

static bool calls(LLVMValueRef instruction)
{
	switch (LLVMGetInstructionOpcode(instruction)) {
	case LLVMCall:
		return !LLVMIsAIntrinsicInst(instruction);
	case LLVMInvoke:
	case LLVMCallBr:
		return true;
	default:
		return false;
	}
}

static LLVMValueRef last_of(const struct heal_found *access)
{
	return access->store ? access->store : access->instruction;
}

/* From the one to the other, with nothing called? */
static bool leads_to(const struct heal_found *entry, const struct heal_found *end)
{
	LLVMValueRef i = last_of(entry);

	if (LLVMGetInstructionParent(i) != LLVMGetInstructionParent(end->instruction))
		return false;
	while (i && i != end->instruction && !calls(i))
		i = LLVMGetNextInstruction(i);
	return i == end->instruction;
}

/* Is there one that belongs to it: an end of this entry, or an entry of this end? */
static bool has_other(const struct heal_plan *plan, uint64_t which, uint32_t section, bool is_entry)
{
	const struct heal_found *one = &plan->accesses[which];

	for (uint64_t i = 0; i < plan->access_count; i++) {
		const struct heal_found *other = &plan->accesses[i];

		if (i != which && other->role_count &&
		    role_of(other, section, is_entry ? ATOMSAN_HEAL_END : ATOMSAN_HEAL_ENTRY) &&
		    (is_entry ? leads_to(one, other) : leads_to(other, one)))
			return true;
	}
	return false;
}

static bool is_in_unit(const struct atomicity_section *section, LLVMValueRef instruction)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(LLVMGetBasicBlockParent(block));

	return subprogram && !strcmp(di_name(subprogram), heal_unit_function(section)) &&
	       !strcmp(atomicity_last_part(di_file(subprogram)),
		       atomicity_last_part(heal_unit_file(section)));
}

bool heal_is_local(const struct heal_plan *plan, uint32_t number)
{
	const struct atomicity_section *section = &plan->sections[number];
	bool any = false;

	if (atomicity_heal_flags(section) &
	    (ATOMSAN_HEAL_RECURSIVE | ATOMSAN_HEAL_SCHEDULE | ATOMSAN_HEAL_WHOLE))
		return false;
	for (uint64_t i = 0; i < plan->access_count; i++) {
		const struct heal_found *access = &plan->accesses[i];
		bool entry, end;

		if (!access->role_count)
			continue;
		entry = role_of(access, number, ATOMSAN_HEAL_ENTRY);
		end = role_of(access, number, ATOMSAN_HEAL_END);
		if (!entry && !end)
			continue;
		if (!is_in_unit(section, access->instruction))
			return false;
		any = true;
		if (is_update(access, number))
			continue;
		if ((entry && end) || !has_other(plan, i, number, entry))
			return false;
	}
	return any;
}
