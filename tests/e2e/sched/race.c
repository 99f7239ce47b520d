/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A counter without a lock: an update is a read and a write. */
#include <pthread.h>

static int counter;

static void *work(void *unused)
{
	counter++;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter != 2;
}
