/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tested and then used, with room for another thread in between. */
#include <pthread.h>
#include <stddef.h>

static int value = 7, *pointer = &value;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int *current(void)
{
	int *p;

	pthread_mutex_lock(&lock);
	p = pointer;
	pthread_mutex_unlock(&lock);
	return p;
}

static void *use(void *sum)
{
	if (current())
		*(int *)sum += *current();
	return NULL;
}

static void *clear(void *unused)
{
	pthread_mutex_lock(&lock);
	pointer = NULL;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int sum = 0;

	pthread_create(&threads[0], NULL, use, &sum);
	pthread_create(&threads[1], NULL, clear, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sum && sum != 7;
}
