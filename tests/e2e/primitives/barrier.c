/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Three threads meet twice; one of them is the serial thread each time; then one meets itself. */
#include "seen.h"

#include <pthread.h>

static pthread_barrier_t barrier, solo;

static void *meet(void *serial)
{
	for (int round = 0; round < 2; round++)
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add((int *)serial, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int serial = 0;

	NAME(barrier);
	NAME(solo);
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, meet, &serial);
	meet(&serial);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	MUST(serial == 2);
	pthread_barrier_init(&solo, NULL, 1);
	MUST(pthread_barrier_wait(&solo) == PTHREAD_BARRIER_SERIAL_THREAD);
	return 0;
}
