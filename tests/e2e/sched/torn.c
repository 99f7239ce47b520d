/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A torn pair: two members that belong together are written and read under their locks, one by one. */
#include <assert.h>
#include <pthread.h>

static struct pair {
	int low, high;
} pair;
static pthread_mutex_t low_lock = PTHREAD_MUTEX_INITIALIZER, high_lock = PTHREAD_MUTEX_INITIALIZER;

static void set(int *member, pthread_mutex_t *lock, int value)
{
	pthread_mutex_lock(lock);
	*member = value;
	pthread_mutex_unlock(lock);
}

static int get(const int *member, pthread_mutex_t *lock)
{
	int value;

	pthread_mutex_lock(lock);
	value = *member;
	pthread_mutex_unlock(lock);
	return value;
}

static void *writer(void *unused)
{
	for (int i = 1; i < 4; i++) {
		set(&pair.low, &low_lock, i);
		set(&pair.high, &high_lock, i);
	}
	return NULL;
}

static void *reader(void *unused)
{
	for (int i = 0; i < 3; i++) {
		int low = get(&pair.low, &low_lock), high = get(&pair.high, &high_lock);

		assert(low == high);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, writer, NULL);
	pthread_create(&threads[1], NULL, reader, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
