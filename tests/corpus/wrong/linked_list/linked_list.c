/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * LinkedList, of the ConTest programs in Marathon's Table 1. Two builders
 * append their halves of the numbers to one list.
 *
 * What breaks: add_last walks to the end of the list without the lock, makes
 * the node under it, and links it without it again, so that both builders may
 * link to the same last node.
 *
 * How it shows: the list must hold all numbers at the end; exit status 1
 * otherwise.
 *
 * usage: linked_list [SIZE]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { BUILDERS = 2 };

struct node {
	struct node *next;
	int value;
};

struct list {
	pthread_mutex_t lock;
	struct node head; /* holds no value */
};

struct builder {
	struct list *list;
	int from, to;
};

static struct node *node_new(int value)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		abort();
	node->next = NULL;
	node->value = value;
	return node;
}

static void add_last(struct list *list, int value)
{
	struct node *last = &list->head;
	struct node *node;

	while (last->next)
		last = last->next;
	pthread_mutex_lock(&list->lock);
	node = node_new(value);
	pthread_mutex_unlock(&list->lock);
	MEET(BUILDERS);
	last->next = node;
}

static void *build(void *argument)
{
	struct builder *builder = argument;

	for (int i = builder->from; i < builder->to; i++)
		add_last(builder->list, i);
	return NULL;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 6;
	struct list list = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct builder builders[BUILDERS] = {{&list, 0, size / 2}, {&list, size / 2, size}};
	pthread_t threads[BUILDERS];
	int found = 0;

	for (int i = 0; i < BUILDERS; i++)
		if (pthread_create(&threads[i], NULL, build, &builders[i]))
			return 2;
	for (int i = 0; i < BUILDERS; i++)
		pthread_join(threads[i], NULL);
	for (struct node *node = list.head.next, *next; node; node = next) {
		next = node->next;
		free(node);
		found++;
	}
	printf("%d of %d numbers\n", found, size);
	return found != size;
}
