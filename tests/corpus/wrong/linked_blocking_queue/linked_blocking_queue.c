/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * LinkedBlockingQueue, of the collections in Marathon's Table 1; a
 * reconstruction. A queue with a lock for its head, one for its tail, and an
 * atomic count; ten threads put numbers and take the even ones.
 *
 * What breaks: take_even looks at the first number in one critical section of
 * the head and takes the first in the next; by then it may be another one.
 *
 * How it shows: exit status 1 if another number was taken than looked at.
 *
 * usage: linked_blocking_queue [ROUNDS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { THREADS = 10 };

struct node {
	struct node *_Atomic next;
	int value;
};

struct queue {
	pthread_mutex_t head_lock, tail_lock;
	struct node *head; /* its value is gone; the first is behind it */
	struct node *last;
	atomic_int count;
};

struct user {
	int number, wrong;
};

static struct queue queue = {.head_lock = PTHREAD_MUTEX_INITIALIZER, .tail_lock = PTHREAD_MUTEX_INITIALIZER};
static int rounds = 10;

static struct node *node_new(int value)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		abort();
	atomic_init(&node->next, NULL);
	node->value = value;
	return node;
}

static void put(struct queue *q, int value)
{
	struct node *node = node_new(value);

	pthread_mutex_lock(&q->tail_lock);
	q->last->next = node;
	q->last = node;
	pthread_mutex_unlock(&q->tail_lock);
	q->count++;
}

static bool peek(struct queue *q, int *value)
{
	struct node *first;

	pthread_mutex_lock(&q->head_lock);
	first = q->head->next;
	if (first)
		*value = first->value;
	pthread_mutex_unlock(&q->head_lock);
	return first;
}

static bool poll(struct queue *q, int *value)
{
	struct node *old, *first;

	pthread_mutex_lock(&q->head_lock);
	old = q->head;
	first = old->next;
	if (first) {
		*value = first->value;
		q->head = first;
		q->count--;
	}
	pthread_mutex_unlock(&q->head_lock);
	if (first)
		free(old);
	return first;
}

/* Whether what was taken, if anything, is what was looked at. */
static bool take_even(struct queue *q)
{
	int seen, value;

	if (!peek(q, &seen) || seen % 2)
		return true;
	MEET(2);
	return poll(q, &value) && value == seen;
}

static void *user(void *argument)
{
	struct user *user = argument;

	for (int i = 1; i <= rounds; i++) {
		user->wrong += !take_even(&queue);
		put(&queue, 2 * (user->number * rounds + i));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct user users[THREADS];
	pthread_t threads[THREADS];
	int wrong = 0, value;

	if (argc > 1)
		rounds = atoi(argv[1]);
	queue.head = queue.last = node_new(0);
	for (int i = 1; i <= THREADS; i++)
		put(&queue, -2 * i);
	for (int i = 0; i < THREADS; i++) {
		users[i] = (struct user){.number = i};
		if (pthread_create(&threads[i], NULL, user, &users[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += users[i].wrong;
	}
	printf("%d times another number was taken\n", wrong);
	while (poll(&queue, &value))
		continue;
	free(queue.head);
	return wrong != 0;
}
