/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: a thread pool that knows how many of its
 * threads are at work. A worker takes a job and counts itself, calls the job
 * without the lock, and counts itself out again.
 *
 * Why it looks wrong: an iteration of the worker's loop works on the pool twice,
 * and in between others do.
 * Why it is right: who calls what it was given cannot mean to be one step with
 * it. Taking a job is a step, and having done it is another.
 *
 * Exit status 1 if a job is lost, or somebody is at work after the last one.
 *
 * usage: thread_pool
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { WORKERS = 3, JOBS = 9 };

struct job {
	void (*run)(long *);
	long *on;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job jobs[JOBS];
	int first, last; /* of those that wait */
	int busy;
	bool closed;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t results = PTHREAD_MUTEX_INITIALIZER;
static long done[JOBS];

static void *worker(void *given)
{
	struct pool *p = given;

	for (;;) {
		struct job job;

		pthread_mutex_lock(&p->lock);
		while (p->first == p->last && !p->closed)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->first == p->last) {
			pthread_mutex_unlock(&p->lock);
			return NULL;
		}
		job = p->jobs[p->first++];
		p->busy++;
		pthread_mutex_unlock(&p->lock);
		job.run(job.on);
		pthread_mutex_lock(&p->lock);
		p->busy--;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
}

static void count(long *on)
{
	MEET(WORKERS);
	pthread_mutex_lock(&results);
	++*on;
	pthread_mutex_unlock(&results);
}

static void submit(struct pool *p, void (*run)(long *), long *on)
{
	pthread_mutex_lock(&p->lock);
	p->jobs[p->last++] = (struct job){run, on};
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void finish(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_cond_broadcast(&p->changed);
	while (p->first != p->last || p->busy)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

int main(void)
{
	pthread_t workers[WORKERS];
	int lost = 0;

	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, worker, &pool))
			return 2;
	for (int i = 0; i < JOBS; i++)
		submit(&pool, count, &done[i]);
	finish(&pool);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < JOBS; i++)
		lost += done[i] != 1;
	printf("%d jobs lost, %d busy\n", lost, pool.busy);
	return lost || pool.busy;
}
