/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who calls whom, and an order in which callees come first (Tarjan). */
#include <string.h>

#include "lint/lint.h"

static int by_caller(const void *a, const void *b)
{
	const struct call_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->inst != y->inst)
		return x->inst < y->inst ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

static void collect(struct lint *lint)
{
	const struct program *p = &lint->program;
	VEC(struct call_edge) edges = {0};

	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		const struct vec_u32 *targets = pointsto_targets(&lint->pt, i);
		uint32_t caller = inst->op == PROGRAM_CALL ? program_function_of(p, i) : 0;

		if (inst->op != PROGRAM_CALL)
			continue;
		/* What the user has a word for is not looked into. */
		if (inst->callee && p->functions[inst->callee].flags & FUNCTION_DEFINED &&
		    !pointsto_known(&lint->pt, inst))
			vec_push(&edges, (struct call_edge){i, caller, inst->callee});
		if (known_makes_thread(pointsto_known(&lint->pt, inst)))
			continue;
		for (uint32_t n = 0; n < targets->count; n++)
			if (p->functions[targets->at[n]].flags & FUNCTION_DEFINED)
				vec_push(&edges, (struct call_edge){i, caller, targets->at[n]});
	}
	if (edges.count)
		qsort(edges.at, edges.count, sizeof(*edges.at), by_caller);
	lint->calls.edges = edges.at;
	lint->calls.edge_count = edges.count;
	lint->effort->steps[EFFORT_CALLS] += edges.count;
}

static void index_edges(struct lint *lint)
{
	struct callgraph *c = &lint->calls;
	uint32_t count = lint->program.functions_count;

	c->first = mem_zalloc(count + 2, sizeof(*c->first));
	c->callers_first = mem_zalloc(count + 2, sizeof(*c->callers_first));
	c->callers = mem_alloc((c->edge_count + 1) * sizeof(*c->callers));
	c->by_inst = mem_zalloc(lint->program.insts_count, sizeof(*c->by_inst));
	for (uint32_t e = 0; e < c->edge_count; e++) {
		c->first[c->edges[e].caller + 1]++;
		c->callers_first[c->edges[e].callee + 1]++;
		if (!e || c->edges[e].inst != c->edges[e - 1].inst)
			c->by_inst[c->edges[e].inst] = e + 1;
	}
	for (uint32_t f = 0; f < count; f++) {
		c->first[f + 1] += c->first[f];
		c->callers_first[f + 1] += c->callers_first[f];
	}
	uint32_t *at = mem_alloc((count + 1) * sizeof(*at));

	memcpy(at, c->callers_first, (count + 1) * sizeof(*at));
	for (uint32_t e = 0; e < c->edge_count; e++)
		c->callers[at[c->edges[e].callee]++] = e;
	free(at);
}

struct frame {
	uint32_t function, edge;
};

static void components(struct lint *lint)
{
	struct callgraph *c = &lint->calls;
	uint32_t count = lint->program.functions_count, next = 0, component = 0;
	uint32_t *index = mem_zalloc(count, sizeof(*index)), *low = mem_zalloc(count, sizeof(*low));
	bool *waits = mem_zalloc(count, 1);
	struct vec_u32 open = {0};
	VEC(struct frame) stack = {0};

	c->order = mem_alloc((count + 1) * sizeof(*c->order));
	c->component = mem_zalloc(count, sizeof(*c->component));
	c->recursive = mem_zalloc(count, sizeof(*c->recursive));
	for (uint32_t root = 1; root < count; root++) {
		if (index[root] || !(lint->program.functions[root].flags & FUNCTION_DEFINED))
			continue;
		index[root] = low[root] = ++next;
		vec_push(&open, root);
		waits[root] = true;
		vec_push(&stack, (struct frame){root, c->first[root]});
		while (stack.count) {
			uint32_t top = stack.count - 1, f = stack.at[top].function;

			if (stack.at[top].edge < c->first[f + 1]) {
				uint32_t to = c->edges[stack.at[top].edge++].callee;

				if (to == f)
					c->recursive[f] = true;
				if (!index[to]) {
					index[to] = low[to] = ++next;
					vec_push(&open, to);
					waits[to] = true;
					vec_push(&stack, (struct frame){to, c->first[to]});
				} else if (waits[to] && index[to] < low[f]) {
					low[f] = index[to];
				}
				continue;
			}
			stack.count--;
			if (stack.count && low[f] < low[stack.at[stack.count - 1].function])
				low[stack.at[stack.count - 1].function] = low[f];
			if (low[f] != index[f])
				continue;
			bool several = open.at[open.count - 1] != f;
			uint32_t member;

			component++;
			do {
				member = open.at[--open.count];
				waits[member] = false;
				c->component[member] = component;
				c->recursive[member] |= several;
				c->order[c->order_count++] = member;
			} while (member != f);
		}
	}
	vec_free(&stack);
	vec_free(&open);
	free(index);
	free(low);
	free(waits);
}

void callgraph_build(struct lint *lint)
{
	collect(lint);
	index_edges(lint);
	components(lint);
	lint->below = mem_zalloc(lint->program.functions_count, sizeof(*lint->below));
}

void callgraph_release(struct callgraph *c)
{
	free(c->edges);
	free(c->first);
	free(c->callers);
	free(c->callers_first);
	free(c->order);
	free(c->component);
	free(c->recursive);
	free(c->by_inst);
	memset(c, 0, sizeof(*c));
}

const struct call_edge *callgraph_at(const struct callgraph *c, uint32_t inst, uint32_t *count)
{
	uint32_t first = c->by_inst[inst];

	*count = 0;
	if (!first)
		return NULL;
	while (first - 1 + *count < c->edge_count && c->edges[first - 1 + *count].inst == inst)
		(*count)++;
	return &c->edges[first - 1];
}

/* Members of a recursion call each other, so they share an answer. */
static uint64_t *find_below(const struct lint *lint, uint32_t from)
{
	const struct callgraph *c = &lint->calls;
	uint32_t words = lint->program.functions_count / 64 + 1;
	uint64_t *bits = mem_zalloc(words, sizeof(*bits));
	struct vec_u32 waiting = {0};

	bits[from / 64] |= 1ull << (from % 64);
	vec_push(&waiting, from);
	while (waiting.count) {
		uint32_t f = waiting.at[--waiting.count];
		const uint64_t *known = lint->below[c->component[f]];

		for (uint32_t i = 0; known && i < words; i++)
			bits[i] |= known[i];
		for (uint32_t e = c->first[f]; !known && e < c->first[f + 1]; e++) {
			uint32_t g = c->edges[e].callee;

			if (bits[g / 64] >> (g % 64) & 1)
				continue;
			bits[g / 64] |= 1ull << (g % 64);
			vec_push(&waiting, g);
		}
	}
	vec_free(&waiting);
	return bits;
}

bool callgraph_below(const struct lint *lint, uint32_t from, uint32_t to)
{
	uint64_t **bits = &lint->below[lint->calls.component[from]];

	/* One that the program does not have calls nobody. */
	if (!lint->calls.component[from])
		return from == to;
	if (!*bits)
		*bits = find_below(lint, from);
	return (*bits)[to / 64] >> (to % 64) & 1;
}
