/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One execution per rule of src/check/engine.h. They are written as words: b1
 * begins a unit of thread 1 on set A and e1 ends it, r1x and w1x are accesses of
 * it, R1x and W1x accesses outside any unit; x, y, z are in the one set.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/engine.h"

#define EDGES 16

struct heard {
	uint32_t count;
	uint32_t closing[EDGES]; /* which word closed it */
	struct check_edge edges[EDGES];
	uint32_t length; /* of the last one */
};

static void hear(void *user, const struct check_cycle *cycle)
{
	struct heard *heard = user;

	if (heard->count < EDGES)
		heard->closing[heard->count] = (uint32_t)cycle->edges[0].target.time;
	heard->count++;
	heard->length = cycle->length;
	memcpy(heard->edges, cycle->edges,
	       (cycle->length < EDGES ? cycle->length : EDGES) * sizeof(*cycle->edges));
}

static struct check *start(enum check_kind kind, bool program_order, struct heard *heard)
{
	*heard = (struct heard){0};
	return check_new(&(struct check_config){kind, program_order, hear, heard, NULL});
}

static void play(enum check_kind kind, bool program_order, const char *words, struct heard *heard)
{
	struct check *check = start(kind, program_order, heard);
	struct check_unit_tag unit = {.set = check_set_new(check)};
	uint32_t locations[3], units[10];
	uint32_t i, number = 0;

	for (i = 0; i < 3; i++)
		locations[i] = check_location_new(check);
	for (; *words; words += strcspn(words, " "), words += strspn(words, " "), number++) {
		uint32_t location = words[1] && words[2] >= 'x' ? words[2] - 'x' : 0;
		struct check_access_tag tag = {.time = number, .address = location, .op = words[0]};

		unit.thread = words[1] - '0';
		unit.begin = number;
		switch (words[0]) {
		case 'b':
			units[unit.thread] = check_unit_begin(check, &unit);
			break;
		case 'e':
			check_unit_end(check, units[unit.thread]);
			break;
		case 'r':
			check_read(check, units[unit.thread], locations[location], &tag);
			break;
		case 'w':
			check_write(check, units[unit.thread], locations[location], &tag);
			break;
		case 'R':
			check_unary_read(check, &unit, locations[location], &tag);
			break;
		case 'W':
			check_unary_write(check, &unit, locations[location], &tag);
			break;
		default:
			fail();
		}
	}
	check_free(check);
}

/* Which word closes the first cycle, 0 for none, with program order and without; and how long it is. */
static const struct {
	const char *words;
	uint32_t with, without, length;
} rules[] = {
	/* PENELOPE's five patterns of two accesses around another thread's. */
	{"b1 b2 r1x w2x r1x e1 e2", 4, 4, 2},
	{"b1 r1x W2x r1x e1", 3, 3, 2},
	{"b1 w1x R2x w1x e1", 3, 3, 2},
	{"b1 r1x W2x w1x e1", 3, 3, 2},
	{"b1 w1x W2x r1x e1", 3, 3, 2},
	{"b1 w1x W2x w1x e1", 3, 3, 2},
	{"b1 b2 r1x w2x r1x w1x e1 e2", 4, 4, 2},
	/* The same accesses one after the other. */
	{"b1 r1x r1x e1 W2x", 0, 0, 0},
	{"b1 r1x w1x e1 b2 r2x w2x e2 b1 r1x w1x e1", 0, 0, 0},
	{"b1 r1x R2x r1x w1x e1", 0, 0, 0},
	/* Lost update, and a pair that is read in parts. */
	{"b1 b2 r1x r2x w2x w1x e1 e2", 5, 5, 2},
	{"b1 w1x b2 r2x r2y e2 w1y e1", 6, 6, 2},
	{"b1 w1x w1y b2 r2x r2y e2 e1", 0, 0, 0},
	/* Interleaved, and serializable all the same: 1 before 2. */
	{"b1 b2 w1x w2x w1y w2y e1 e2", 0, 0, 0},
	{"b1 b2 w1x w2x w2y w1y e1 e2", 5, 5, 2},
	/* Readers do not order each other, but all of them come before the writer. */
	{"b1 b2 r2x r1x r2x w1y r2y r1x e1 e2", 0, 0, 0},
	{"b1 b2 b3 w3z r1z r2x w1y r2y w3x e1 e2 e3", 8, 8, 3},
	{"b1 b2 b3 r1x r2x r3x w3y r1y w3x e1 e2 e3", 8, 8, 2},
	/* Marathon, Fig. 2 and 3: three units, three locations. */
	{"b1 b2 b3 w1x r2x w2y r3y w3z r1z e1 e2 e3", 8, 8, 3},
	{"b1 w1x b2 r2x w2y e2 b3 r3y w3z e3 r1z e1", 10, 10, 3},
	/* The units in between are long finished; a collected one closes nothing. */
	{"b2 w2x e2 b1 r1x b3 w3x e3 w1y e1", 0, 0, 0},
	/* Around two units of one thread: program order alone makes it a cycle. */
	{"b1 w1x b2 r2x e2 b2 w2y e2 r1y e1", 8, 0, 3},
	{"b1 w1x R2x W2y r1y e1", 4, 0, 3},
	{"b1 w1x R2x b2 e2 W2y r1y e1", 6, 0, 3},
	/* A unit that only follows: its end is not needed to see the cycle. */
	{"b1 b2 b3 w2x r3x w1y r2y w3z r1z", 8, 8, 3},
};

