/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/print.h"

#include <inttypes.h>

#include "base/text.h"
#include "lint/flow.h"

static void put_value(FILE *out, const struct lint *lint, uint32_t value)
{
	const struct program *p = &lint->program;
	const struct program_value *v = &p->values[value];

	switch ((enum program_value_kind)v->kind) {
	case VALUE_NUMBER:
		fprintf(out, " %" PRId64, v->number);
		break;
	case VALUE_GLOBAL:
		fputs(" @", out);
		text_put(out, program_text(p, p->globals[v->index].name));
		break;
	case VALUE_FUNCTION:
		fputs(" &", out);
		text_put(out, program_text(p, p->functions[v->index].name));
		break;
	case VALUE_PLACE:
		put_value(out, lint, v->index);
		fprintf(out, "+%" PRId64, v->number);
		break;
	default:
		fprintf(out, " %%%u", value);
	}
}

static void put_state(FILE *out, const struct lint *lint, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);

	for (uint32_t i = 0; i < s->held_count; i++) {
		fputs(" {", out);
		text_put(out, lint->regions.locks.at[s->held[i].lock].name);
		for (uint32_t n = 0; n < s->held[i].region_count; n++)
			fprintf(out, " r%u", s->held[i].regions[n]);
		fputc('}', out);
	}
	for (uint32_t i = 0; i < s->given_up_count; i++) {
		fputs(" -", out);
		text_put(out, lint->regions.locks.at[s->given_up[i]].name);
	}
}

static void put_inst(FILE *out, struct lint *lint, uint32_t i)
{
	const struct program *p = &lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t count;
	const struct access *a = access_at(lint, i, &count);
	const struct vec_u32 *targets = pointsto_targets(&lint->pt, i);

	fprintf(out, "    %5u:", inst->line);
	if (inst->value)
		fprintf(out, " %%%u =", inst->value);
	fprintf(out, " %s", program_op_text(inst->op));
	if (inst->callee) {
		fputc(' ', out);
		text_put(out, program_text(p, p->functions[inst->callee].linkage));
	}
	for (uint32_t n = 0; n < (inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count);
	     n++)
		put_value(out, lint, program_operand(p, inst, n));
	if (inst->op == PROGRAM_OFFSET)
		fprintf(out, " +%" PRId64 "%s", inst->offset, inst->flags & PROGRAM_ARRAY ? "[]" : "");
	for (uint32_t n = 0; n < targets->count; n++) {
		fputs(" ->", out);
		text_put(out, program_text(p, p->functions[targets->at[n]].name));
	}
	for (uint32_t n = 0; n < count; n++) {
		const struct variable *v = &lint->accesses.variables.at[a[n].variable];

		fputs(a[n].write ? "  W " : "  R ", out);
		text_put(out, v->name);
		fprintf(out, "#%u%s%s%s", a[n].variable, v->shared ? " shared" : "",
			a[n].fresh ? " fresh" : "", a[n].quiet ? " quiet" : "");
	}
	put_state(out, lint, i);
	fputc('\n', out);
}

void print_program(FILE *out, struct lint *lint)
{
	const struct program *p = &lint->program;

	for (uint32_t t = 0; t < lint->threads.count; t++)
		fprintf(out, "thread %u: %s%s, beside %#" PRIx64 "%s\n", t, thread_name(lint, t),
			lint->threads.at[t].several ? ", several" : "", lint->threads.at[t].parallel,
			lint->threads.at[t].owns_argument ? ", own argument" : "");
	for (uint32_t f = 1; f < p->functions_count; f++) {
		const struct program_function *function = &p->functions[f];

		if (!(function->flags & FUNCTION_DEFINED))
			continue;
		fprintf(out, "%s (%s:%u) threads %#" PRIx64 "\n", program_text(p, function->linkage),
			program_text(p, function->file), function->line, lint->threads.reach[f]);
		for (uint32_t b = 0; b < function->block_count; b++) {
			const struct program_block *block = &p->blocks[function->block + b];

			fprintf(out, "  block %u, then", b);
			for (uint32_t e = 0; e < block->edge_count; e++)
				fprintf(out, " %u", p->edges[block->edge + e] - function->block);
			fputc('\n', out);
			for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++)
				put_inst(out, lint, i);
		}
	}
	for (uint32_t i = 0; i < lint->flows->edges.count; i++) {
		const struct flow_edge *e = &lint->flows->edges.at[i];

		const struct access *a = &lint->accesses.at.at[e->from.access];
		const struct access *b = &lint->accesses.at.at[e->to.access];

		fprintf(out, "in %s: %s at line %u to %s at line %u,%s%s%s%s%s%s guards %u\n",
			program_text(p, p->functions[e->function].name),
			lint->accesses.variables.at[a->variable].name, p->insts[a->inst].line,
			lint->accesses.variables.at[b->variable].name, p->insts[b->inst].line,
			e->data ? " data" : " control", e->again ? " again" : "",
			e->carried ? " carried" : "", e->around ? " around" : "",
			e->to.compared ? " compared" : "", e->to.acts ? " acts" : "", e->to.guard_count);
	}
}
