/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that poll: a lock by trylock, an atomic flag, a volatile flag with a yield, a lock of their own. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag;
static volatile int late;
static atomic_flag own = ATOMIC_FLAG_INIT;
static int sum;

static void add(int n)
{
	while (atomic_flag_test_and_set(&own))
		;
	sum += n;
	atomic_flag_clear(&own);
}

static void *first(void *unused)
{
	while (pthread_mutex_trylock(&lock))
		sched_yield();
	add(1);
	pthread_mutex_unlock(&lock);
	atomic_store(&flag, 1);
	while (!late)
		sched_yield();
	return NULL;
}

static void *second(void *unused)
{
	while (!atomic_load(&flag))
		;
	while (pthread_mutex_trylock(&lock))
		;
	add(2);
	pthread_mutex_unlock(&lock);
	late = 1;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first, NULL);
	pthread_create(&threads[1], NULL, second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sum != 3;
}
