/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Producers and consumers with condition variables, right in every interleaving. */
#include <pthread.h>

enum { ROOM = 2, ITEMS = 12 };
static int items[ROOM], count, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;

static void *produce(void *unused)
{
	for (int i = 1; i <= ITEMS; i++) {
		pthread_mutex_lock(&lock);
		while (count == ROOM)
			pthread_cond_wait(&emptied, &lock);
		items[count++] = i;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *consume(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		pthread_mutex_lock(&lock);
		while (!count)
			pthread_cond_wait(&filled, &lock);
		sum += items[--count];
		pthread_cond_broadcast(&emptied);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, i % 2 ? consume : produce, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return sum != 2 * ITEMS * (ITEMS + 1) / 2;
}
