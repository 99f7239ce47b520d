/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/shape.h"

#include <string.h>

#include "lint/vec.h"

struct field {
	int64_t at;
	struct shape_cell target;
};

struct node {
	uint32_t parent; /* itself for a root */
	uint32_t object;
	int64_t shift; /* of its place 0 in the parent */
	/* Nodes with objects that were merged into a root, itself among them: a list, so that looking
	 * through them does not pass the many that stand for pointers alone. */
	uint32_t first, last; /* of a root; 0: none */
	uint32_t next;
	uint32_t objects; /* of a root: how many */
	bool flat;
	VEC(struct field) fields; /* of a root; in order */
};

struct pair {
	struct shape_cell a, b;
};

struct shape {
	VEC(struct node) nodes;
	VEC(struct pair) waiting;
	uint64_t changes;
};

struct shape *shape_new(void)
{
	struct shape *s = mem_zalloc(1, sizeof(*s));

	vec_push(&s->nodes, (struct node){0});
	return s;
}

void shape_free(struct shape *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nodes.count; i++)
		vec_free(&s->nodes.at[i].fields);
	vec_free(&s->nodes);
	vec_free(&s->waiting);
	free(s);
}

uint32_t shape_node(struct shape *s, uint32_t object)
{
	uint32_t n = s->nodes.count;

	vec_push(&s->nodes, (struct node){.parent = n,
					  .object = object,
					  .first = object ? n : 0,
					  .last = object ? n : 0,
					  .objects = object != 0});
	return n;
}

struct shape_cell shape_find(struct shape *s, struct shape_cell cell)
{
	uint32_t root = cell.node;
	int64_t at = cell.at;

	if (!root)
		return (struct shape_cell){0, 0};
	while (s->nodes.at[root].parent != root) {
		at += s->nodes.at[root].shift;
		root = s->nodes.at[root].parent;
	}
	/* Shorten the way. */
	int64_t rest = at - cell.at;

	for (uint32_t n = cell.node; n != root;) {
		struct node *node = &s->nodes.at[n];
		int64_t shift = node->shift;

		n = node->parent;
		node->shift = rest;
		node->parent = root;
		rest -= shift;
	}
	return (struct shape_cell){root, s->nodes.at[root].flat ? 0 : at};
}

bool shape_same(struct shape *s, struct shape_cell a, struct shape_cell b)
{
	a = shape_find(s, a);
	b = shape_find(s, b);
	return a.node && a.node == b.node && a.at == b.at;
}

