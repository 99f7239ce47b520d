/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shape graph against an inclusion-based analysis by brute force on random
 * programs of pointer assignments: whatever a pointer can point to there, it
 * points to in the shape graph as well, at the same place. And it is not simply
 * all one: objects that nothing brings together stay apart.
 */
#include "lint/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { VARIABLES = 6, OBJECTS = 5, PLACES = 3, STEPS = 12, PLACE_SIZE = 8 };
enum { ADDRESS, COPY, LOAD, STORE, FIELD, KINDS };

struct step {
	int kind, a, b, place;
};

/* Points-to sets: bit o * PLACES + p is place p of object o. */
struct sets {
	uint32_t variables[VARIABLES];
	uint32_t content[OBJECTS * PLACES];
};

static uint32_t state;

static int random_below(int n)
{
	state = state * 1664525 + 1013904223;
	return (int)((state >> 8) % (uint32_t)n);
}

static void random_steps(struct step *steps)
{
	for (int i = 0; i < STEPS; i++)
		steps[i] = (struct step){random_below(KINDS), random_below(VARIABLES),
					 random_below(VARIABLES), 1 + random_below(PLACES - 1)};
	/* Enough objects to begin with. */
	for (int i = 0; i < 4; i++)
		steps[i].kind = ADDRESS;
}

static void solve(const struct step *steps, struct sets *s)
{
	struct sets before;

	memset(s, 0, sizeof(*s));
	do {
		before = *s;
		for (int i = 0; i < STEPS; i++) {
			uint32_t *a = &s->variables[steps[i].a], b = s->variables[steps[i].b];

			for (int n = 0; n < OBJECTS * PLACES; n++) {
				if (steps[i].kind == LOAD && b >> n & 1)
					*a |= s->content[n];
				if (steps[i].kind == STORE && *a >> n & 1)
					s->content[n] |= b;
				/* A step inside the object; beyond its end is nowhere. */
				if (steps[i].kind == FIELD && b >> n & 1 &&
				    n % PLACES + steps[i].place < PLACES)
					*a |= 1u << (n + steps[i].place);
			}
			if (steps[i].kind == ADDRESS)
				*a |= 1u << (steps[i].b % OBJECTS * PLACES);
			if (steps[i].kind == COPY)
				*a |= b;
		}
	} while (memcmp(&before, s, sizeof(before)));
}

static void unify_all(const struct step *steps, struct shape *shape, struct shape_cell *variables,
		      struct shape_cell *objects)
{
	for (int i = 0; i < VARIABLES; i++)
		variables[i] = (struct shape_cell){shape_node(shape, 0), 0};
	for (int i = 0; i < OBJECTS; i++)
		objects[i] = (struct shape_cell){shape_node(shape, (uint32_t)i + 1), 0};
	for (int i = 0; i < STEPS; i++) {
		struct shape_cell a = variables[steps[i].a], b = variables[steps[i].b];

		switch (steps[i].kind) {
		case ADDRESS:
			shape_unify(shape, a, objects[steps[i].b % OBJECTS]);
			break;
		case COPY:
			shape_unify(shape, a, b);
			break;
		case LOAD:
			shape_unify(shape, a, shape_target(shape, b));
			break;
		case STORE:
			shape_unify(shape, shape_target(shape, a), b);
			break;
		default:
			b.at += steps[i].place * PLACE_SIZE;
			shape_unify(shape, a, b);
		}
	}
}

static void test_includes_all(void **unused)
{
	uint32_t apart = 0, pointing = 0;

	state = 7;
	for (int round = 0; round < 5000; round++) {
		struct step steps[STEPS];
		struct sets s;
		struct shape *shape = shape_new();
		struct shape_cell variables[VARIABLES], objects[OBJECTS];

		random_steps(steps);
		solve(steps, &s);
		unify_all(steps, shape, variables, objects);
		for (int v = 0; v < VARIABLES; v++)
			for (int n = 0; n < OBJECTS * PLACES; n++) {
				struct shape_cell place = objects[n / PLACES];

				place.at += n % PLACES * PLACE_SIZE;
				if (s.variables[v] >> n & 1) {
					pointing++;
					assert_true(shape_same(shape, variables[v], place));
				}
				for (int m = 0; m < OBJECTS * PLACES; m++) {
					struct shape_cell to = objects[m / PLACES];

					to.at += m % PLACES * PLACE_SIZE;
					if (s.content[n] >> m & 1)
						assert_true(shape_same(shape, shape_peek(shape, place), to));
				}
			}
		for (int a = 0; a < OBJECTS; a++)
			for (int b = 0; b < a; b++)
				apart += shape_find(shape, objects[a]).node !=
					 shape_find(shape, objects[b]).node;
		shape_free(shape);
	}
	assert_true(pointing > 10000 && apart > 10000);
}

static void test_objects_of_a_node(void **unused)
{
	struct shape *shape = shape_new();
	uint32_t a = shape_node(shape, 1), b = shape_node(shape, 2), c = shape_node(shape, 3), cookie,
		 sum = 0;

	shape_unify(shape, (struct shape_cell){a, 0}, (struct shape_cell){b, 8});
	for (uint32_t o = shape_first(shape, b, &cookie); o; o = shape_next(shape, &cookie))
		sum += 1u << o;
	assert_int_equal(sum, 1u << 1 | 1u << 2);
	assert_int_equal(shape_first(shape, c, &cookie), 3);
	assert_int_equal(shape_next(shape, &cookie), 0);
	/* b lies 8 bytes before a: its places are a's, moved. */
	assert_true(shape_same(shape, (struct shape_cell){a, 16}, (struct shape_cell){b, 24}));
	assert_false(shape_is_flat(shape, a));
	/* One place of an object cannot be another: no more members then. */
	shape_unify(shape, (struct shape_cell){a, 0}, (struct shape_cell){b, 0});
	assert_true(shape_is_flat(shape, b));
	assert_true(shape_same(shape, (struct shape_cell){a, 0}, (struct shape_cell){b, 40}));
	shape_free(shape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_includes_all),
					   cmocka_unit_test(test_objects_of_a_node)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
