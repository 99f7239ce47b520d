/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/queue.h"

#include "base/err.h"

#include <stdlib.h>

void queue_begin(struct queue *q)
{
	q->batch = q->list_count;
}

static struct queue_list *list_of(struct queue *q, uint32_t group)
{
	for (uint32_t i = q->batch; i < q->list_count; i++)
		if (q->lists[i].group == group)
			return &q->lists[i];
	if (q->list_count == q->list_room) {
		q->list_room = q->list_room ? q->list_room * 2 : 16;
		q->lists = mem_resize(q->lists, q->list_room, sizeof(*q->lists));
	}
	q->lists[q->list_count] = (struct queue_list){.group = group};
	return &q->lists[q->list_count++];
}

void queue_add(struct queue *q, uint32_t group, uint32_t item)
{
	struct queue_list *list = list_of(q, group);

	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 4;
		list->items = mem_resize(list->items, list->room, sizeof(*list->items));
	}
	list->items[list->count++] = item;
	if (group >= q->group_count) {
		q->tried = mem_resize(q->tried, group + 1ull, sizeof(*q->tried));
		while (q->group_count <= group)
			q->tried[q->group_count++] = 0;
	}
	q->left++;
}

bool queue_take(struct queue *q, uint32_t *item)
{
	struct queue_list *best = NULL;

	for (uint32_t i = 0; i < q->list_count; i++) {
		struct queue_list *list = &q->lists[i];

		if (list->taken == list->count)
			continue;
		if (!best || q->tried[list->group] < q->tried[best->group] ||
		    (list->group == best->group && list->last < best->last))
			best = list;
	}
	if (!best)
		return false;
	*item = best->items[best->taken++];
	best->last = ++q->tried[best->group];
	q->left--;
	return true;
}

void queue_release(struct queue *q)
{
	for (uint32_t i = 0; i < q->list_count; i++)
		free(q->lists[i].items);
	free(q->lists);
	free(q->tried);
	*q = (struct queue){0};
}
