/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections are found in one function at a time: a load whose value makes up a
 * later store of the same variable (load-and-store), a load that decides about
 * a later access of it (test-and-use), and otherwise two accesses of it of
 * which one surely follows the other (a pair, as AVIO's invariants are about).
 * Locks do not matter here: whoever uses the sections wants to know what ought
 * to be atomic, not what is.
 */
#include "lint/section.h"

#include "base/text.h"

static const char *const pattern_texts[] = {"load-store", "test-use", "pair"};

const char *section_pattern_text(enum section_pattern pattern)
{
	return pattern_texts[pattern];
}

/* The loads of the variable that a value is made of. */
static bool made_of(const struct program *p, uint32_t value, uint32_t of, int depth)
{
	uint32_t maker = program_maker(p, value), count;

	if (value == of)
		return true;
	if (!maker || depth > 8 || p->insts[maker].op == PROGRAM_LOAD)
		return false;
	count = p->insts[maker].operand_count;
	if (p->insts[maker].op == PROGRAM_PHI)
		count /= 2;
	for (uint32_t i = 0; i < count; i++)
		if (made_of(p, program_operand(p, &p->insts[maker], i), of, depth + 1))
			return true;
	return false;
}

static bool decides(const struct lint *lint, uint32_t load, uint32_t inst)
{
	const struct program *p = &lint->program;
	uint32_t f = program_function_of(p, inst), block = lint_block(lint, inst);
	const struct cfg *c = &lint->cfgs[f];

	for (uint32_t i = c->control_first[block]; i < c->control_first[block + 1]; i++) {
		const struct program_block *by = &p->blocks[p->functions[f].block + c->controls[i].block];
		const struct program_inst *end = &p->insts[by->inst + by->inst_count - 1];

		if (end->operand_count && made_of(p, program_operand(p, end, 0), p->insts[load].value, 0))
			return true;
	}
	return false;
}

static bool follows(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct cfg *c = &lint->cfgs[program_function_of(&lint->program, a)];
	uint32_t x = lint_block(lint, a), y = lint_block(lint, b);

	return x == y ? a < b : cfg_dominates(c, x, y);
}

static enum section_pattern pattern_of(const struct lint *lint, const struct access *a,
				       const struct access *b)
{
	const struct program *p = &lint->program;

	if (a->write || p->insts[a->inst].op != PROGRAM_LOAD)
		return SECTION_PAIR;
	if (b->write && p->insts[b->inst].op == PROGRAM_STORE &&
	    made_of(p, program_operand(p, &p->insts[b->inst], 0), p->insts[a->inst].value, 0))
		return SECTION_LOAD_STORE;
	return decides(lint, a->inst, b->inst) ? SECTION_TEST_USE : SECTION_PAIR;
}

static void put_place(FILE *out, const struct lint *lint, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[program_function_of(p, inst)];

	fputs("{\"function\": ", out);
	text_json(out, program_text(p, f->name));
	fputs(", \"file\": ", out);
	text_json(out, program_text(p, f->file));
	fprintf(out, ", \"line\": %u, \"column\": %u}", p->insts[inst].line, p->insts[inst].column);
}

static void put_variable(FILE *out, const struct variable *v)
{
	fputs("\"variable\": ", out);
	text_json(out, v->name);
	fputs(", \"set\": ", out);
	text_json(out, v->set);
}

/* Is the value looked at, and nothing else done with it? */
static bool is_only_tested(const struct lint *lint, uint32_t load)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[program_function_of(p, load)];
	uint32_t value = p->insts[load].value;
	bool tested = false;

	for (uint32_t b = 0; b < f->block_count; b++) {
		const struct program_block *block = &p->blocks[f->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++)
			for (uint32_t n = 0; n < p->insts[i].operand_count; n++) {
				if (program_operand(p, &p->insts[i], n) != value)
					continue;
				if (p->insts[i].op != PROGRAM_COMPARE && p->insts[i].op != PROGRAM_BRANCH &&
				    p->insts[i].op != PROGRAM_SWITCH)
					return false;
				tested = true;
			}
	}
	return tested;
}

/* Accesses of one function to one variable, as they stand in it. What lies farther apart than this belongs
 * together no more, and would take long in a function of thousands of lines. */
enum { NEAR = 24 };

struct nearby {
	const uint32_t *at; /* numbers of accesses */
	uint32_t count;
};

/* What is read again before the end, and does for it what the first read does, stands in for it: whoever
 * looks twice means the second look. */
