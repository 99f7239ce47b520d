/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two wait for a condition, and one is signalled. The exit status says who that was. */
#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int first;

static void *work(void *number)
{
	pthread_mutex_lock(&lock);
	pthread_cond_wait(&condition, &lock);
	if (!first)
		first = (int)(intptr_t)number;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		pthread_cond_signal(&condition);
		pthread_mutex_unlock(&lock);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return first;
}
