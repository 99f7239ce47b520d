/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A variable of the file, read in one critical section and written in the next. */
#include <pthread.h>

static int value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get(void)
{
	int now;

	pthread_mutex_lock(&lock);
	now = value;
	pthread_mutex_unlock(&lock);
	return now;
}

static void set(int to)
{
	pthread_mutex_lock(&lock);
	value = to;
	pthread_mutex_unlock(&lock);
}

static void increment(void)
{
	set(get() + 1);
}

static void *work(void *unused)
{
	increment();
	increment();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return value != 4;
}
