/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/update.h"

/* Steps from the read to the write. */
enum { MOST_STEPS = 8 };

void update_begin(struct updates *u, const struct lint *lint)
{
	const struct program *p = &lint->program;

	*u = (struct updates){.lint = lint,
			      .users = mem_zalloc(p->values_count, sizeof(*u->users)),
			      .user = mem_zalloc(p->values_count, sizeof(*u->user))};
	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		/* Behind a phi's values come its blocks. */
		uint32_t count = inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count;

		for (uint32_t n = 0; n < count; n++) {
			uint32_t value = program_operand(p, inst, n);

			u->users[value] += u->users[value] < 2;
			u->user[value] = i;
		}
	}
}

void update_end(struct updates *u)
{
	free(u->users);
	free(u->user);
}

static bool writes_to(const struct lint *lint, uint32_t inst, uint32_t variable)
{
	uint32_t count;
	const struct access *a = access_at(lint, inst, &count);

	for (uint32_t i = 0; i < count; i++)
		if (a[i].write && a[i].variable == variable)
			return true;
	return false;
}

bool update_is(const struct updates *u, const struct access *read)
{
	const struct program *p = &u->lint->program;
	uint32_t value = p->insts[read->inst].value, at = read->inst;

	if (p->insts[at].op == PROGRAM_UPDATE)
		return !value || !u->users[value];
	for (int step = 0; step < MOST_STEPS && value && u->users[value] == 1; step++) {
		at = u->user[value];
		if (p->insts[at].op == PROGRAM_STORE)
			return program_operand(p, &p->insts[at], 0) == value &&
			       writes_to(u->lint, at, read->variable);
		if (p->insts[at].op != PROGRAM_COPY && p->insts[at].op != PROGRAM_COMPUTE)
			return false;
		value = p->insts[at].value;
	}
	return false;
}

/* Is the value one more or less than what was read, or a constant? 2: less. */
static int counts(const struct program *p, uint32_t value)
{
	const struct program_inst *maker = &p->insts[program_maker(p, value)];

	for (int depth = 0; depth < 4 && maker->op == PROGRAM_COPY && maker->operand_count == 1; depth++) {
		value = program_operand(p, maker, 0);
		maker = &p->insts[program_maker(p, value)];
	}
	if (p->values[value].kind == VALUE_NUMBER)
		return 1;
	if (maker->op != PROGRAM_COMPUTE || (maker->sub != SUB_ADD && maker->sub != SUB_SUB) ||
	    p->values[program_operand(p, maker, 1)].kind != VALUE_NUMBER)
		return 0;
	/* Numbers of small types are written without a sign. */
	int64_t by = p->values[program_operand(p, maker, 1)].number;
	bool less = by == -1 || by == UINT8_MAX || by == UINT16_MAX || by == UINT32_MAX;

	if (!less && by != 1)
		return 0;
	return less != (maker->sub == SUB_SUB) ? 2 : 1;
}

bool update_counts_users(const struct lint *lint, uint32_t variable)
{
	const struct program *p = &lint->program;
	const struct variable *v = &lint->accesses.variables.at[variable];
	bool up = false, down = false;

	for (uint32_t i = 0; i < v->writes.count; i++) {
		const struct access *write = &lint->accesses.at.at[v->writes.at[i]];
		const struct program_inst *inst = &p->insts[write->inst];

		/* Of a new object, which may be a copy of another, nobody is a user yet. */
		if (write->fresh)
			continue;
		int kind = inst->op == PROGRAM_STORE ? counts(p, program_operand(p, inst, 0)) : 0;

		if (!kind)
			return false;
		down |= kind == 2;
		up |= kind == 1 && p->values[program_operand(p, inst, 0)].kind != VALUE_NUMBER;
	}
	return up && down;
}

bool update_counts_up(const struct lint *lint, const struct access *access)
{
	const struct program *p = &lint->program;
	const struct variable *v = &lint->accesses.variables.at[access->variable];
	uint32_t function = program_function_of(p, access->inst), count;
	const uint32_t *writes = access_within(lint, &v->writes, function, &count);

	for (uint32_t i = 0; i < count && update_counts_users(lint, access->variable); i++) {
		const struct program_inst *inst = &p->insts[lint->accesses.at.at[writes[i]].inst];
		uint32_t value = inst->op == PROGRAM_STORE ? program_operand(p, inst, 0) : 0;

		if (value && counts(p, value) == 1 && p->values[value].kind != VALUE_NUMBER)
			return true;
	}
	return false;
}