static void test_rules(void **state)
{
	struct heard graph, clocks;
	uint32_t i;

	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		int order;

		for (order = 0; order < 2; order++) {
			uint32_t expected = order ? rules[i].with : rules[i].without;

			play(CHECK_CONFLICT_GRAPH, order, rules[i].words, &graph);
			play(CHECK_AERODROME, order, rules[i].words, &clocks);
			if ((graph.count ? graph.closing[0] : 0) != expected ||
			    (expected && graph.length != rules[i].length))
				fail_msg("%s: the graph has word %u, cycle of %u", rules[i].words,
					 graph.count ? graph.closing[0] : 0, graph.length);
			if ((clocks.count ? clocks.closing[0] : 0) != expected)
				fail_msg("%s: the clocks have word %u", rules[i].words,
					 clocks.count ? clocks.closing[0] : 0);
		}
	}
}

static void test_figure_3(void **state)
{
	struct heard heard;
	uint32_t i;

	play(CHECK_CONFLICT_GRAPH, false, "b1 b2 b3 w1x r2x w2y r3y w3z r1z e1 e2 e3", &heard);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.length, 3);
	for (i = 0; i < 3; i++) {
		const struct check_edge *edge = &heard.edges[i];

		/* The closing edge is u3 -> u1 on z, then u1 -> u2 on x, u2 -> u3 on y. */
		assert_int_equal(edge->from.thread, (i + 2) % 3 + 1);
		assert_int_equal(edge->to.thread, i + 1);
		assert_int_equal(edge->source.address, (i + 2) % 3);
		assert_int_equal(edge->target.address, (i + 2) % 3);
		assert_int_equal(edge->source.op, 'w');
		assert_int_equal(edge->target.op, 'r');
		assert_false(edge->program_order);
	}
}

static void test_program_order_is_told(void **state)
{
	struct heard heard;

	/* Two units lie between; one step of program order leads over them. */
	play(CHECK_CONFLICT_GRAPH, true, "b1 w1x b2 r2x e2 b2 e2 b2 w2y e2 r1y e1", &heard);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.length, 3);
	assert_false(heard.edges[0].program_order);
	assert_false(heard.edges[1].program_order);
	assert_true(heard.edges[2].program_order);
	assert_int_equal(heard.edges[2].from.begin, 2);
	assert_int_equal(heard.edges[2].to.begin, 7);
}

/* Where there is a conflict as well, the accesses say more. */
static void test_conflict_is_told(void **state)
{
	struct heard heard;

	play(CHECK_CONFLICT_GRAPH, true, "b1 w1x b2 r2x w2y e2 b2 r2y w2z e2 r1z e1", &heard);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.length, 3);
	assert_false(heard.edges[2].program_order);
	assert_int_equal(heard.edges[2].source.time, 4);
	assert_int_equal(heard.edges[2].target.time, 7);
}

/* A unary access is told by its own name, and program order leads to it from the one before. */
static void test_unary_is_told(void **state)
{
	struct heard heard;

	play(CHECK_CONFLICT_GRAPH, true, "b1 w1x R2x R2x W2y r1y e1", &heard);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.length, 3);
	assert_int_equal(heard.edges[0].from.begin, 4);
	assert_int_equal(heard.edges[0].source.time, 4);
	assert_int_equal(heard.edges[1].to.begin, 2);
	assert_true(heard.edges[2].program_order);
	assert_int_equal(heard.edges[2].from.begin, 2);
	assert_int_equal(heard.edges[2].to.begin, 4);
}

