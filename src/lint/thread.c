/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Abstract threads: main, and one for each place that creates threads and each
 * function that they begin with.
 *
 * A program without main is a library, and any number of threads may call any
 * of its external functions.
 */
#include <string.h>

#include "lint/threadwork.h"

static void reach(struct lint *lint, uint32_t thread)
{
	const struct callgraph *c = &lint->calls;
	uint64_t bit = 1ull << thread, *mask = lint->threads.reach;
	struct vec_u32 waiting = {0};

	for (uint32_t i = 0; i < lint->threads.at[thread].roots.count; i++) {
		mask[lint->threads.at[thread].roots.at[i]] |= bit;
		vec_push(&waiting, lint->threads.at[thread].roots.at[i]);
	}
	while (waiting.count) {
		uint32_t f = waiting.at[--waiting.count];

		for (uint32_t e = c->first[f]; e < c->first[f + 1]; e++)
			if (!(mask[c->edges[e].callee] & bit)) {
				mask[c->edges[e].callee] |= bit;
				vec_push(&waiting, c->edges[e].callee);
			}
	}
	vec_free(&waiting);
}

static uint32_t add_thread(struct lint *lint, uint32_t root, uint32_t create)
{
	struct threads *t = &lint->threads;

	for (uint32_t i = 0; i < t->count; i++)
		if (t->at[i].create == create && vec_has(&t->at[i].roots, root))
			return i;
	if (t->count == THREAD_MOST) {
		/* All others together: never gone, several. */
		t->left_out++;
		t->at[THREAD_MOST - 1].several = true;
		vec_add(&t->at[THREAD_MOST - 1].roots, root);
		return THREAD_MOST - 1;
	}
	t->at[t->count] = (struct thread){.create = create};
	vec_push(&t->at[t->count].roots, root);
	return t->count++;
}

static void first_thread(struct lint *lint)
{
	const struct program *p = &lint->program;
	uint32_t main = 0;

	for (uint32_t f = 1; f < p->functions_count && !main; f++)
		if (p->functions[f].flags & FUNCTION_DEFINED &&
		    !strcmp(program_text(p, p->functions[f].linkage), "main"))
			main = f;
	if (main) {
		add_thread(lint, main, 0);
		return;
	}
	lint->threads.is_library = true;
	lint->threads.at[0] = (struct thread){.several = true, .parallel = 1};
	lint->threads.count = 1;
	for (uint32_t f = 1; f < p->functions_count; f++)
		if (p->functions[f].flags & FUNCTION_DEFINED &&
		    p->functions[f].flags & (FUNCTION_EXTERNAL | FUNCTION_ADDRESS_TAKEN) &&
		    !(p->functions[f].flags & (FUNCTION_LIBRARY | FUNCTION_INITIALISER)))
			vec_push(&lint->threads.at[0].roots, f);
}

struct shape_cell thread_handle(struct lint *lint, const struct program_inst *inst, const struct known *known)
{
	const char *name = program_text(&lint->program, lint->program.functions[inst->callee].linkage);
	int n = known->kind == KNOWN_JOIN ? known->a : known->c;

	if (n < 0 || n >= (int)inst->operand_count)
		return (struct shape_cell){0, 0};
	struct shape_cell cell = pointsto_cell(&lint->pt, program_operand(&lint->program, inst, (uint32_t)n));

	/* pthread_join takes the handle, everything else its place. */
	if (known->kind == KNOWN_JOIN && strncmp(name, "_Z", 2))
		return cell;
	return shape_target(lint->pt.shape, cell);
}

