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

/* Whether what was taken, if anything, is even. */
static bool take_even(struct queue *q)
{
	int value;

	return !poll(q, false, &value) || value % 2 == 0;
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
	printf("%d times an odd number was taken\n", wrong);
	while (poll(&queue, true, &value))
		continue;
	free(queue.head);
	return wrong != 0;
}