/* A refused edge is left out, its pair not told again, and what comes later is still found. */
static void test_goes_on(void **state)
{
	struct heard heard;

	play(CHECK_CONFLICT_GRAPH, true, "b1 b2 w1x w2x w1x w2x w1x b3 r3y w1y r3y e1 e2 e3", &heard);
	assert_int_equal(heard.count, 2);
	assert_int_equal(heard.closing[0], 4);
	assert_int_equal(heard.closing[1], 10);
	play(CHECK_AERODROME, true, "b1 b2 w1x w2x w1x w2x w1x b3 r3y w1y r3y e1 e2 e3", &heard);
	assert_int_equal(heard.count, 2);
	assert_int_equal(heard.closing[0], 4);
	assert_int_equal(heard.closing[1], 10);
}

static void each_kind(void (*test)(enum check_kind kind))
{
	test(CHECK_CONFLICT_GRAPH);
	test(CHECK_AERODROME);
}

/* What one thread does alone on a set leaves nothing behind. */
static void alone(enum check_kind kind)
{
	struct heard heard;
	struct check *check = start(kind, true, &heard);
	struct check_unit_tag tag = {.set = check_set_new(check)};
	struct check_access_tag access = {0};
	uint32_t location = check_location_new(check);
	struct check_stats stats;
	uint32_t i, unit;

	for (i = 0; i < 1000; i++) {
		unit = check_unit_begin(check, &tag);
		check_read(check, unit, location, &access);
		check_write(check, unit, location, &access);
		check_unit_end(check, unit);
		check_unary_read(check, &tag, location, &access);
		check_unary_write(check, &tag, location, &access);
	}
	check_stats(check, &stats);
	assert_int_equal(stats.units, 1000);
	assert_int_equal(stats.unary, 2000);
	assert_int_equal(stats.accesses, 4000);
	assert_int_equal(stats.edges, 0);
	assert_int_equal(stats.most_live_units, 1);
	assert_int_equal(stats.live_units, 0);
	check_free(check);
}

static void test_alone(void **state)
{
	each_kind(alone);
}

/* A thread that polls what an open unit wrote does not grow the graph; its place in the order is kept. */
static void poll(enum check_kind kind)
{
	int order;

	for (order = 0; order < 2; order++) {
		struct heard heard;
		struct check *check = start(kind, order, &heard);
		struct check_unit_tag writer = {.thread = 1, .set = check_set_new(check)};
		struct check_unit_tag reader = {.thread = 2, .set = writer.set};
		struct check_access_tag access = {0};
		uint32_t x = check_location_new(check), y = check_location_new(check);
		uint32_t unit = check_unit_begin(check, &writer);
		struct check_stats stats;
		uint32_t i;

		check_write(check, unit, x, &access);
		check_write(check, unit, y, &access);
		for (i = 0; i < 1000; i++) {
			access.time++;
			check_unary_read(check, &reader, x, &access);
			check_unary_write(check, &reader, y, &access);
		}
		check_stats(check, &stats);
		assert_true(stats.most_live_units <= 4);
		assert_int_equal(heard.count, 0);
		check_write(check, unit, y, &access);
		assert_int_equal(heard.count, 1);
		check_unit_end(check, unit);
		check_stats(check, &stats);
		assert_int_equal(stats.live_units, 0);
		check_free(check);
	}
}

static void test_poll(void **state)
{
	each_kind(poll);
}

/* Two threads on two sets in opposite order: each set is serializable. */
static void sets(enum check_kind kind)
{
	struct heard heard;
	struct check *check = start(kind, true, &heard);
	uint32_t a = check_set_new(check), b = check_set_new(check);
	uint32_t x = check_location_new(check), y = check_location_new(check);
	struct check_access_tag access = {0};
	uint32_t units[2][2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		units[i][0] = check_unit_begin(check, &(struct check_unit_tag){.thread = i, .set = a});
		units[i][1] = check_unit_begin(check, &(struct check_unit_tag){.thread = i, .set = b});
	}
	check_write(check, units[0][0], x, &access);
	check_write(check, units[1][0], x, &access);
	check_write(check, units[1][1], y, &access);
	check_write(check, units[0][1], y, &access);
	assert_int_equal(heard.count, 0);
	check_free(check);
}

static void test_sets(void **state)
{
	each_kind(sets);
}

/*
 * Merged sets: the last units of a thread on both come before its next one. On
 * each set a unit is open and others follow it, more on the one or on the other,
 * so that either set's last units have to move.
 */
