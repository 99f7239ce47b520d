/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A read lock given up for a write lock: what was read may be old by then. */
#include <pthread.h>
#include <stdlib.h>

static int *slot, created;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *ensure(void *unused)
{
	int missing;

	pthread_rwlock_rdlock(&lock);
	missing = !slot;
	pthread_rwlock_unlock(&lock);
	if (!missing)
		return NULL;
	pthread_rwlock_wrlock(&lock);
	slot = &created;
	created++;
	pthread_rwlock_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, ensure, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	if (created != 1)
		abort();
	return 0;
}
