/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock lies in each thread's own argument, so it excludes nobody.
 * expect: add atomicity total
 */
#include <pthread.h>

struct job {
	pthread_mutex_t lock;
	long part;
};

static long total;

static void add(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	total += j->part;
	pthread_mutex_unlock(&j->lock);
}

static void *run(void *argument)
{
	add(argument);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	struct job jobs[4];

	for (int i = 0; i < 4; i++) {
		pthread_mutex_init(&jobs[i].lock, NULL);
		jobs[i].part = i;
		pthread_create(&threads[i], NULL, run, &jobs[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return total != 6;
}