/* Threads' functions may create threads: until there are no new ones. */
static void find_threads(struct thread_build *b)
{
	struct lint *lint = b->lint;
	const struct program *p = &lint->program;
	uint32_t done = 0;

	lint->threads.reach = mem_zalloc(p->functions_count, sizeof(*lint->threads.reach));
	first_thread(lint);
	while (done < lint->threads.count) {
		uint32_t t = done++;

		reach(lint, t);
		for (uint32_t i = 1; i < p->insts_count; i++) {
			const struct program_inst *inst = &p->insts[i];
			const struct known *known = pointsto_known(&lint->pt, inst);

			if (!known_makes_thread(known) ||
			    !(lint->threads.reach[program_function_of(p, i)] & 1ull << t))
				continue;
			const struct vec_u32 *roots = pointsto_targets(&lint->pt, i);
			uint64_t mask = 0;

			for (uint32_t n = 0; n < roots->count; n++) {
				uint32_t made;

				if (!(p->functions[roots->at[n]].flags & FUNCTION_DEFINED))
					continue;
				made = add_thread(lint, roots->at[n], i);
				mask |= 1ull << made;
				if (made != t)
					lint->threads.at[made].creator = t;
				if (known->b >= 0)
					lint->threads.at[made].argument =
						program_operand(p, inst, (uint32_t)known->b);
				if (known->kind == KNOWN_CREATE_TASK)
					lint->threads.at[made].argument = inst->value;
				if (known->kind == KNOWN_CREATE_TEAM)
					lint->threads.at[made].several = true;
			}
			lint->threads.at[t].descendants |= mask;
			if (b->site_of[i]) {
				b->creates.at[b->site_of[i] - 1].threads |= mask;
				continue;
			}
			vec_push(&b->creates,
				 (struct thread_site){.inst = i,
						      .threads = mask,
						      .handle = thread_handle(lint, inst, known)});
			b->site_of[i] = b->creates.count;
		}
	}
	if (lint->threads.left_out)
		reach(lint, THREAD_MOST - 1);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t t = 0; t < lint->threads.count; t++)
			for (uint32_t u = 0; u < lint->threads.count; u++)
				if (lint->threads.at[t].descendants >> u & 1) {
					uint64_t more = lint->threads.at[u].descendants &
							~lint->threads.at[t].descendants;

					lint->threads.at[t].descendants |= more;
					changed |= more != 0;
				}
	}
}

/* Memory that is allocated once, and then handed to thread after thread in a loop, is nobody's own. */
static bool made_as_often(const struct lint *lint, uint32_t maker, uint32_t create)
{
	uint32_t f = program_function_of(&lint->program, create);
	const struct cfg *c = &lint->cfgs[f];
	uint32_t loop = c->loop[lint_block(lint, create)];

	return program_function_of(&lint->program, maker) == f &&
	       (loop == CFG_NONE || cfg_inside(c, lint_block(lint, maker), loop));
}

/* Does each thread made here get an argument of its own: an element by index, fresh memory? */
static void own_arguments(struct lint *lint)
{
	const struct program *p = &lint->program;

	for (uint32_t t = 1; t < lint->threads.count; t++) {
		struct thread *thread = &lint->threads.at[t];
		uint32_t maker = thread->argument ? program_maker(p, thread->argument) : 0;
		const struct known *known = maker ? pointsto_known(&lint->pt, &p->insts[maker]) : NULL;

		if (!maker)
			continue;
		thread->owns_argument =
			(p->insts[maker].op == PROGRAM_OFFSET && p->insts[maker].flags & PROGRAM_ARRAY) ||
			(known && known->kind == KNOWN_ALLOCATE &&
			 made_as_often(lint, maker, thread->create)) ||
			(known && known->kind == KNOWN_CREATE_TASK);
	}
}

void thread_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct thread_build b = {.lint = lint};

	b.site_of = mem_zalloc(p->insts_count, sizeof(*b.site_of));
	find_threads(&b);
	if (lint->threads.count > 1) {
		threadlife_find(&b);
		own_arguments(lint);
		for (uint32_t t = 1; t < lint->threads.count; t++) {
			const struct known *known =
				pointsto_known(&lint->pt, &p->insts[lint->threads.at[t].create]);

			if (known && known->kind == KNOWN_CREATE_TEAM)
				team_build(lint, t);
		}
	}
	vec_free(&b.creates);
	free(b.site_of);
}

void thread_release(struct lint *lint)
{
	for (uint32_t t = 0; t < lint->threads.count; t++) {
		vec_free(&lint->threads.at[t].roots);
		free(lint->threads.at[t].alive);
		free(lint->threads.at[t].phase);
		free(lint->threads.at[t].only);
	}
	free(lint->threads.reach);
}

uint64_t thread_beside(const struct lint *lint, uint32_t t, uint32_t inst)
{
	const struct thread *thread = &lint->threads.at[t];
	uint64_t beside = thread->parallel & ~(1ull << t);

	/* Descendants only as far as they may run just now; others' are not ours. */
	if (!thread->several)
		beside &= ~thread->descendants | (thread->alive ? thread->alive[inst] : 0);
	return thread->several ? beside | 1ull << t : beside;
}

const char *thread_name(struct lint *lint, uint32_t t)
{
	const struct program *p = &lint->program;
	const struct thread *thread = &lint->threads.at[t];

	if (lint->threads.is_library && !t)
		return "a thread";
	/* The C++ library's own start function says nothing; what it calls does. */
	uint32_t root = thread->roots.at[0];

	if (p->functions[root].flags & FUNCTION_LIBRARY)
		for (uint32_t e = lint->calls.first[root]; e < lint->calls.first[root + 1]; e++)
			if (!(p->functions[lint->calls.edges[e].callee].flags & FUNCTION_LIBRARY)) {
				root = lint->calls.edges[e].callee;
				break;
			}
	return program_text(p, p->functions[root].name);
}
