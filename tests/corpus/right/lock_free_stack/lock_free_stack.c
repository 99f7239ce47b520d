/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: a stack without locks, whose top is
 * exchanged by compare-and-swap. Nodes are never used again, so an old top
 * that looks the same is the same.
 *
 * Why it looks wrong: push reads the top, and stores it, with other threads'
 * changes in between. Why it is right: the store only happens if the top is
 * still what was read; otherwise push tries again.
 *
 * Exit status 1 if a node is lost or doubled.
 *
 * usage: lock_free_stack
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 4, NODES = 20 };

struct node {
	struct node *below;
	int value;
};

struct stack {
	struct node *_Atomic top;
};

struct user {
	int taken;
	struct node nodes[NODES];
};

static struct stack stack;
static struct user users[THREADS];
static atomic_int seen[THREADS * NODES];

static void push(struct stack *s, struct node *node)
{
	struct node *top = atomic_load(&s->top);

	MEET(THREADS);
	do
		node->below = top;
	while (!atomic_compare_exchange_weak(&s->top, &top, node));
}

static struct node *pop(struct stack *s)
{
	struct node *top = atomic_load(&s->top);

	while (top && !atomic_compare_exchange_weak(&s->top, &top, top->below))
		continue;
	return top;
}

static void *worker(void *argument)
{
	struct user *user = argument;
	struct node *node;

	for (int i = 0; i < NODES; i++) {
		user->nodes[i].value = (int)(user - users) * NODES + i;
		push(&stack, &user->nodes[i]);
		if (i % 2 && (node = pop(&stack)))
			seen[node->value]++;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct node *node;
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, &users[i]))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while ((node = pop(&stack)))
		seen[node->value]++;
	for (int i = 0; i < THREADS * NODES; i++)
		wrong += seen[i] != 1;
	printf("%d nodes were not seen once\n", wrong);
	return wrong != 0;
}
