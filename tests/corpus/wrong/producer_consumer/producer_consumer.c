/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ProducerConsumer, of the ConTest programs in Marathon's Table 1; a
 * reconstruction. Three producers and three consumers share a queue.
 *
 * What breaks: consume looks at the first item in one critical section and
 * drops it in the next; two consumers may look at the same item and drop two.
 *
 * How it shows: every item must be consumed, or left over, once; exit status 1
 * otherwise.
 *
 * usage: producer_consumer [ITEMS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { PAIRS = 3, MOST = 1000 };

struct queue {
	pthread_mutex_t lock;
	int first, last;
	int item[MOST];
};

struct consumer {
	int count;
	int item[MOST];
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int items = 30; /* of each producer */

static void produce(struct queue *q, int item)
{
	pthread_mutex_lock(&q->lock);
	q->item[q->last++] = item;
	pthread_mutex_unlock(&q->lock);
}

static bool look(struct queue *q, int *item)
{
	bool found;

	pthread_mutex_lock(&q->lock);
	found = q->first < q->last;
	if (found)
		*item = q->item[q->first];
	pthread_mutex_unlock(&q->lock);
	return found;
}

static void drop(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->first < q->last)
		q->first++;
	pthread_mutex_unlock(&q->lock);
}

static bool consume(struct queue *q, int *item)
{
	if (!look(q, item))
		return false;
	MEET(2);
	drop(q);
	return true;
}

static void *producer(void *number)
{
	for (int i = 0; i < items; i++)
		produce(&queue, *(int *)number * items + i);
	PASS();
	return NULL;
}

static void *consumer(void *argument)
{
	struct consumer *own = argument;

	AWAIT(PAIRS);
	for (int i = 0; i < items; i++)
		if (consume(&queue, &own->item[own->count]))
			own->count++;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct consumer consumers[PAIRS];
	static int seen[MOST];
	pthread_t threads[2 * PAIRS];
	int numbers[PAIRS], wrong = 0;

	if (argc > 1)
		items = atoi(argv[1]);
	if (items < 1 || PAIRS * items > MOST)
		return 2;
	for (int i = 0; i < PAIRS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, producer, &numbers[i]) ||
		    pthread_create(&threads[PAIRS + i], NULL, consumer, &consumers[i]))
			return 2;
	}
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PAIRS; i++)
		for (int j = 0; j < consumers[i].count; j++)
			seen[consumers[i].item[j]]++;
	for (int i = queue.first; i < queue.last; i++)
		seen[queue.item[i]]++;
	for (int i = 0; i < PAIRS * items; i++)
		wrong += seen[i] != 1;
	printf("%d of %d items were not seen once\n", wrong, PAIRS * items);
	return wrong != 0;
}
