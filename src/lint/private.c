/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Places whose accesses can only be to data of one thread, as escape.h knows
 * them. A place stands for several instructions, of inlined copies and of
 * templates: it is private if all of them are.
 */
#include "lint/private.h"

#include <string.h>

#include "base/map.h"
#include "lint/escape.h"

/* Threads of control that are no threads take their stacks from one thread to another. */
static bool changes_stacks(const struct program *p)
{
	static const char *const names[] = {"swapcontext", "setcontext", "makecontext", "jump_fcontext",
					    "ontop_fcontext"};

	for (uint32_t f = 1; f < p->functions_count; f++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strcmp(program_text(p, p->functions[f].linkage), names[i]))
				return true;
	return false;
}

static bool has_local(struct escape *e, uint32_t node)
{
	uint32_t cookie;

	for (uint32_t o = shape_first(e->shape, node, &cookie); o; o = shape_next(e->shape, &cookie))
		if (e->lint->pt.objects.at[o].kind == OBJECT_LOCAL)
			return true;
	return false;
}

static bool is_private_node(struct escape *e, uint32_t node)
{
	return escape_has_objects(e, node) && !e->exposed[node] && !escape_leads_out(e, node, true);
}

static bool is_private(struct escape *e, const struct program_inst *inst)
{
	uint32_t first = escape_node(e, program_operand(e->p, inst, 0));
	uint32_t second = escape_node(e, program_operand(e->p, inst, 1));

	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
		/* A local that was copied may become what it is a copy of. */
		return is_private_node(e, first) && !(e->fed[first] && has_local(e, first));
	case PROGRAM_STORE:
		return is_private_node(e, second) && !escape_is_fed(e, program_operand(e->p, inst, 0));
	case PROGRAM_UPDATE:
	case PROGRAM_FILL:
		return is_private_node(e, first);
	case PROGRAM_MOVE:
		return is_private_node(e, first) && is_private_node(e, second) && !e->fed[second];
	default: /* Calls: libc's accesses stand there, and what inlining moves there. */
		return false;
	}
}

struct listing {
	struct escape *e;
	struct map by_key;
	VEC(struct program_place) at;
	struct vec_u32 spoiled; /* parallel */
};

static void note_place(struct listing *l, uint32_t number, bool private)
{
	const struct program_place *place = &l->e->p->places[number];
	uint64_t key = ((uint64_t)place->file << 32 | place->line) * 0x9e3779b97f4a7c15ull ^
		       ((uint64_t)place->function << 16 | place->column);
	uint32_t found;

	if (!number)
		return;
	while ((found = map_get(&l->by_key, key)) && memcmp(&l->at.at[found - 1], place, sizeof(*place)))
		key++;
	if (!found) {
		vec_push(&l->at, *place);
		vec_push(&l->spoiled, 0);
		found = l->at.count;
		map_set(&l->by_key, key, found);
	}
	l->spoiled.at[found - 1] |= !private;
}

/* A word of the language, in quotes if need be. */
static void put_word(FILE *out, const char *before, const char *word, const char *after)
{
	bool quote = !*word || strpbrk(word, " \t\r\"#\\");

	fprintf(out, "%s", quote ? "\"" : "");
	for (const char *parts[] = {before, word, after}, **part = parts; part < parts + 3; part++)
		for (const char *c = *part; *c; c++) {
			if (quote && (*c == '"' || *c == '\\'))
				fputc('\\', out);
			fputc(*c, out);
		}
	fprintf(out, "%s", quote ? "\"" : "");
}

static void put_place(FILE *out, const struct program *p, const struct program_place *place)
{
	const char *file = program_text(p, place->file), *function = program_text(p, place->function);
	char position[32];

	if (!*file || !*function || strchr(file, '\n') || strchr(function, '\n'))
		return;
	snprintf(position, sizeof(position), ":%u:%u", place->line, place->column);
	fprintf(out, "private ");
	put_word(out, "", file, position);
	fprintf(out, " ");
	put_word(out, "", function, "");
	fprintf(out, "\n");
}

static void list_places(struct escape *e, FILE *out)
{
	const struct program *p = e->p;
	struct listing l = {.e = e};

	for (uint32_t i = 1; i < p->insts_count; i++)
		if (p->insts[i].place)
			note_place(&l, p->insts[i].place, is_private(e, &p->insts[i]));
	for (uint32_t i = 1; i < p->lost_count; i++)
		note_place(&l, p->lost[i], false);
	for (uint32_t i = 0; i < l.at.count; i++)
		if (!l.spoiled.at[i])
			put_place(out, p, &l.at.at[i]);
	map_release(&l.by_key);
	vec_free(&l.at);
	vec_free(&l.spoiled);
}

void private_write(FILE *out, struct lint *lint, const char *program)
{
	const struct program *p = &lint->program;
	struct escape e;

	fprintf(out, "# accesses of %.*s that only reach data of one thread\n", (int)strcspn(program, "\n"),
		program);
	if (p->blind_spots_count > 1 || lint->pt.unsettled || changes_stacks(p)) {
		fprintf(out, "# none: not all of the program can be followed\n");
		return;
	}
	escape_begin(&e, lint);
	list_places(&e, out);
	escape_end(&e);
}
