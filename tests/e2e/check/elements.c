/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Arrays side by side, with a lock for each index: what has one index belongs
 * together, and what has different ones does not. Work goes from one list to
 * another in whatever order the threads get there; but who looks at one list in
 * two goes finds it torn. So is an array that one lock guards, whose elements
 * belong together.
 */
#include "stage.h"

enum { LISTS = 4 };
static pthread_mutex_t locks[LISTS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				       PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long newest[LISTS];
static int length[LISTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pair[8];

void push(int list, long work)
{
	pthread_mutex_lock(&locks[list]);
	newest[list] = work;
	length[list]++;
	pthread_mutex_unlock(&locks[list]);
}

static void pop(int list)
{
	pthread_mutex_lock(&locks[list]);
	newest[list]--;
	length[list]--;
	pthread_mutex_unlock(&locks[list]);
}

/* Silent. */
void move(int from, int to, int first, int second)
{
	STAGE(first);
	pop(from);
	STAGE(second);
	push(to, first);
}

/* Torn. */
int look(int list)
{
	pthread_mutex_lock(&locks[list]);
	long last = newest[list];
	pthread_mutex_unlock(&locks[list]);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&locks[list]);
	int count = length[list];
	pthread_mutex_unlock(&locks[list]);
	return last && count;
}

static void write_pair(int i)
{
	pthread_mutex_lock(&lock);
	pair[i] = i;
	pthread_mutex_unlock(&lock);
}

void swap(void)
{
	pthread_mutex_lock(&lock);
	pair[5] = 1;
	pair[6] = -1;
	pthread_mutex_unlock(&lock);
}

/* Torn. */
int sum(void)
{
	pthread_mutex_lock(&lock);
	int one = pair[5];
	pthread_mutex_unlock(&lock);
	STAGE(8);
	STAGE(11);
	pthread_mutex_lock(&lock);
	int other = pair[6];
	pthread_mutex_unlock(&lock);
	return one + other;
}

static void *first(void *unused)
{
	move(0, 1, 0, 3);
	use(look(3));
	write_pair(2);
	use(sum());
	return unused;
}

static void *second(void *unused)
{
	move(0, 1, 1, 2);
	STAGE(5);
	push(3, 1);
	STAGE(6);
	STAGE(9);
	swap();
	STAGE(10);
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	return 0;
}
