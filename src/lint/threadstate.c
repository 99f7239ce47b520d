/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/threadstate.h"

#include <string.h>

#define STATE "_ZNSt6thread11_State_impl"

static uint32_t without_copies(const struct program *p, uint32_t value)
{
	for (int depth = 0; depth < 32; depth++) {
		const struct program_inst *maker = &p->insts[program_maker(p, value)];

		if (!program_maker(p, value) || maker->operand_count != 1 ||
		    (maker->op != PROGRAM_COPY && (maker->op != PROGRAM_OFFSET || maker->offset)))
			break;
		value = program_operand(p, maker, 0);
	}
	return value;
}

/* The run() that a virtual table leads to; 0: the value is no table of such a state. */
static uint32_t run_in(const struct program *p, uint32_t value)
{
	const struct program_value *place = &p->values[value];
	const struct program_value *base = place->kind == VALUE_PLACE ? &p->values[place->index] : place;
	const struct program_global *table = &p->globals[base->kind == VALUE_GLOBAL ? base->index : 0];

	for (uint32_t i = table->field; i < table->field + table->field_count; i++) {
		const struct program_value *field = &p->values[p->fields[i].value];

		if (field->kind == VALUE_FUNCTION && threadstate_is_run(p, field->index))
			return field->index;
	}
	return 0;
}

/* What is stored where the pointer leads to, if it is one thing: a state, or (the run() of) a state's table.
 */
static uint32_t stored_at(const struct program *p, uint32_t function, uint32_t pointer, bool table)
{
	const struct program_function *f = &p->functions[function];
	const struct program_block *last = &p->blocks[f->block + f->block_count - 1];
	uint32_t found = 0;

	for (uint32_t i = p->blocks[f->block].inst; i < last->inst + last->inst_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		uint32_t value;

		if (inst->op != PROGRAM_STORE || without_copies(p, program_operand(p, inst, 1)) != pointer)
			continue;
		value = without_copies(p, program_operand(p, inst, 0));
		if (p->values[value].kind == VALUE_NUMBER)
			continue;
		/* Before it was a state of this kind it was one of no kind. */
		if (table && !(value = run_in(p, value)))
			continue;
		if (found && found != value)
			return 0;
		found = value;
	}
	return found;
}

uint32_t threadstate_run(const struct program *p, uint32_t call, uint32_t operand)
{
	uint32_t function = program_function_of(p, call);
	uint32_t slot = without_copies(p, program_operand(p, &p->insts[call], operand)), state;

	if (!program_maker(p, slot) || p->insts[program_maker(p, slot)].op != PROGRAM_ALLOCA)
		return 0;
	state = stored_at(p, function, slot, false);
	return state ? stored_at(p, function, state, true) : 0;
}

bool threadstate_is_run(const struct program *p, uint32_t function)
{
	const char *name = program_text(p, p->functions[function].linkage);

	return !strncmp(name, STATE, strlen(STATE)) && strstr(name, THREADSTATE_RUN);
}
