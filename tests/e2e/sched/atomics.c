/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An atomic load and an atomic store are not one operation. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *work(void *unused)
{
	int seen = atomic_load(&counter);

	atomic_store(&counter, seen + 1);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return atomic_load(&counter) != 2;
}
