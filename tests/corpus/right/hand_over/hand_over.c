/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: ownership that is handed over. A job is
 * filled by one thread, passed through a queue, worked on by another without
 * any lock, and passed back.
 *
 * Why it looks wrong: the members of a job are accessed by two threads, and
 * none of them holds a lock. Why it is right: at each moment one thread has
 * the job, and the queue's lock orders who had it before.
 *
 * Exit status 1 if a result is wrong.
 *
 * usage: hand_over
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { JOBS = 20 };

struct job {
	struct job *next;
	int input, result;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job *first, **end;
};

static struct queue todo = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &todo.first};
static struct queue done = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &done.first};

static void put(struct queue *q, struct job *job)
{
	pthread_mutex_lock(&q->lock);
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static struct job *take(struct queue *q)
{
	struct job *job;

	pthread_mutex_lock(&q->lock);
	while (!q->first)
		pthread_cond_wait(&q->filled, &q->lock);
	job = q->first;
	q->first = job->next;
	if (!q->first)
		q->end = &q->first;
	pthread_mutex_unlock(&q->lock);
	return job;
}

static void compute(struct job *job)
{
	job->result = 0;
	for (int i = 1; i <= job->input; i++)
		job->result += i;
}

static void *worker(void *unused)
{
	struct job *job;

	AWAIT(1);
	for (int i = 0; i < JOBS; i++) {
		job = take(&todo);
		compute(job);
		put(&done, job);
	}
	return unused;
}

static int check(struct job *job)
{
	return job->result != job->input * (job->input + 1) / 2;
}

int main(void)
{
	struct job jobs[JOBS];
	pthread_t thread;
	int wrong = 0;

	if (pthread_create(&thread, NULL, worker, NULL))
		return 2;
	for (int i = 0; i < JOBS; i++) {
		jobs[i].input = i;
		jobs[i].result = -1;
		put(&todo, &jobs[i]);
	}
	PASS();
	for (int i = 0; i < JOBS; i++)
		wrong += check(take(&done));
	pthread_join(thread, NULL);
	printf("%d results are wrong\n", wrong);
	return wrong != 0;
}
