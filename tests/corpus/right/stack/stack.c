/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/stack: an operation on two stacks locks both, in
 * the order of their addresses.
 *
 * Exit status 1 if an element is looked at that is not there.
 *
 * usage: stack [TEST] 1 push_all, 2 push_reversed, 3 drop_all, 4 holds_all, 5
 * deeper; each while the other stack is popped
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *below;
	int value;
};

struct stack {
	pthread_mutex_t lock;
	struct node *top;
	int depth;
};

static struct stack first = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct stack second = {.lock = PTHREAD_MUTEX_INITIALIZER};
static bool missing; /* an element was looked at that is not there */

/* The lock is held. */
static void link_top(struct stack *s, int value)
{
	struct node *node = malloc(sizeof(*node));

	if (!node)
		abort();
	node->below = s->top;
	node->value = value;
	s->top = node;
	s->depth++;
}

static void push(struct stack *s, int value)
{
	pthread_mutex_lock(&s->lock);
	link_top(s, value);
	pthread_mutex_unlock(&s->lock);
}

static void pop(struct stack *s)
{
	struct node *node;

	pthread_mutex_lock(&s->lock);
	node = s->top;
	if (node) {
		s->top = node->below;
		s->depth--;
	}
	pthread_mutex_unlock(&s->lock);
	free(node);
}

static void lock_both(struct stack *s, struct stack *other)
{
	pthread_mutex_lock(s < other ? &s->lock : &other->lock);
	pthread_mutex_lock(s < other ? &other->lock : &s->lock);
}

static void unlock_both(struct stack *s, struct stack *other)
{
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&other->lock);
}

/* The value so many elements below the top; the lock is held. */
static int peek(struct stack *s, int below)
{
	struct node *node = s->top;

	for (; node && below > 0; below--)
		node = node->below;
	if (node)
		return node->value;
	missing = true;
	return 0;
}

/* The lock is held. */
static bool holds(struct stack *s, int value)
{
	for (struct node *node = s->top; node; node = node->below)
		if (node->value == value)
			return true;
	return false;
}

static void push_all(struct stack *s, struct stack *other)
{
	int more;

	lock_both(s, other);
	more = other->depth;
	for (int i = 0; i < more; i++)
		link_top(s, peek(other, i));
	unlock_both(s, other);
}

static void push_reversed(struct stack *s, struct stack *other)
{
	int more;

	lock_both(s, other);
	more = other->depth;
	for (int i = more - 1; i >= 0; i--)
		link_top(s, peek(other, i));
	unlock_both(s, other);
}

/* Marks what the other stack holds. */
static void drop_all(struct stack *s, struct stack *other)
{
	int count, value;

	lock_both(s, other);
	count = other->depth;
	for (int i = 0; i < count; i++) {
		value = peek(other, i);
		for (struct node *node = s->top; node; node = node->below)
			if (node->value == value)
				node->value = -1;
	}
	unlock_both(s, other);
}

static bool holds_all(struct stack *s, struct stack *other)
{
	bool all = true;
	int count;

	lock_both(s, other);
	count = other->depth;
	for (int i = 0; i < count; i++)
		if (!holds(s, peek(other, i)))
			all = false;
	unlock_both(s, other);
	return all;
}

/* Is the other stack's lowest element found below our top? */
static bool deeper(struct stack *s, struct stack *other)
{
	bool found;
	int count;

	lock_both(s, other);
	count = other->depth;
	found = count > 0 && holds(s, peek(other, count - 1));
	unlock_both(s, other);
	return found;
}

static void *user(void *test)
{
	switch (*(int *)test) {
	case 1:
		push_all(&first, &second);
		break;
	case 2:
		push_reversed(&first, &second);
		break;
	case 3:
		drop_all(&first, &second);
		break;
	case 4:
		printf("holds all: %d\n", holds_all(&first, &second));
		break;
	default:
		printf("deeper: %d\n", deeper(&first, &second));
	}
	return NULL;
}

static void *popper(void *unused)
{
	pop(&second);
	return unused;
}

int main(int argc, char **argv)
{
	int test = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[2];

	for (int i = 1; i <= 3; i++) {
		push(&first, i);
		push(&second, i);
	}
	if (pthread_create(&threads[0], NULL, user, &test) || pthread_create(&threads[1], NULL, popper, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	while (first.top)
		pop(&first);
	while (second.top)
		pop(&second);
	printf("%s\n", missing ? "an element was not there" : "all elements were there");
	return missing;
}
