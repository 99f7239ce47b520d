/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Jobs go round: main fills one in, puts it into a queue, a worker takes it out,
 * works on it and puts it into another queue, where main finds it and fills it
 * in again. Nobody holds a lock while working on a job, and nobody needs one. Only the pointers
 * that are found in the queues say so. With KEEPS main goes on with a job that it has given away.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 3, WORKERS = 2, ROUNDS = 12 };

struct job {
	int input, output, seen;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job *jobs[JOBS];
	unsigned in, out;
};

static struct queue todo = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};
static struct queue done = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static void put(struct queue *q, struct job *j)
{
	pthread_mutex_lock(&q->lock);
	q->jobs[q->in++ % JOBS] = j;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static struct job *take(struct queue *q)
{
	struct job *j;

	pthread_mutex_lock(&q->lock);
	while (q->in == q->out)
		pthread_cond_wait(&q->filled, &q->lock);
	j = q->jobs[q->out % JOBS];
	q->jobs[q->out++ % JOBS] = NULL;
	pthread_mutex_unlock(&q->lock);
	return j;
}

static void fill_in(struct job *j, int input)
{
	j->seen += j->output;
	j->input = input;
	j->output = 0;
}

static void compute(struct job *j)
{
	j->output = j->input;
	fflush(stdout);
	j->output += 3 * j->input;
}

#ifdef KEEPS
static void clear(struct job *j)
{
	j->output = 0;
}
#endif

static void *work(void *unused)
{
	for (;;) {
		struct job *j = take(&todo);

		if (j->input < 0) {
			free(j);
			return unused;
		}
		compute(j);
		put(&done, j);
	}
}

int main(void)
{
	pthread_t workers[WORKERS];
	int sum = 0;

	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&workers[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < ROUNDS; i++) {
		struct job *j = i < JOBS ? calloc(1, sizeof(*j)) : take(&done);

		if (!j)
			return 1;
		fill_in(j, i);
		put(&todo, j);
#ifdef KEEPS
		clear(j);
#endif
	}
	for (int i = 0; i < JOBS; i++) {
		struct job *j = take(&done);

		sum += j->output + j->seen;
		fill_in(j, -1);
		if (i < WORKERS)
			put(&todo, j);
		else
			free(j);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return sum == 4 * ROUNDS * (ROUNDS - 1) / 2 ? 0 : 2;
}
