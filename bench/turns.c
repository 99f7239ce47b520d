/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two threads that each write their own cell, ROUNDS times: bench/schedule switches between every two writes.
 */
#include <pthread.h>

static volatile long cells[2][16];

static void *work(void *argument)
{
	volatile long *cell = cells[(long)argument];

	for (long i = 0; i < ROUNDS; i++)
		*cell = i;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