static uint32_t field_slot(const struct node *n, int64_t at)
{
	uint32_t low = 0, high = n->fields.count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (n->fields.at[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Into a root; what is there already is to become the same. */
static void put(struct shape *s, uint32_t root, int64_t at, struct shape_cell target)
{
	struct node *n = &s->nodes.at[root];
	uint32_t slot;

	if (n->flat)
		at = 0;
	slot = field_slot(n, at);
	if (slot < n->fields.count && n->fields.at[slot].at == at) {
		vec_push(&s->waiting, (struct pair){n->fields.at[slot].target, target});
		return;
	}
	vec_room(&n->fields);
	memmove(n->fields.at + slot + 1, n->fields.at + slot,
		(n->fields.count - slot) * sizeof(*n->fields.at));
	n->fields.at[slot] = (struct field){at, target};
	n->fields.count++;
}

static void make_flat(struct shape *s, uint32_t root)
{
	struct node *n = &s->nodes.at[root];
	__typeof__(n->fields) fields = n->fields;

	if (n->flat)
		return;
	n->flat = true;
	s->changes++;
	memset(&n->fields, 0, sizeof(n->fields));
	for (uint32_t i = 0; i < fields.count; i++)
		put(s, root, 0, fields.at[i].target);
	vec_free(&fields);
}

static void unify_one(struct shape *s, struct shape_cell a, struct shape_cell b)
{
	a = shape_find(s, a);
	b = shape_find(s, b);
	if (!a.node || !b.node)
		return;
	if (a.node == b.node) {
		if (a.at != b.at)
			make_flat(s, a.node);
		return;
	}
	/* The one with fewer places moves, so that moving all of them stays cheap. */
	if (s->nodes.at[a.node].fields.count < s->nodes.at[b.node].fields.count) {
		struct shape_cell swap = a;

		a = b;
		b = swap;
	}
	if (s->nodes.at[a.node].flat || s->nodes.at[b.node].flat) {
		make_flat(s, a.node);
		make_flat(s, b.node);
		a.at = b.at = 0;
	}
	struct node *into = &s->nodes.at[a.node], *from = &s->nodes.at[b.node];
	__typeof__(from->fields) fields = from->fields;

	s->changes++;
	from->parent = a.node;
	from->shift = a.at - b.at;
	if (into->last && from->first)
		s->nodes.at[into->last].next = from->first;
	if (!into->first)
		into->first = from->first;
	if (from->last)
		into->last = from->last;
	into->objects += from->objects;
	memset(&from->fields, 0, sizeof(from->fields));
	for (uint32_t i = 0; i < fields.count; i++)
		put(s, a.node, fields.at[i].at + a.at - b.at, fields.at[i].target);
	vec_free(&fields);
}

static void settle(struct shape *s)
{
	while (s->waiting.count) {
		struct pair p = s->waiting.at[--s->waiting.count];

		unify_one(s, p.a, p.b);
	}
}

void shape_unify(struct shape *s, struct shape_cell a, struct shape_cell b)
{
	if (!a.node || !b.node)
		return;
	unify_one(s, a, b);
	settle(s);
}

void shape_flatten(struct shape *s, uint32_t node)
{
	make_flat(s, shape_find(s, (struct shape_cell){node, 0}).node);
	settle(s);
}

bool shape_is_flat(struct shape *s, uint32_t node)
{
	return s->nodes.at[shape_find(s, (struct shape_cell){node, 0}).node].flat;
}

struct shape_cell shape_peek(struct shape *s, struct shape_cell cell)
{
	cell = shape_find(s, cell);
	struct node *n = &s->nodes.at[cell.node];
	uint32_t slot = field_slot(n, cell.at);

	if (!cell.node || slot == n->fields.count || n->fields.at[slot].at != cell.at)
		return (struct shape_cell){0, 0};
	return shape_find(s, n->fields.at[slot].target);
}

struct shape_cell shape_target(struct shape *s, struct shape_cell cell)
{
	struct shape_cell found = shape_peek(s, cell);

	if (found.node || !cell.node)
		return found;
	cell = shape_find(s, cell);
	found.node = shape_node(s, 0);
	put(s, cell.node, cell.at, found);
	return found;
}

bool shape_field(struct shape *s, uint32_t node, uint32_t i, int64_t *at, struct shape_cell *target)
{
	const struct node *n = &s->nodes.at[shape_find(s, (struct shape_cell){node, 0}).node];

	if (i >= n->fields.count)
		return false;
	*at = n->fields.at[i].at;
	*target = shape_find(s, n->fields.at[i].target);
	return true;
}

uint32_t shape_next(struct shape *s, uint32_t *cookie)
{
	*cookie = s->nodes.at[*cookie].next;
	return s->nodes.at[*cookie].object;
}

uint32_t shape_first(struct shape *s, uint32_t node, uint32_t *cookie)
{
	*cookie = s->nodes.at[shape_find(s, (struct shape_cell){node, 0}).node].first;
	return s->nodes.at[*cookie].object;
}

uint32_t shape_objects(struct shape *s, uint32_t node)
{
	return s->nodes.at[shape_find(s, (struct shape_cell){node, 0}).node].objects;
}

uint64_t shape_changes(const struct shape *s)
{
	return s->changes;
}

uint32_t shape_count(const struct shape *s)
{
	return s->nodes.count;
}
