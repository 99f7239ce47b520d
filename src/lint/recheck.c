/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/recheck.h"

#include "lint/pair.h"

static uint32_t variable_of(const struct recheck *r, uint32_t access)
{
	return r->lint->accesses.at.at[access].variable;
}

static uint64_t look_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}

/* Where others of the same use and variable are found; several may share one. */
static uint64_t use_key(const struct recheck *r, const struct flow_edge *e)
{
	uint64_t key = map_hash((uint64_t)e->to.via << 32 | e->to.access);

	return key ^ map_hash(variable_of(r, e->from.access) + 1ull) << 1 ^ 1;
}

void recheck_begin(struct recheck *r, const struct lint *lint)
{
	const struct flows *f = lint->flows;

	*r = (struct recheck){.lint = lint,
			      .next_edge = mem_zalloc(f->edges.count + 1ull, sizeof(*r->next_edge))};
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.at[i];
		uint64_t key = use_key(r, e);

		r->next_edge[i] = map_get(&r->by_use, key);
		map_set(&r->by_use, key, i + 1);
		if (!lint->accesses.at.at[e->to.access].write && !e->data && !e->again && !e->carried &&
		    variable_of(r, e->from.access) == variable_of(r, e->to.access))
			map_set(&r->looks, look_key(e->from.access, e->to.access), 1);
	}
}

void recheck_end(struct recheck *r)
{
	map_release(&r->looks);
	map_release(&r->by_use);
	free(r->next_edge);
}

bool recheck_is(const struct recheck *r, const struct flow_edge *edge)
{
	const struct flows *f = r->lint->flows;

	if (edge->data)
		return false;
	for (uint32_t i = map_get(&r->by_use, use_key(r, edge)); i; i = r->next_edge[i - 1]) {
		const struct flow_edge *other = &f->edges.at[i - 1];

		if (other->function == edge->function && other->to.via == edge->to.via &&
		    other->to.access == edge->to.access && other->from.access != edge->from.access &&
		    !other->again && !other->carried &&
		    variable_of(r, other->from.access) == variable_of(r, edge->from.access) &&
		    map_get(&r->looks, look_key(edge->from.access, other->from.access)) &&
		    (other->from.via == edge->from.via ||
		     pair_same_object(r->lint, edge->from.via, other->from.via) > 0))
			return true;
	}
	return false;
}
