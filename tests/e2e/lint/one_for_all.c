/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lock in memory that was allocated for it is no thread's own where all
 * threads get the same memory, where who made the thread uses it as well, or where another
 * thread's argument leads to it. That the end of the list is looked at in one region
 * and used in another is wrong.
 * expect: pool_add_slowly stale-value pool.last
 */
#include <pthread.h>
#include <stdlib.h>

enum { WORKERS = 3 };

struct job {
	int number;
	struct job *next;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job *first, *last;
	int stop, done;
};

struct loop {
	pthread_mutex_t lock;
	struct job *pending;
	int handled;
};

struct client {
	struct loop *loop;
	int number;
};

struct sum {
	pthread_mutex_t lock;
	long all;
};

static void *worker(void *argument)
{
	struct pool *p = argument;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->first && !p->stop)
			pthread_cond_wait(&p->more, &p->lock);
		if (!p->first)
			break;
		struct job *j = p->first;

		p->first = j->next;
		if (!p->first)
			p->last = NULL;
		p->done++;
		pthread_mutex_unlock(&p->lock);
		free(j);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static struct job *job_new(int number)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		abort();
	j->number = number;
	return j;
}

static void pool_add(struct pool *p, int number)
{
	struct job *j = job_new(number);

	pthread_mutex_lock(&p->lock);
	if (p->last)
		p->last->next = j;
	else
		p->first = j;
	p->last = j;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

static void pool_add_slowly(struct pool *p, int number)
{
	struct job *j = job_new(number), *last;

	pthread_mutex_lock(&p->lock);
	last = p->last;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_lock(&p->lock);
	if (last)
		last->next = j;
	else
		p->first = j;
	p->last = j;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
}

static struct pool *pool_new(pthread_t *threads)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, p);
	return p;
}

static void *loop_run(void *argument)
{
	struct loop *l = argument;

	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&l->lock);
		struct job *j = l->pending;

		l->pending = NULL;
		pthread_mutex_unlock(&l->lock);
		for (struct job *next; j; j = next, l->handled++) {
			next = j->next;
			free(j);
		}
	}
	return NULL;
}

static void loop_post(struct loop *l, int number)
{
	struct job *j = job_new(number);

	pthread_mutex_lock(&l->lock);
	j->next = l->pending;
	l->pending = j;
	pthread_mutex_unlock(&l->lock);
}

static void *client(void *argument)
{
	struct client *c = argument;

	loop_post(c->loop, c->number);
	return NULL;
}

/* Nobody but these threads takes this lock, but they all take the same. */
static void *add(void *argument)
{
	struct sum *s = argument;

	pthread_mutex_lock(&s->lock);
	s->all += 1;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS], loops, clients[2], adds[2];
	struct pool *p = pool_new(threads);
	struct loop *l = calloc(1, sizeof(*l));
	struct sum *s = calloc(1, sizeof(*s));
	struct client c[2];

	if (!l || !s)
		return 2;
	pthread_create(&loops, NULL, loop_run, l);
	for (int i = 0; i < 2; i++) {
		c[i].loop = l;
		c[i].number = i;
		pthread_create(&clients[i], NULL, client, &c[i]);
		pthread_create(&adds[i], NULL, add, s);
	}
	for (int i = 0; i < 10; i++) {
		pool_add(p, i);
		pool_add_slowly(p, i);
	}
	pthread_mutex_lock(&p->lock);
	p->stop = 1;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(clients[i], NULL);
		pthread_join(adds[i], NULL);
	}
	pthread_join(loops, NULL);
	return s->all != 2;
}