static bool is_read_again(const struct lint *lint, const struct nearby *nearby, const struct access *a,
			  const struct access *b, enum section_pattern pattern)
{
	for (uint32_t i = 0; i < nearby->count; i++) {
		const struct access *c = &lint->accesses.at.at[nearby->at[i]];

		if (!c->write && c->inst != a->inst && c->inst != b->inst &&
		    follows(lint, a->inst, c->inst) && follows(lint, c->inst, b->inst) &&
		    pattern_of(lint, c, b) <= pattern)
			return true;
	}
	return false;
}

/* Does no other access surely come between the two? */
static bool is_next(const struct lint *lint, const struct nearby *nearby, const struct access *a,
		    const struct access *b)
{
	for (uint32_t i = 0; i < nearby->count; i++) {
		const struct access *c = &lint->accesses.at.at[nearby->at[i]];

		if (c->inst != a->inst && c->inst != b->inst && follows(lint, a->inst, c->inst) &&
		    follows(lint, c->inst, b->inst))
			return false;
	}
	return true;
}

static bool is_end(const struct lint *lint, const struct nearby *nearby, const struct access *a,
		   const struct access *b, enum section_pattern *pattern)
{
	if (a->inst == b->inst || !follows(lint, a->inst, b->inst))
		return false;
	*pattern = pattern_of(lint, a, b);
	/* Testing again is no use. */
	if (*pattern == SECTION_TEST_USE && !b->write && is_only_tested(lint, b->inst))
		*pattern = SECTION_PAIR;
	return *pattern == SECTION_PAIR ? is_next(lint, nearby, a, b)
					: !is_read_again(lint, nearby, a, b, *pattern);
}

/* The accesses that end a section which begins with this one: of the nearest kind that there is. */
static void find_section(const struct lint *lint, const struct variable *v, uint32_t first,
			 const struct nearby *nearby,
			 void (*take)(const struct section_found *found, void *arg), void *arg)
{
	const struct access *a = &lint->accesses.at.at[first];
	struct section_found found = {v, a, SECTION_PATTERNS, {0}};

	for (uint32_t i = 0; i < nearby->count; i++) {
		enum section_pattern pattern;

		if (!is_end(lint, nearby, a, &lint->accesses.at.at[nearby->at[i]], &pattern) ||
		    pattern > found.pattern)
			continue;
		if (pattern < found.pattern)
			found.ends.count = 0;
		found.pattern = pattern;
		vec_push(&found.ends, nearby->at[i]);
	}
	if (found.pattern != SECTION_PATTERNS)
		take(&found, arg);
	vec_free(&found.ends);
}

static const struct lint *sorted_of; /* whose accesses are being sorted */

