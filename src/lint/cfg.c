/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "lint/vec.h"

/* A block on the way, and the next of its edges to be followed. */
struct step {
	uint32_t block, edge;
};

static uint32_t *numbers(uint32_t count, uint32_t value)
{
	uint32_t *n = mem_alloc((count + 1) * sizeof(*n));

	for (uint32_t i = 0; i <= count; i++)
		n[i] = value;
	return n;
}

/* ---- edges ---- */

/* Turns edges round. Both sides have count + 1 first numbers. */
static void reverse(uint32_t count, const uint32_t *first, const uint32_t *edges, uint32_t **to_first,
		    uint32_t **to)
{
	uint32_t *f = mem_zalloc(count + 2, sizeof(*f)), *e = mem_alloc((first[count] + 1) * sizeof(*e));
	uint32_t *at;

	for (uint32_t i = 0; i < first[count]; i++)
		f[edges[i] + 1]++;
	for (uint32_t i = 0; i < count; i++)
		f[i + 1] += f[i];
	at = mem_alloc((count + 1) * sizeof(*at));
	memcpy(at, f, (count + 1) * sizeof(*at));
	for (uint32_t b = 0; b < count; b++)
		for (uint32_t i = first[b]; i < first[b + 1]; i++)
			e[at[edges[i]]++] = b;
	free(at);
	*to_first = f;
	*to = e;
}

/* Postorder from a root, appended to order; marks what it visits. */
static void postorder(uint32_t root, const uint32_t *first, const uint32_t *edges, bool *seen,
		      struct vec_u32 *order)
{
	VEC(struct step) stack = {0};

	if (seen[root])
		return;
	seen[root] = true;
	vec_push(&stack, (struct step){root, first[root]});
	while (stack.count) {
		uint32_t top = stack.count - 1, block = stack.at[top].block;

		if (stack.at[top].edge == first[block + 1]) {
			vec_push(order, block);
			stack.count--;
			continue;
		}
		uint32_t to = edges[stack.at[top].edge++];

		if (seen[to])
			continue;
		seen[to] = true;
		vec_push(&stack, (struct step){to, first[to]});
	}
	vec_free(&stack);
}

/* ---- dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" ---- */

/* `number` is the place in reverse postorder from the root; preds go against the direction of walking. */
static void dominators(uint32_t root, const uint32_t *order, uint32_t count, const uint32_t *number,
		       const uint32_t *pred_first, const uint32_t *preds, uint32_t *dominator)
{
	bool changed = true;

	dominator[root] = root;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t b = order[i], found = CFG_NONE;

			if (b == root)
				continue;
			for (uint32_t p = pred_first[b]; p < pred_first[b + 1]; p++) {
				uint32_t a = preds[p];

				if (dominator[a] == CFG_NONE)
					continue;
				if (found == CFG_NONE) {
					found = a;
					continue;
				}
				uint32_t c = found;

				while (a != c) {
					while (number[a] > number[c])
						a = dominator[a];
					while (number[c] > number[a])
						c = dominator[c];
				}
				found = a;
			}
			if (dominator[b] != found) {
				dominator[b] = found;
				changed = true;
			}
		}
	}
}

static void forward(struct cfg *c)
{
	bool *seen = mem_zalloc(c->count, 1);
	struct vec_u32 order = {0};

	postorder(0, c->edge_first, c->edges, seen, &order);
	for (uint32_t i = 0; i < order.count / 2; i++) {
		uint32_t swap = order.at[i];

		order.at[i] = order.at[order.count - 1 - i];
		order.at[order.count - 1 - i] = swap;
	}
	c->order = order.at;
	c->order_count = order.count;
	c->number = numbers(c->count, CFG_NONE);
	for (uint32_t i = 0; i < c->order_count; i++)
		c->number[c->order[i]] = i;
	c->dominator = numbers(c->count, CFG_NONE);
	dominators(0, c->order, c->order_count, c->number, c->pred_first, c->preds, c->dominator);
	free(seen);
}

/*
 * The same with edges turned round, from an exit in addition. Its edges lead to
 * blocks without successors; where none of them is reached (endless loops), the
 * last block in order that was not yet met gets one.
 */
