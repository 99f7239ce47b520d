/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "service.h"

void bell_init(struct bell *bell)
{
	pthread_mutex_init(&bell->lock, NULL);
	pthread_cond_init(&bell->rung, NULL);
}

void bell_lock(struct bell *bell)
{
	pthread_mutex_lock(&bell->lock);
}

void bell_unlock(struct bell *bell)
{
	pthread_mutex_unlock(&bell->lock);
}

static void wait_for(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	int failed = pthread_cond_wait(condition, lock);

	if (failed)
		abort();
}

void bell_wait(struct bell *bell)
{
	wait_for(&bell->rung, &bell->lock);
}

void bell_ring(struct bell *bell)
{
	pthread_cond_broadcast(&bell->rung);
}
