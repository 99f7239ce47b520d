/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A unit that begins without the lock that its end is made under, and goes on
 * behind that end. A second thread comes before the first one has shown which lock
 * that is, and a third one afterwards, while the first one is not done yet: when it
 * is, the two must not be let in both, and neither may have what the other needs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 3 };

struct table {
	long value;
	pthread_mutex_t lock;
};
static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_int stage; /* of the first that comes */
static atomic_int broken;

static long get(struct table *t)
{
	long value;

	pthread_mutex_lock(&t->lock);
	value = t->value;
	pthread_mutex_unlock(&t->lock);
	return value;
}

static void set(struct table *t, long value)
{
	pthread_mutex_lock(&t->lock);
	t->value = value; /* end */
	pthread_mutex_unlock(&t->lock);
}

static void reach(int now)
{
	if (atomic_load(&stage) < now)
		atomic_store(&stage, now);
}

static void update(struct table *t)
{
	long value = t->value; /* entry */

	reach(1);
	usleep(20000);
	set(t, value + 1);
	reach(2);
	usleep(20000);
	if (get(t) != value + 1)
		atomic_fetch_add(&broken, 1);
}

static void *work(void *number)
{
	while (atomic_load(&stage) < (int)(intptr_t)number)
		usleep(100);
	update(&table);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %d updates, %d broken\n", table.value, THREADS, broken);
	return table.value != THREADS || broken;
}