static void backward(struct cfg *c)
{
	uint32_t exit = c->count, n = c->count + 1, *first, *edges, *back_first, *back;
	bool *seen = mem_zalloc(n, 1), *leads = mem_zalloc(n, 1);
	struct vec_u32 order = {0};
	uint32_t *number = numbers(n, CFG_NONE);

	for (uint32_t b = 0; b < c->count; b++) {
		leads[b] = c->edge_first[b] == c->edge_first[b + 1];
		if (leads[b])
			postorder(b, c->pred_first, c->preds, seen, &order);
	}
	for (uint32_t i = c->order_count; i-- > 0;)
		if (!seen[c->order[i]]) {
			leads[c->order[i]] = true;
			postorder(c->order[i], c->pred_first, c->preds, seen, &order);
		}
	for (uint32_t b = 0; b < c->count; b++)
		if (!seen[b]) { /* not reached from the entry either */
			leads[b] = true;
			postorder(b, c->pred_first, c->preds, seen, &order);
		}
	/* The graph with the exit, and its reverse. */
	first = mem_zalloc(n + 1, sizeof(*first));
	edges = mem_alloc((c->edge_first[c->count] + n + 1) * sizeof(*edges));
	uint32_t at = 0;

	for (uint32_t b = 0; b < c->count; b++) {
		first[b] = at;
		for (uint32_t i = c->edge_first[b]; i < c->edge_first[b + 1]; i++)
			edges[at++] = c->edges[i];
		if (leads[b])
			edges[at++] = exit;
	}
	first[exit] = first[n] = at;
	reverse(n, first, edges, &back_first, &back);
	order.count = 0;
	memset(seen, 0, n);
	postorder(exit, back_first, back, seen, &order);
	for (uint32_t i = 0; i < order.count / 2; i++) {
		uint32_t swap = order.at[i];

		order.at[i] = order.at[order.count - 1 - i];
		order.at[order.count - 1 - i] = swap;
	}
	for (uint32_t i = 0; i < order.count; i++)
		number[order.at[i]] = i;
	c->postdominator = numbers(n, CFG_NONE);
	dominators(exit, order.at, order.count, number, first, edges, c->postdominator);
	free(first);
	free(edges);
	free(back_first);
	free(back);
	free(number);
	free(seen);
	free(leads);
	vec_free(&order);
}

/* ---- control dependence ---- */

static void controls(struct cfg *c)
{
	struct {
		uint32_t block;
		struct cfg_control by;
	} *found = NULL;
	uint32_t count = 0, room = 0;

	c->control_first = mem_zalloc(c->count + 2, sizeof(*c->control_first));
	for (uint32_t i = 0; i < c->order_count; i++) {
		uint32_t a = c->order[i], end = c->postdominator[a];

		if (c->edge_first[a + 1] - c->edge_first[a] < 2)
			continue;
		for (uint32_t e = c->edge_first[a]; e < c->edge_first[a + 1]; e++)
			for (uint32_t b = c->edges[e]; b != end && b < c->count; b = c->postdominator[b]) {
				if (count == room) {
					room = room ? room * 2 : 32;
					found = mem_resize(found, room, sizeof(*found));
				}
				found[count].block = b;
				found[count++].by = (struct cfg_control){a, e - c->edge_first[a]};
				c->control_first[b + 1]++;
			}
	}
	for (uint32_t b = 0; b < c->count; b++)
		c->control_first[b + 1] += c->control_first[b];
	uint32_t *at = mem_alloc((c->count + 1) * sizeof(*at));

	memcpy(at, c->control_first, (c->count + 1) * sizeof(*at));
	c->controls = mem_alloc((count + 1) * sizeof(*c->controls));
	for (uint32_t i = 0; i < count; i++)
		c->controls[at[found[i].block]++] = found[i].by;
	free(at);
	free(found);
}

/* ---- cycles (Tarjan's strongly connected components) and natural loops ---- */

static void cycles(struct cfg *c)
{
	uint32_t *low = numbers(c->count, 0), *index = numbers(c->count, 0), next = 0;
	bool *waits = mem_zalloc(c->count, 1);
	struct vec_u32 open = {0};
	VEC(struct step) stack = {0};

	c->on_cycle = mem_zalloc(c->count, sizeof(*c->on_cycle));
	vec_push(&stack, (struct step){0, c->edge_first[0]});
	index[0] = low[0] = ++next;
	vec_push(&open, 0);
	waits[0] = true;
	while (stack.count) {
		uint32_t top = stack.count - 1, b = stack.at[top].block;

		if (stack.at[top].edge < c->edge_first[b + 1]) {
			uint32_t to = c->edges[stack.at[top].edge++];

			if (to == b)
				c->on_cycle[b] = true;
			if (!index[to]) {
				index[to] = low[to] = ++next;
				vec_push(&open, to);
				waits[to] = true;
				vec_push(&stack, (struct step){to, c->edge_first[to]});
			} else if (waits[to] && index[to] < low[b]) {
				low[b] = index[to];
			}
			continue;
		}
		stack.count--;
		if (stack.count && low[b] < low[stack.at[stack.count - 1].block])
			low[stack.at[stack.count - 1].block] = low[b];
		if (low[b] != index[b])
			continue;
		bool several = open.at[open.count - 1] != b;
		uint32_t member;

		do {
			member = open.at[--open.count];
			waits[member] = false;
			c->on_cycle[member] |= several;
		} while (member != b);
	}
	vec_free(&stack);
	vec_free(&open);
	free(low);
	free(index);
	free(waits);
}

