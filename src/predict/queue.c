/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/queue.h"

#include "base/err.h"

#include <stdlib.h>

void queue_begin(struct queue *q)
{
	q->batch = q->list_count;
}

static uint32_t sort_of(struct queue *q, uint32_t group, uint32_t cost, uint32_t key)
{
	for (uint32_t i = 0; i < q->sort_count; i++)
		if (q->sorts[i].group == group && q->sorts[i].cost == cost && q->sorts[i].key == key)
			return i;
	if (q->sort_count == q->sort_room) {
		q->sort_room = q->sort_room ? q->sort_room * 2 : 16;
		q->sorts = mem_resize(q->sorts, q->sort_room, sizeof(*q->sorts));
	}
	q->sorts[q->sort_count] = (struct queue_sort){.group = group, .cost = cost, .key = key};
	return q->sort_count++;
}

static struct queue_list *list_of(struct queue *q, uint32_t group, uint32_t cost, uint32_t sort)
{
	for (uint32_t i = q->batch; i < q->list_count; i++)
		if (q->lists[i].sort == sort)
			return &q->lists[i];
	if (q->list_count == q->list_room) {
		q->list_room = q->list_room ? q->list_room * 2 : 16;
		q->lists = mem_resize(q->lists, q->list_room, sizeof(*q->lists));
	}
	q->lists[q->list_count] = (struct queue_list){.group = group, .cost = cost, .sort = sort};
	return &q->lists[q->list_count++];
}

void queue_add(struct queue *q, uint32_t group, uint32_t cost, uint32_t sort, uint32_t item)
{
	BUG_ON(!cost || cost >= QUEUE_COSTS);
	struct queue_list *list = list_of(q, group, cost, sort_of(q, group, cost, sort));

	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 4;
		list->items = mem_resize(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = item;
	if (group >= q->group_count) {
		q->groups = mem_resize(q->groups, group + 1ull, sizeof(*q->groups));
		while (q->group_count <= group)
			q->groups[q->group_count++] = (struct queue_group){0};
	}
	q->left++;
}

/* What it has cost so far to try this sort, with the next one. */
static uint32_t spent(const struct queue *q, const struct queue_list *list)
{
	return (q->groups[list->group].by_cost[list->cost] + 1) * list->cost;
}

static bool comes_before(const struct queue *q, const struct queue_list *a, const struct queue_list *b)
{
	uint32_t tried = q->groups[a->group].tried, others = q->groups[b->group].tried;

	if (a->group != b->group)
		return tried < others;
	if (a->cost != b->cost)
		return spent(q, a) < spent(q, b) || (spent(q, a) == spent(q, b) && a->cost < b->cost);
	if (a->sort != b->sort)
		return q->sorts[a->sort].tried < q->sorts[b->sort].tried;
	return a->last < b->last;
}

bool queue_take(struct queue *q, uint32_t *item)
{
	struct queue_list *best = NULL;

	for (uint32_t i = 0; i < q->list_count; i++) {
		struct queue_list *list = &q->lists[i];

		if (list->taken < list->count && (!best || comes_before(q, list, best)))
			best = list;
	}
	if (!best)
		return false;
	*item = best->items[best->taken++];
	q->groups[best->group].by_cost[best->cost]++;
	q->sorts[best->sort].tried++;
	best->last = ++q->groups[best->group].tried;
	q->left--;
	return true;
}

void queue_release(struct queue *q)
{
	for (uint32_t i = 0; i < q->list_count; i++)
		free(q->lists[i].items);
	free(q->lists);
	free(q->groups);
	free(q->sorts);
	*q = (struct queue){0};
}
