/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/taken.h"

#include "lint/flow.h"
#include "lint/pair.h"

/* Is the value that is stored what the one that was read leads to: the rest of a list whose first is taken?
 */
static bool is_rest(const struct program *p, uint32_t stored, uint32_t read)
{
	uint32_t maker = program_maker(p, stored);

	for (int depth = 0; maker && depth < 4 && p->insts[maker].op == PROGRAM_COPY; depth++)
		maker = program_maker(p, program_operand(p, &p->insts[maker], 0));
	return maker && p->insts[maker].op == PROGRAM_LOAD && p->insts[maker].flags & PROGRAM_POINTER &&
	       pair_base(p, program_operand(p, &p->insts[maker], 0)) == p->insts[read].value;
}

int taken_along(const struct lint *lint, uint32_t access)
{
	const struct program *p = &lint->program;
	const struct access *a = &lint->accesses.at.at[access];
	const struct variable *v = &lint->accesses.variables.at[a->variable];
	const uint32_t *writes;
	uint32_t count;
	int found = 0;

	if (p->insts[a->inst].op == PROGRAM_UPDATE)
		return 1;
	writes = access_within(lint, &v->writes, program_function_of(p, a->inst), &count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t b = lint->accesses.at.at[writes[i]].inst;

		if (!flow_same_or_callers(lint, a->inst, b))
			continue;
		if (p->insts[b].op != PROGRAM_STORE ||
		    (p->values[program_operand(p, &p->insts[b], 0)].kind != VALUE_NUMBER &&
		     !is_rest(p, program_operand(p, &p->insts[b], 0), a->inst)) ||
		    !pair_reaches(lint, a->inst, b))
			return 1;
		found = 2;
	}
	return found;
}

/* The values that make up an address, as far as they are plain to see. */
static bool address_reads_written(const struct lint *lint, uint32_t value, uint32_t inst, int depth)
{
	const struct program *p = &lint->program;
	uint32_t maker = program_maker(p, value), count;
	const struct access *a;

	if (!maker || depth > 6)
		return false;
	a = access_at(lint, maker, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!a[i].write && flow_same_or_callers(lint, maker, inst) &&
		    taken_along(lint, (uint32_t)(&a[i] - lint->accesses.at.at)))
			return true;
	if (p->insts[maker].op == PROGRAM_PHI)
		return false;
	for (uint32_t i = 0; i < p->insts[maker].operand_count; i++)
		if (address_reads_written(lint, program_operand(p, &p->insts[maker], i), inst, depth + 1))
			return true;
	return false;
}

bool taken_is(const struct lint *lint, uint32_t access)
{
	const struct access *a = &lint->accesses.at.at[access];
	const struct program_inst *inst = &lint->program.insts[a->inst];
	uint32_t pointer = inst->op == PROGRAM_LOAD   ? program_operand(&lint->program, inst, 0)
			   : inst->op == PROGRAM_MOVE ? program_operand(&lint->program, inst, 1)
						      : 0;

	return (pointer && address_reads_written(lint, pointer, a->inst, 0)) ||
	       taken_along(lint, access) == 2;
}

bool taken_by(const struct lint *lint, uint32_t access)
{
	const struct program *p = &lint->program;
	const struct access *a = &lint->accesses.at.at[access];
	const struct variable *v = &lint->accesses.variables.at[a->variable];

	if (p->insts[a->inst].op != PROGRAM_STORE)
		return false;
	for (uint32_t i = 0; i < v->reads.count; i++) {
		uint32_t read = lint->accesses.at.at[v->reads.at[i]].inst;

		if (program_function_of(p, read) == program_function_of(p, a->inst) &&
		    flow_same_or_callers(lint, read, a->inst) &&
		    is_rest(p, program_operand(p, &p->insts[a->inst], 0), read))
			return true;
	}
	return false;
}
