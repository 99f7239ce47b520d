/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two locks, taken in both orders. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	x++;
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *one(void *unused)
{
	both(&a, &b);
	return NULL;
}

static void *other(void *unused)
{
	both(&b, &a);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
