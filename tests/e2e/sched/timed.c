/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Waits with a time limit: some are over before anybody comes, some are not. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, soon = PTHREAD_COND_INITIALIZER;
static sem_t empty;
static int said, wrong, over;

static struct timespec in(long milliseconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += milliseconds * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void *waits(void *unused)
{
	struct timespec until = in(5), later = in(60000);
	int error = 0;

	pthread_mutex_lock(&lock);
	while (!error)
		error = pthread_cond_timedwait(&never, &lock, &until);
	wrong += error != ETIMEDOUT;
	__atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
	for (error = 0; !said && !error;)
		error = pthread_cond_timedwait(&soon, &lock, &later);
	wrong += error != 0;
	pthread_mutex_unlock(&lock);
	until = in(5);
	wrong += sem_timedwait(&empty, &until) != -1 || errno != ETIMEDOUT;
	wrong += pthread_mutex_timedlock(&held, &until) != ETIMEDOUT;
	return NULL;
}

/* Polls for somebody whose time must be over first. */
static void *polls(void *unused)
{
	while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST))
		sched_yield();
	return NULL;
}

static void *says(void *unused)
{
	pthread_mutex_lock(&lock);
	said = 1;
	pthread_cond_signal(&soon);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	sem_init(&empty, 0, 0);
	pthread_mutex_lock(&held);
	pthread_create(&threads[0], NULL, waits, NULL);
	pthread_create(&threads[1], NULL, says, NULL);
	pthread_create(&threads[2], NULL, polls, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return wrong;
}
