/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dominators, postdominators, control dependence, cycles and loops of random
 * graphs, against their definitions: a block dominates another if no way leads
 * there without it, found by taking it away.
 */
#include "lint/cfg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12 };

struct graph {
	uint32_t count, first[MOST + 1], edges[MOST * 2];
};

static uint32_t state;

static uint32_t random_below(uint32_t n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static void random_graph(struct graph *g)
{
	uint32_t at = 0;

	g->count = 1 + random_below(MOST);
	for (uint32_t b = 0; b < g->count; b++) {
		g->first[b] = at;
		for (uint32_t n = random_below(3); n; n--)
			g->edges[at++] = random_below(g->count);
	}
	g->first[g->count] = at;
}

/* What can be reached from `from` without passing `without`. */
static void reach(const struct graph *g, uint32_t from, uint32_t without, bool *seen)
{
	if (from == without || seen[from])
		return;
	seen[from] = true;
	for (uint32_t e = g->first[from]; e < g->first[from + 1]; e++)
		reach(g, g->edges[e], without, seen);
}

static bool dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	bool with[MOST] = {0}, without[MOST] = {0};

	reach(g, 0, CFG_NONE, with);
	reach(g, 0, a, without);
	return with[a] && with[b] && !without[b];
}

/* Does every way from b to the exit pass a? Only asked of graphs in which all blocks reach an end. */
static bool postdominates(const struct graph *g, uint32_t a, uint32_t b)
{
	bool without[MOST] = {0};

	if (a == b)
		return true;
	reach(g, b, a, without);
	for (uint32_t i = 0; i < g->count; i++)
		if (without[i] && g->first[i] == g->first[i + 1])
			return false;
	return true;
}

static bool ends(const struct graph *g)
{
	for (uint32_t b = 0; b < g->count; b++) {
		bool seen[MOST] = {0}, found = false;

		reach(g, b, CFG_NONE, seen);
		for (uint32_t i = 0; i < g->count; i++)
			found |= seen[i] && g->first[i] == g->first[i + 1];
		if (!found)
			return false;
	}
	return true;
}

static bool on_cycle(const struct graph *g, uint32_t b)
{
	for (uint32_t e = g->first[b]; e < g->first[b + 1]; e++) {
		bool seen[MOST] = {0};

		reach(g, g->edges[e], CFG_NONE, seen);
		if (seen[b])
			return true;
	}
	return false;
}

/* Ferrante et al.: b depends on a's edge to s if b postdominates s and not, strictly, a. */
static bool depends(const struct graph *g, uint32_t b, uint32_t a, uint32_t edge)
{
	uint32_t s = g->edges[g->first[a] + edge];

	return postdominates(g, b, s) && (a == b || !postdominates(g, b, a));
}

/* In the natural loop of the header: it reaches a latch without passing the header. */
static bool in_loop_of(const struct graph *g, uint32_t header, uint32_t b)
{
	if (b == header)
		return true;
	for (uint32_t latch = 0; latch < g->count; latch++)
		for (uint32_t e = g->first[latch]; e < g->first[latch + 1]; e++) {
			bool seen[MOST] = {0};

			if (g->edges[e] != header || !dominates(g, header, latch))
				continue;
			reach(g, b, header, seen);
			if (seen[latch])
				return true;
		}
	return false;
}

static void test_against_definitions(void **unused)
{
	uint32_t ending = 0, loops = 0;

	state = 1;
	for (int round = 0; round < 4000; round++) {
		struct graph g;
		struct cfg c;
		bool seen[MOST] = {0};

		random_graph(&g);
		cfg_build(&c, g.count, g.first, g.edges);
		reach(&g, 0, CFG_NONE, seen);
		for (uint32_t a = 0; a < g.count; a++) {
			assert_int_equal(c.number[a] != CFG_NONE, seen[a]);
			if (seen[a])
				assert_int_equal(c.on_cycle[a], on_cycle(&g, a));
			for (uint32_t b = 0; b < g.count; b++)
				assert_int_equal(cfg_dominates(&c, a, b), dominates(&g, a, b));
		}
		for (uint32_t l = 0; l < c.loop_count; l++) {
			loops++;
			for (uint32_t b = 0; b < g.count; b++)
				if (seen[b])
					assert_int_equal(cfg_inside(&c, b, l),
							 in_loop_of(&g, c.loops[l].header, b));
		}
		if (ends(&g)) {
			ending++;
			for (uint32_t a = 0; a < g.count; a++)
				for (uint32_t b = 0; b < g.count; b++) {
					assert_int_equal(cfg_postdominates(&c, a, b),
							 postdominates(&g, a, b));
					for (uint32_t e = 0;
					     seen[a] && g.first[a + 1] - g.first[a] == 2 && e < 2; e++) {
						bool found = false;

						for (uint32_t i = c.control_first[b];
						     i < c.control_first[b + 1]; i++)
							found |= c.controls[i].block == a &&
								 c.controls[i].edge == e;
						assert_int_equal(found, depends(&g, b, a, e));
					}
				}
		}
		cfg_release(&c);
	}
	/* The graphs were worth looking at. */
	assert_true(ending > 100 && loops > 100);
}

static void test_endless(void **unused)
{
	/* 0 -> 1 <-> 2: no way out, and yet everything has a postdominator. */
	const uint32_t first[] = {0, 1, 2, 3}, edges[] = {1, 2, 1};
	struct cfg c;

	cfg_build(&c, 3, first, edges);
	for (uint32_t b = 0; b < 3; b++)
		assert_true(c.postdominator[b] <= 3);
	assert_true(cfg_postdominates(&c, 1, 0));
	assert_true(c.on_cycle[1] && c.on_cycle[2] && !c.on_cycle[0]);
	cfg_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_definitions),
					   cmocka_unit_test(test_endless)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
