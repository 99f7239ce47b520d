/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A list owns its nodes: what happens to a node happens to the list. Moving the
 * first element to the end in two critical sections is seen half done by who
 * counts the elements in between; so is a cursor on somebody's stack that reads
 * the list in two goes.
 */
#include "stage.h"

struct node {
	int value;
	struct node *next;
};

struct list {
	pthread_mutex_t lock;
	struct node *head;
};

struct cursor {
	struct list *list;
	int seen;
};

static struct list list = {PTHREAD_MUTEX_INITIALIZER, NULL};

static void push(struct list *l, int value)
{
	struct node *n = malloc(sizeof(*n));

	pthread_mutex_lock(&l->lock);
	n->value = value;
	n->next = l->head;
	l->head = n;
	pthread_mutex_unlock(&l->lock);
}

static int pop(struct list *l)
{
	pthread_mutex_lock(&l->lock);
	struct node *n = l->head;
	int value = n->value;
	l->head = n->next;
	pthread_mutex_unlock(&l->lock);
	free(n);
	return value;
}

/* Not atomic. */
void rotate(struct list *l)
{
	int value = pop(l);

	STAGE(0);
	STAGE(3);
	push(l, value);
}

int sum(struct list *l)
{
	int sum = 0;

	pthread_mutex_lock(&l->lock);
	for (struct node *n = l->head; n; n = n->next)
		sum += n->value;
	pthread_mutex_unlock(&l->lock);
	return sum;
}

static int cursor_first(struct cursor *c)
{
	pthread_mutex_lock(&c->list->lock);
	c->seen = c->list->head->value;
	pthread_mutex_unlock(&c->list->lock);
	return c->seen;
}

/* Not atomic either: it looks at the list twice, through a cursor. */
int watch(void)
{
	struct cursor c = {&list, 0};
	int before = cursor_first(&c);

	STAGE(5);
	STAGE(8);
	return before - cursor_first(&c);
}

static void *first(void *unused)
{
	rotate(&list);
	STAGE(4);
	use(watch());
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	use(sum(&list));
	STAGE(2);
	STAGE(6);
	push(&list, 9);
	STAGE(7);
	return unused;
}

int main(void)
{
	push(&list, 1);
	push(&list, 2);
	TOGETHER(first, second);
	return 0;
}