static int by_instruction(const void *a, const void *b)
{
	const struct access *x = &sorted_of->accesses.at.at[*(const uint32_t *)a];
	const struct access *y = &sorted_of->accesses.at.at[*(const uint32_t *)b];

	if (x->inst != y->inst)
		return x->inst < y->inst ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* Instructions of a function lie side by side. */
static void look_at_variable(const struct lint *lint, const struct variable *v, struct vec_u32 *all,
			     void (*take)(const struct section_found *found, void *arg), void *arg)
{
	const struct program *p = &lint->program;
	uint32_t end;

	all->count = 0;
	for (uint32_t i = 0; i < v->reads.count; i++)
		vec_push(all, v->reads.at[i]);
	for (uint32_t i = 0; i < v->writes.count; i++)
		vec_push(all, v->writes.at[i]);
	sorted_of = lint;
	if (all->count)
		qsort(all->at, all->count, sizeof(*all->at), by_instruction);
	for (uint32_t begin = 0; begin < all->count; begin = end) {
		uint32_t function = program_function_of(p, lint->accesses.at.at[all->at[begin]].inst);

		for (end = begin + 1;
		     end < all->count &&
		     program_function_of(p, lint->accesses.at.at[all->at[end]].inst) == function;
		     end++)
			;
		for (uint32_t i = begin; i < end; i++) {
			uint32_t from = i - begin > NEAR ? i - NEAR : begin,
				 to = end - i > NEAR ? i + NEAR : end;
			struct nearby nearby = {all->at + from, to - from};

			if (!lint->accesses.at.at[all->at[i]].fresh &&
			    !lint->accesses.at.at[all->at[i]].quiet)
				find_section(lint, v, all->at[i], &nearby, take, arg);
		}
	}
}

void section_each(const struct lint *lint, void (*take)(const struct section_found *found, void *arg),
		  void *arg)
{
	struct vec_u32 all = {0};

	for (uint32_t n = 1; n < lint->accesses.variables.count; n++)
		if (lint->accesses.variables.at[n].shared)
			look_at_variable(lint, &lint->accesses.variables.at[n], &all, take, arg);
	vec_free(&all);
}

struct writing {
	FILE *out;
	const struct lint *lint;
	bool any;
	struct vec_u32 insts; /* of the ends, each once */
};

static void put_section(const struct section_found *found, void *arg)
{
	struct writing *w = arg;

	fprintf(w->out, "%s\n    {", w->any ? "," : "");
	w->any = true;
	put_variable(w->out, found->variable);
	fprintf(w->out, ", \"pattern\": \"%s\", \"entry\": ", pattern_texts[found->pattern]);
	put_place(w->out, w->lint, found->entry->inst);
	fputs(", \"ends\": [", w->out);
	w->insts.count = 0;
	for (uint32_t i = 0; i < found->ends.count; i++)
		vec_add(&w->insts, w->lint->accesses.at.at[found->ends.at[i]].inst);
	for (uint32_t i = 0; i < w->insts.count; i++) {
		fputs(i ? ", " : "", w->out);
		put_place(w->out, w->lint, w->insts.at[i]);
	}
	fputs("]}", w->out);
}

static void put_sections(FILE *out, const struct lint *lint)
{
	struct writing writing = {.out = out, .lint = lint};

	fputs("  \"sections\": [", out);
	section_each(lint, put_section, &writing);
	fputs("\n  ],\n", out);
	vec_free(&writing.insts);
}

/* A function that does nothing to shared memory but read one variable and return it, or write one of its
 * parameters there. */
static uint32_t accessor_of(const struct lint *lint, uint32_t f, bool setter)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	uint32_t found = 0;

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t count;
			const struct access *a = access_at(lint, i, &count);

			if (lint->calls.by_inst[i])
				return 0;
			for (uint32_t n = 0; n < count; n++) {
				if (a[n].write != setter || (found && found != a[n].variable))
					return 0;
				if (setter &&
				    p->values[program_operand(p, &p->insts[i], 0)].kind != VALUE_PARAMETER)
					return 0;
				found = a[n].variable;
			}
			if (!setter && p->insts[i].op == PROGRAM_RETURN) {
				uint32_t maker = program_maker(p, program_operand(p, &p->insts[i], 0));

				if (!maker || !lint->accesses.first[maker])
					return 0;
			}
		}
	}
	return found;
}

static void put_accessors(FILE *out, const struct lint *lint, bool setter)
{
	const struct program *p = &lint->program;
	bool any = false;

	fprintf(out, "  \"%s\": [", setter ? "setters" : "getters");
	for (uint32_t f = 1; f < p->functions_count; f++) {
		uint32_t variable =
			p->functions[f].flags & FUNCTION_DEFINED ? accessor_of(lint, f, setter) : 0;

		if (!variable)
			continue;
		fprintf(out, "%s\n    {\"function\": ", any ? "," : "");
		any = true;
		text_json(out, program_text(p, p->functions[f].name));
		fputs(", \"file\": ", out);
		text_json(out, program_text(p, p->functions[f].file));
		fprintf(out, ", \"line\": %u, ", p->functions[f].line);
		put_variable(out, &lint->accesses.variables.at[variable]);
		fputs("}", out);
	}
	fputs("\n  ],\n", out);
}

static void put_variables(FILE *out, const struct lint *lint)
{
	fputs("  \"variables\": [", out);
	for (uint32_t n = 1; n < lint->accesses.variables.count; n++) {
		const struct variable *v = &lint->accesses.variables.at[n];

		fprintf(out, "%s\n    {", n > 1 ? "," : "");
		put_variable(out, v);
		fprintf(out, ", \"shared\": %s, \"atomic\": %s, \"reads\": %u, \"writes\": %u}",
			v->shared ? "true" : "false", v->atomic ? "true" : "false", v->reads.count,
			v->writes.count);
	}
	fputs("\n  ]\n", out);
}

void section_write(FILE *out, struct lint *lint, const char *program)
{
	fputs("{\n  \"version\": 1,\n  \"program\": ", out);
	text_json(out, program);
	fputs(",\n", out);
	put_sections(out, lint);
	put_accessors(out, lint, false);
	put_accessors(out, lint, true);
	put_variables(out, lint);
	fputs("}\n", out);
}
