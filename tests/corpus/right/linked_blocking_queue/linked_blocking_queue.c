/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/linked_blocking_queue: take_even looks and takes
 * in one critical section of the head. Head and tail still have locks of their
 * own, and meet in the nodes.
 *
 * Exit status 1 if an odd number was taken.
 *
 * usage: linked_blocking_queue [ROUNDS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The first number, if there is one and it is wanted. */
static bool poll(struct queue *q, bool odd_too, int *value)
{
	struct node *old, *first;

	pthread_mutex_lock(&q->head_lock);
	old = q->head;
	first = old->next;
	if (first && !odd_too && first->value % 2)
		first = NULL;
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

static bool take_even(struct queue *q, int *value)
{
	return poll(q, false, value);
}

static void *user(void *odd)
{
	int value;

	for (int i = 1; i <= rounds; i++) {
		if (take_even(&queue, &value) && value % 2)
			++*(int *)odd;
		put(&queue, i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int odd[THREADS] = {0}, sum = 0, value;

	if (argc > 1)
		rounds = atoi(argv[1]);
	queue.head = queue.last = node_new(0);
	put(&queue, 2);
	put(&queue, 3);
	put(&queue, 4);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, user, &odd[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += odd[i];
	}
	printf("%d odd numbers were taken\n", sum);
	while (poll(&queue, true, &value))
		continue;
	free(queue.head);
	return sum != 0;
}