/* Blocks that reach the latches without passing the header. */
static void loop_body(struct cfg *c, uint32_t header, uint32_t number, struct vec_u32 *waiting)
{
	while (waiting->count) {
		uint32_t b = waiting->at[--waiting->count];

		/* Inner loops came first: climb out of them to where this loop is to be noted. */
		uint32_t inner = c->loop[b];

		if (inner == number || c->number[b] == CFG_NONE)
			continue;
		if (inner == CFG_NONE) {
			c->loop[b] = number;
		} else {
			while (c->loops[inner].parent != CFG_NONE && inner != number)
				inner = c->loops[inner].parent;
			if (inner == number)
				continue;
			c->loops[inner].parent = number;
			b = c->loops[inner].header;
		}
		if (b == header)
			continue;
		for (uint32_t p = c->pred_first[b]; p < c->pred_first[b + 1]; p++)
			vec_push(waiting, c->preds[p]);
	}
}

static void loops(struct cfg *c)
{
	struct vec_u32 waiting = {0};

	c->loop = numbers(c->count, CFG_NONE);
	c->loops = mem_alloc((c->count + 1) * sizeof(*c->loops));
	/* Against the order, so that inner headers come before outer ones. */
	for (uint32_t i = c->order_count; i-- > 0;) {
		uint32_t h = c->order[i];

		for (uint32_t p = c->pred_first[h]; p < c->pred_first[h + 1]; p++)
			if (c->number[c->preds[p]] != CFG_NONE && cfg_dominates(c, h, c->preds[p]))
				vec_push(&waiting, c->preds[p]);
		if (!waiting.count)
			continue;
		c->loops[c->loop_count] = (struct cfg_loop){h, CFG_NONE};
		c->loop[h] = c->loop_count;
		loop_body(c, h, c->loop_count, &waiting);
		c->loop_count++;
	}
	vec_free(&waiting);
}

void cfg_build(struct cfg *c, uint32_t count, const uint32_t *edge_first, const uint32_t *edges)
{
	memset(c, 0, sizeof(*c));
	c->count = count;
	c->edge_first = mem_alloc((count + 1) * sizeof(*c->edge_first));
	memcpy(c->edge_first, edge_first, (count + 1) * sizeof(*c->edge_first));
	c->edges = mem_alloc((edge_first[count] + 1) * sizeof(*c->edges));
	if (edge_first[count])
		memcpy(c->edges, edges, edge_first[count] * sizeof(*c->edges));
	reverse(count, c->edge_first, c->edges, &c->pred_first, &c->preds);
	forward(c);
	backward(c);
	controls(c);
	cycles(c);
	loops(c);
}

void cfg_release(struct cfg *c)
{
	free(c->edge_first);
	free(c->edges);
	free(c->pred_first);
	free(c->preds);
	free(c->order);
	free(c->number);
	free(c->dominator);
	free(c->postdominator);
	free(c->control_first);
	free(c->controls);
	free(c->on_cycle);
	free(c->loops);
	free(c->loop);
	memset(c, 0, sizeof(*c));
}

bool cfg_dominates(const struct cfg *c, uint32_t a, uint32_t b)
{
	if (c->number[a] == CFG_NONE || c->number[b] == CFG_NONE)
		return false;
	while (c->number[b] > c->number[a])
		b = c->dominator[b];
	return a == b;
}

bool cfg_postdominates(const struct cfg *c, uint32_t a, uint32_t b)
{
	while (b != a && b != c->count)
		b = c->postdominator[b];
	return a == b;
}

bool cfg_inside(const struct cfg *c, uint32_t block, uint32_t loop)
{
	uint32_t l = c->loop[block];

	while (l != CFG_NONE && l != loop)
		l = c->loops[l].parent;
	return l == loop;
}
