/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: tasks that give back the lock they were
 * called with. Workers look for a task that is ready and call it with the lock of
 * the scheduler held; a task that computes gives the lock back meanwhile. Threads
 * are made by a function of the program's own. (Parallel compressors are built
 * like this.)
 *
 * Why it looks wrong: in the middle of a task, of an iteration of the worker and
 * of the worker itself other threads change everything.
 * Why it is right: they are let in. Whoever gives back a lock that somebody else
 * took knows that; each stretch under the lock is whole.
 *
 * Exit status 1 if a square is lost.
 *
 * usage: task_pool
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { WORKERS = 3, ITEMS = 12 };

struct task {
	bool (*ready)(void);
	void (*run)(void);
};

struct item {
	long value;
	struct item *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct item *raw, *squared;
static int busy, added;
static long sum;

static void push(struct item **list, struct item *item)
{
	item->next = *list;
	*list = item;
}

static struct item *pop(struct item **list)
{
	struct item *item = *list;

	*list = item->next;
	return item;
}

static bool can_square(void)
{
	return raw != NULL;
}

static void square(void)
{
	struct item *item = pop(&raw);

	busy++;
	pthread_mutex_unlock(&lock);
	MEET(WORKERS);
	item->value *= item->value;
	pthread_mutex_lock(&lock);
	push(&squared, item);
	busy--;
	pthread_cond_broadcast(&changed);
}

static bool can_add(void)
{
	return squared != NULL;
}

static void add(void)
{
	struct item *item = pop(&squared);

	sum += item->value;
	added++;
	free(item);
}

static const struct task tasks[] = {{can_add, add}, {can_square, square}};

static const struct task *next_task(void)
{
	for (unsigned i = 0; i < sizeof tasks / sizeof *tasks; i++)
		if (tasks[i].ready())
			return &tasks[i];
	return NULL;
}

static void work(void)
{
	const struct task *task;

	pthread_mutex_lock(&lock);
	for (;;) {
		while ((task = next_task()))
			task->run();
		if (added == ITEMS)
			break;
		pthread_cond_wait(&changed, &lock);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

struct beginning {
	void (*with)(void);
};

static void *begin(void *given)
{
	struct beginning beginning = *(struct beginning *)given;

	free(given);
	beginning.with();
	return NULL;
}

static bool make_thread(pthread_t *thread, void (*with)(void))
{
	struct beginning *beginning = malloc(sizeof *beginning);

	if (!beginning)
		return false;
	beginning->with = with;
	return !pthread_create(thread, NULL, begin, beginning);
}

int main(void)
{
	pthread_t workers[WORKERS];
	long expected = 0;

	for (long i = 1; i <= ITEMS; i++) {
		struct item *item = malloc(sizeof *item);

		if (!item)
			return 2;
		item->value = i;
		expected += i * i;
		push(&raw, item);
	}
	for (int i = 0; i < WORKERS; i++)
		if (!make_thread(&workers[i], work))
			return 2;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	printf("sum %ld of %ld, %d busy\n", sum, expected, busy);
	return sum != expected || busy;
}
