/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A counter of visits in front of a lost update: visit counts itself in one
 * critical section, reads the best mark in a second and writes it in a third.
 * That visits are counted apart from the rest is right, for nothing ties their
 * number to the mark. Two visits conflict there first all the same, and who
 * looks at the first conflict alone sees nothing else.
 *
 * What breaks: visit writes a mark that follows from an old one.
 *
 * How it shows: each visit must have raised the mark by one; exit status 1
 * otherwise.
 *
 * usage: counted
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct board {
	pthread_mutex_t lock;
	long visits;
	long mark;
};

static struct board board = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_visit(struct board *b)
{
	pthread_mutex_lock(&b->lock);
	b->visits++;
	pthread_mutex_unlock(&b->lock);
}

static long get_mark(struct board *b)
{
	long mark;

	pthread_mutex_lock(&b->lock);
	mark = b->mark;
	pthread_mutex_unlock(&b->lock);
	return mark;
}

static void set_mark(struct board *b, long mark)
{
	pthread_mutex_lock(&b->lock);
	b->mark = mark;
	pthread_mutex_unlock(&b->lock);
}

static void visit(struct board *b)
{
	long mark;

	count_visit(b);
	mark = get_mark(b);
	MEET(THREADS);
	set_mark(b, mark + 1);
}

static void *visitor(void *b)
{
	visit(b);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, visitor, &board))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("the mark is %ld\n", board.mark);
	return board.mark != THREADS;
}
