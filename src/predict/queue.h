/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Schedules that wait to be tried. They come in batches, one for each recorded
 * run that they were predicted from, each in the order of its ranking (rank.h),
 * and belong to groups, which are the same for all batches: findings.
 *
 * The next one is of the group that was tried least, since what passed a few
 * times in vain is the less likely to fail. In the group what costs n has its turn
 * every n-th time, more or less: of the least promising there is always most. Of
 * what costs the same that sort comes first that was tried least, whichever batch
 * it is from; and of one sort batches take turns, since another run makes other
 * things possible.
 */
#ifndef ATOMSAN_PREDICT_QUEUE_H
#define ATOMSAN_PREDICT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_COSTS = 11 }; /* 1 to 10 */

/* Of one group, cost, sort and batch. */
struct queue_list {
	uint32_t group, cost;
	uint32_t sort; /* index */
	uint32_t *items;
	uint32_t count, room, taken;
	uint32_t last; /* when it had its turn, in tries of the group; 0: never */
};

/* What a group was tried. */
struct queue_group {
	uint32_t tried, by_cost[QUEUE_COSTS];
};

/* Of one group and cost. */
struct queue_sort {
	uint32_t group, cost, key, tried;
};

struct queue {
	struct queue_list *lists; /* batch after batch, in each as groups come up */
	uint32_t list_count, list_room;
	uint32_t batch; /* where the lists of the last batch begin */
	struct queue_group *groups;
	struct queue_sort *sorts;
	uint32_t sort_count, sort_room;
	uint32_t group_count;
	uint32_t left;
};

/* What is added from here on is another batch. */
void queue_begin(struct queue *q);
void queue_add(struct queue *q, uint32_t group, uint32_t cost, uint32_t sort, uint32_t item);
/* Takes one out. False: there is none. */
bool queue_take(struct queue *q, uint32_t *item);
void queue_release(struct queue *q);

#endif
