/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that are cancelled while they wait. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t empty;

static void give_up(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static void *waits(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(give_up, &lock);
	for (;;)
		pthread_cond_wait(&never, &lock);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *waits_too(void *unused)
{
	for (;;)
		sem_wait(&empty);
	return NULL;
}

int main(void)
{
	void *results[2];
	pthread_t threads[2];

	sem_init(&empty, 0, 0);
	pthread_create(&threads[0], NULL, waits, NULL);
	pthread_create(&threads[1], NULL, waits_too, NULL);
	for (int i = 0; i < 2; i++)
		pthread_cancel(threads[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], &results[i]);
	pthread_mutex_lock(&lock); /* or its holder was cancelled with it */
	return results[0] != PTHREAD_CANCELED || results[1] != PTHREAD_CANCELED;
}
