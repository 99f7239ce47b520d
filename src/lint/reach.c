/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What several threads can reach: the nodes of the shape graph that globals and the
 * arguments of threads lead to. A thread's own argument is its own, what it points to is not.
 */
#include "lint/lint.h"
#include "lint/variable.h"

static void reach_from(struct lint *lint, struct shape_cell cell, struct vec_u32 *waiting)
{
	struct accesses *a = &lint->accesses;
	uint32_t node = shape_find(lint->pt.shape, cell).node;

	if (!node || node >= a->nodes || a->node_shared[node])
		return;
	a->node_shared[node] = true;
	vec_push(waiting, node);
}

/* What something else leads to as well is no thread's own. */
static void reach_all(struct lint *lint, struct vec_u32 *waiting)
{
	struct accesses *a = &lint->accesses;
	struct shape_cell target;
	int64_t at;

	while (waiting->count) {
		uint32_t node = waiting->at[--waiting->count];

		for (uint32_t i = 0; shape_field(lint->pt.shape, node, i, &at, &target); i++) {
			uint32_t to = shape_find(lint->pt.shape, target).node;

			if (to != node && to < a->nodes)
				a->node_own[to] = false;
			reach_from(lint, target, waiting);
		}
	}
}

void access_reach(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct accesses *a = &lint->accesses;
	struct vec_u32 waiting = {0};

	for (uint32_t v = 1; v < p->values_count; v++)
		pointsto_cell(&lint->pt, v);
	a->nodes = shape_count(lint->pt.shape);
	a->node_shared = mem_zalloc(a->nodes, sizeof(*a->node_shared));
	a->node_own = mem_zalloc(a->nodes, sizeof(*a->node_own));
	for (uint32_t g = 1; g < p->globals_count; g++)
		if (variable_is_plain(p, g))
			reach_from(lint, pointsto_cell(&lint->pt, p->globals[g].value), &waiting);
	/* Whoever calls a library may share what it hands in. */
	for (uint32_t r = 0; lint->threads.is_library && r < lint->threads.at[0].roots.count; r++) {
		const struct program_function *f = &p->functions[lint->threads.at[0].roots.at[r]];

		for (uint32_t i = 0; i < f->parameter_count; i++)
			reach_from(lint, pointsto_cell(&lint->pt, f->parameter + i), &waiting);
	}
	for (uint32_t t = 1; t < lint->threads.count; t++)
		if (!lint->threads.at[t].owns_argument && lint->threads.at[t].argument)
			reach_from(lint, pointsto_cell(&lint->pt, lint->threads.at[t].argument), &waiting);
	reach_all(lint, &waiting);
	/* What only a thread's own argument leads to: the argument is its own, what it points to is not. */
	for (uint32_t t = 1; t < lint->threads.count; t++) {
		uint32_t node = pointsto_cell(&lint->pt, lint->threads.at[t].argument).node;

		if (!lint->threads.at[t].owns_argument || !node || node >= a->nodes)
			continue;
		if (!a->node_shared[node])
			a->node_own[node] = true;
		reach_from(lint, pointsto_cell(&lint->pt, lint->threads.at[t].argument), &waiting);
	}
	/* std::thread keeps the argument in its state, which the start function gets. */
	for (uint32_t t = 1; t < lint->threads.count; t++)
		for (uint32_t r = 0; r < lint->threads.at[t].roots.count; r++) {
			const struct program_function *f = &p->functions[lint->threads.at[t].roots.at[r]];

			for (uint32_t i = 0; i < f->parameter_count; i++)
				reach_from(lint, pointsto_cell(&lint->pt, f->parameter + i), &waiting);
		}
	reach_all(lint, &waiting);
	vec_free(&waiting);
}

bool access_node_shared(const struct lint *lint, uint32_t node)
{
	return node < lint->accesses.nodes && lint->accesses.node_shared[node];
}
