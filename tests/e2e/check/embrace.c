/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two threads that wait for each other, in every run: each has one lock before it asks for the other. */
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both;

static void *take(void *argument)
{
	int mine = argument != NULL;

	pthread_mutex_lock(&locks[mine]);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&locks[!mine]);
	pthread_mutex_unlock(&locks[!mine]);
	pthread_mutex_unlock(&locks[mine]);
	return NULL;
}

int main(void)
{
	pthread_t other;

	pthread_barrier_init(&both, NULL, 2);
	if (pthread_create(&other, NULL, take, &both))
		return 1;
	take(NULL);
	pthread_join(other, NULL);
	return 0;
}
