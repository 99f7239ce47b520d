/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Both engines against all serial orders, on small random executions, and
 * against a graph that forgets nothing, on larger ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/graph.h"
#include "check_model.h"

struct tally {
	uint64_t runs, violated, violations, longer, more, again, conflicts;
};

static void run(uint64_t seed, const struct model_shape *shape, bool exhaustive, void (*look)(struct model *),
		struct tally *tally)
{
	int order;

	for (order = 0; order < 2; order++) {
		struct model *model = model_new(seed, order);
		const char *wrong = model_run(model, shape, exhaustive, look);

		if (wrong)
			fail_msg("seed %llu, program order %s: %s at access %u", (unsigned long long)seed,
				 order ? "on" : "off", wrong, model->time);
		tally->runs++;
		tally->violated += model->violations > 0;
		tally->violations += model->violations;
		tally->longer += model->cycles_longer_than_two;
		tally->more += model->more_pairs;
		tally->again += model->told_again;
		tally->conflicts += model->conflicts;
		model_free(model);
	}
}

/* The executions must be of both kinds, or they test nothing. */
static void check_tally(const struct tally *tally)
{
	print_message("%llu executions, %llu with violations, %llu violating accesses, %llu longer cycles\n",
		      (unsigned long long)tally->runs, (unsigned long long)tally->violated,
		      (unsigned long long)tally->violations, (unsigned long long)tally->longer);
	assert_true(tally->violated > tally->runs / 10);
	assert_true(tally->violated < tally->runs - tally->runs / 20);
	assert_true(tally->longer > tally->runs / 100);
	assert_true(tally->more > tally->runs / 100);
	assert_true(tally->again > tally->runs / 100);
	assert_true(tally->conflicts > tally->runs / 100);
}

static void test_small(void **state)
{
	struct tally tally = {0};
	uint64_t seed;

	for (seed = 0; seed < 40000; seed++) {
		struct model_shape shape = {
			.threads = 2 + seed % 4,
			.sets = 1 + seed / 4 % 3,
			.locations = 1 + seed / 12 % 3,
			.units = 4 + seed / 7 % 9,
			.steps = 20 + seed % 37,
			.writes = 200 + seed % 5 * 150,
			.unary = seed % 3 * 250,
			.ends = 50 + seed % 7 * 40,
			.merges = seed % 5 ? 20 : 0,
			.splits = seed % 2 ? 20 : 0,
		};

		run(seed, &shape, true, NULL, &tally);
	}
	check_tally(&tally);
}

/* Every edge leads forward in the list, the labels say the same, and the list is whole. */
static void check_order(struct model *model)
{
	struct check *check = model->engines[0];
	struct unit *units = check->units.items;
	uint32_t at, edge, before = 0;

	for (at = units[0].graph.after; at; before = at, at = units[at].graph.after) {
		assert_int_equal(units[at].graph.before, before);
		assert_true(units[at].graph.label > units[before].graph.label);
		assert_true(units[at].graph.label < 1ull << 62);
		for (edge = units[at].graph.out; edge; edge = edge_at(check, edge)->out_next) {
			struct unit *to = &units[edge_at(check, edge)->to];

			assert_int_equal(edge_at(check, edge)->from, at);
			assert_true(!to->graph.label || to->graph.label > units[at].graph.label);
			assert_true(to->graph.label || !to->graph.out);
		}
	}
	assert_int_equal(check->graph->last, before);
}

/* Labels that are close together, or so far apart that they run out. */
static void set_gap(struct model *model)
{
	model->engines[0]->graph->gap = model->seed % 3 == 1   ? 1
					: model->seed % 3 == 2 ? 1ull << 60
							       : 1 << 20;
	check_order(model);
}

static void test_large(void **state)
{
	struct tally tally = {0};
	uint64_t seed;

	for (seed = 0; seed < 60; seed++) {
		/* From few violations among many units to many among few. */
		struct model_shape shape = {
			.threads = 3 + seed % 6,
			.sets = 1 + seed % 2,
			.locations = 6 + seed % 7,
			.units = 100 + seed % 4 * 100,
			.steps = 700 + seed % 4 * 700,
			.writes = 30 + seed % 5 * 60,
			.unary = seed % 4 * 200,
			.ends = 30 + seed / 5 % 5 * 80,
			.merges = 1,
			.splits = 5,
		};

		run(seed, &shape, false, set_gap, &tally);
	}
	assert_true(tally.violations > tally.runs);
	assert_true(tally.longer > tally.runs);
}

/* Many sets that become one, and short units, so that program order over a merge matters. */
static void test_merges(void **state)
{
	struct tally tally = {0};
	uint64_t seed;

	for (seed = 0; seed < 1500; seed++) {
		struct model_shape shape = {
			.threads = 3 + seed % 3,
			.sets = 3 + seed % 6,
			.locations = 2,
			.units = 60,
			.steps = 300,
			.writes = 300,
			.unary = seed % 4 * 150,
			.ends = 100 + seed % 3 * 100,
			.merges = 10 + seed % 5 * 10,
		};

		run(seed, &shape, false, NULL, &tally);
	}
	assert_true(tally.longer > tally.runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_merges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