static void merge(enum check_kind kind, uint32_t followers_a, uint32_t followers_b, bool from_a)
{
	struct heard heard;
	struct check *check = start(kind, true, &heard);
	uint32_t sets[2] = {check_set_new(check), check_set_new(check)};
	uint32_t followers[2] = {followers_a, followers_b};
	struct check_access_tag access = {0};
	uint32_t units[2], locations[2], unit, y;
	uint32_t i, t;

	for (i = 0; i < 2; i++) {
		locations[i] = check_location_new(check);
		units[i] = check_unit_begin(check, &(struct check_unit_tag){.thread = i, .set = sets[i]});
		check_write(check, units[i], locations[i], &access);
		for (t = 0; t < followers[i]; t++) {
			unit = check_unit_begin(check,
						&(struct check_unit_tag){.thread = 2 + t, .set = sets[i]});
			check_read(check, unit, locations[i], &access);
			check_unit_end(check, unit);
		}
	}
	check_set_merge(check, sets[!from_a], sets[from_a]);
	y = check_location_new(check);
	unit = check_unit_begin(check, &(struct check_unit_tag){.thread = 2, .set = sets[from_a]});
	check_write(check, unit, y, &access);
	check_unit_end(check, unit);
	assert_int_equal(heard.count, 0);
	/* Thread 2 followed both. */
	check_read(check, units[0], y, &access);
	assert_int_equal(heard.count, 1);
	check_read(check, units[1], y, &access);
	assert_int_equal(heard.count, 2);
	check_unit_end(check, units[0]);
	check_unit_end(check, units[1]);
	check_set_free(check, sets[from_a]);
	check_free(check);
}

static void merged(enum check_kind kind)
{
	merge(kind, 1, 3, false);
	merge(kind, 1, 3, true);
	merge(kind, 3, 1, false);
	merge(kind, 3, 1, true);
}

static void test_merged(void **state)
{
	each_kind(merged);
}

/* A location that was split has the same past; one that was freed has none. */
static void split(enum check_kind kind)
{
	int freed;

	for (freed = 0; freed < 2; freed++) {
		struct heard heard;
		struct check *check = start(kind, true, &heard);
		struct check_unit_tag tag = {.set = check_set_new(check)};
		uint32_t x = check_location_new(check), z = check_location_new(check), copy;
		struct check_access_tag access = {0};
		uint32_t units[5];
		uint32_t i;

		for (i = 0; i < 5; i++) {
			tag.thread = i;
			units[i] = check_unit_begin(check, &tag);
		}
		/* Three readers, so that some are in the list. */
		for (i = 0; i < 3; i++)
			check_read(check, units[i], x, &access);
		copy = check_location_split(check, x);
		if (freed) {
			check_location_free(check, copy);
			copy = check_location_new(check);
		}
		check_write(check, units[3], copy, &access);
		assert_int_equal(heard.count, 0);
		/* Now 3 follows 0, 1 and 2, or nobody. */
		for (i = 0; i < 3; i++)
			check_read(check, units[i], copy, &access);
		assert_int_equal(heard.count, freed ? 0 : 3);
		/* The other half knows nothing of the write: 4 does not follow 3 there. */
		check_read(check, units[4], x, &access);
		check_write(check, units[4], z, &access);
		check_read(check, units[3], z, &access);
		assert_int_equal(heard.count, freed ? 0 : 3);
		check_free(check);
	}
}

static void test_split(void **state)
{
	each_kind(split);
}

/* Many threads follow one unit, each twice, and all of them lead back to it. */
static void many(enum check_kind kind)
{
	int order;

	for (order = 0; order < 2; order++) {
		struct heard heard;
		struct check *check = start(kind, order, &heard);
		struct check_unit_tag tag = {.set = check_set_new(check)};
		uint32_t x = check_location_new(check);
		uint32_t centre = check_unit_begin(check, &tag);
		struct check_access_tag access = {0};
		struct check_stats stats;
		uint32_t locations[1000];
		uint32_t i, unit;

		check_write(check, centre, x, &access);
		for (i = 0; i < 1000; i++) {
			tag.thread = i + 1;
			unit = check_unit_begin(check, &tag);
			check_read(check, unit, x, &access);
			check_unit_end(check, unit);
			locations[i] = check_location_new(check);
		}
		for (i = 0; i < 1000; i++) {
			tag.thread = i + 1;
			unit = check_unit_begin(check, &tag);
			check_write(check, unit, locations[i], &access);
			check_unit_end(check, unit);
		}
		for (i = 0; i < 1000; i++)
			check_read(check, centre, locations[i], &access);
		assert_int_equal(heard.count, order ? 1000 : 0);
		check_unit_end(check, centre);
		check_stats(check, &stats);
		assert_int_equal(stats.live_units, 0);
		assert_int_equal(stats.violations, heard.count);
		check_free(check);
	}
}

static void test_many(void **state)
{
	each_kind(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conflict_is_told),
		cmocka_unit_test(test_unary_is_told),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_figure_3),
		cmocka_unit_test(test_program_order_is_told),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_poll),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
