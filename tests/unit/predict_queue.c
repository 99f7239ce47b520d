/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which schedule comes next (predict/queue.h), against the rule put down the slow way. */
#include "helper.h"
#include "predict/queue.h"

#include <stdlib.h>

enum { ITEMS = 200, GROUPS = 6, SORTS = 4, BATCHES = 5 };

struct plain {
	uint32_t item, group, cost, sort, batch;
	uint32_t taken; /* when; 0: not yet */
};

static uint32_t tried(const struct plain *all, uint32_t count, uint32_t group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += all[i].taken && all[i].group == group;
	return n;
}

static uint32_t spent(const struct plain *all, uint32_t count, const struct plain *of)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < count; i++)
		n += all[i].taken && all[i].group == of->group && all[i].cost == of->cost;
	return n * of->cost;
}

static uint32_t tried_sort(const struct plain *all, uint32_t count, const struct plain *of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += all[i].taken && all[i].group == of->group && all[i].cost == of->cost &&
		     all[i].sort == of->sort;
	return n;
}

/* When this batch had its last turn in the group, at this cost and of this sort. */
static uint32_t last_turn(const struct plain *all, uint32_t count, const struct plain *of)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < count; i++)
		if (all[i].group == of->group && all[i].cost == of->cost && all[i].sort == of->sort &&
		    all[i].batch == of->batch && all[i].taken > last)
			last = all[i].taken;
	return last;
}

/* It is the first of its group, cost, sort and batch that is still there, and no other is due. */
static void check(struct plain *all, uint32_t count, uint32_t item, uint32_t time)
{
	struct plain *it = &all[item];

	assert_int_equal(it->taken, 0);
	for (uint32_t i = 0; i < count; i++) {
		if (all[i].taken)
			continue;
		if (all[i].group == it->group && all[i].cost == it->cost && all[i].sort == it->sort &&
		    all[i].batch == it->batch)
			assert_true(i >= item);
		assert_true(tried(all, count, it->group) <= tried(all, count, all[i].group));
		if (all[i].group == it->group)
			assert_true(spent(all, count, it) <= spent(all, count, &all[i]));
		if (all[i].group == it->group && all[i].cost == it->cost)
			assert_true(tried_sort(all, count, it) <= tried_sort(all, count, &all[i]));
		if (all[i].group == it->group && all[i].cost == it->cost && all[i].sort == it->sort)
			assert_true(last_turn(all, count, it) <= last_turn(all, count, &all[i]));
	}
	it->taken = time;
}

static void least_tried_first(void **state)
{
	uint64_t random = 3;

	for (int round = 0; round < 300; round++) {
		struct plain all[ITEMS];
		uint32_t count = 0, item, taken = 0;
		struct queue q = {0};

		for (uint32_t batch = 0; batch < BATCHES; batch++) {
			queue_begin(&q);
			for (uint64_t n = helper_random(&random) % (ITEMS / BATCHES); n; n--) {
				uint32_t group = (uint32_t)(helper_random(&random) % GROUPS);
				uint32_t cost = 1 + (uint32_t)(helper_random(&random) % (QUEUE_COSTS - 1));

				uint32_t sort = (uint32_t)(helper_random(&random) % SORTS);

				all[count] = (struct plain){count, group, cost, sort, batch, 0};
				queue_add(&q, group, cost, sort, count);
				count++;
			}
			for (uint64_t n = helper_random(&random) % 30; n && queue_take(&q, &item); n--)
				check(all, count, item, ++taken);
		}
		while (queue_take(&q, &item))
			check(all, count, item, ++taken);
		assert_int_equal(taken, count);
		assert_int_equal(q.left, 0);
		queue_release(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(least_tried_first)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
