/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which schedule comes next (predict/queue.h), against the rule put down the slow way. */
#include "helper.h"
#include "predict/queue.h"

#include <stdlib.h>

enum { ITEMS = 200, GROUPS = 6, BATCHES = 5 };

struct plain {
	uint32_t item, group, batch;
	bool taken;
};

static uint32_t taken_of(const struct plain *all, uint32_t count, uint32_t group, int batch)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += all[i].taken && all[i].group == group && (batch < 0 || all[i].batch == (uint32_t)batch);
	return n;
}

/* The first of the list of this group and batch that is still there: is it the one, and is no list better? */
static void check(struct plain *all, uint32_t count, uint32_t item)
{
	uint32_t at = 0;

	while (all[at].item != item)
		at++;
	assert_false(all[at].taken);
	for (uint32_t i = 0; i < count; i++) {
		if (all[i].taken)
			continue;
		if (all[i].group == all[at].group && all[i].batch == all[at].batch)
			assert_true(i >= at);
		assert_true(taken_of(all, count, all[at].group, -1) <=
			    taken_of(all, count, all[i].group, -1));
		if (all[i].group == all[at].group)
			assert_true(taken_of(all, count, all[at].group, (int)all[at].batch) <=
				    taken_of(all, count, all[i].group, (int)all[i].batch));
	}
	all[at].taken = true;
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
				all[count] = (struct plain){
					count, (uint32_t)(helper_random(&random) % GROUPS), batch, false};
				queue_add(&q, all[count].group, count);
				count++;
			}
			for (uint64_t n = helper_random(&random) % 30; n && queue_take(&q, &item);
			     n--, taken++)
				check(all, count, item);
		}
		for (; queue_take(&q, &item); taken++)
			check(all, count, item);
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
