/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A worker's rounds and what it does after them are two things; a walk and what is
 * done after it are one. Who waits for something looks at it again, and sees no
 * state in between that it would go by; who does not wait does.
 * expect: fill high-level-race pile.*
 * expect: close_apart high-level-race gate.*
 */
#include <pthread.h>

struct pile {
	pthread_mutex_t lock;
	int count, sum, stop;
};

static struct pile pile = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void serve(struct pile *p)
{
	for (;;) {
		pthread_mutex_lock(&p->lock);
		if (p->stop) {
			pthread_mutex_unlock(&p->lock);
			break;
		}
		p->count++;
		pthread_mutex_unlock(&p->lock);
	}
	pthread_mutex_lock(&p->lock);
	p->sum = 0;
	pthread_mutex_unlock(&p->lock);
}

static void fill(struct pile *p, int count)
{
	for (int i = 0; i < count; i++) {
		pthread_mutex_lock(&p->lock);
		p->count++;
		pthread_mutex_unlock(&p->lock);
	}
	pthread_mutex_lock(&p->lock);
	p->sum = count;
	pthread_mutex_unlock(&p->lock);
}

static int differs(struct pile *p)
{
	int differs;

	pthread_mutex_lock(&p->lock);
	differs = p->count != p->sum;
	pthread_mutex_unlock(&p->lock);
	return differs;
}

/* Two of the same make: one that is only waited at, one that is looked at in passing as well. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int length, ended;
};

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int length, ended;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->length = 9;
	pthread_mutex_unlock(&q->lock);
	pthread_mutex_lock(&q->lock);
	q->ended = 1;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static int queue_take(struct queue *q)
{
	int length;

	pthread_mutex_lock(&q->lock);
	while (!q->length && !q->ended)
		pthread_cond_wait(&q->changed, &q->lock);
	length = q->length;
	pthread_mutex_unlock(&q->lock);
	return length;
}

static void close_apart(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->length = 9;
	pthread_mutex_unlock(&g->lock);
	pthread_mutex_lock(&g->lock);
	g->ended = 1;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static int gate_is_shut(struct gate *g)
{
	int shut;

	pthread_mutex_lock(&g->lock);
	shut = g->ended && g->length;
	pthread_mutex_unlock(&g->lock);
	return shut;
}

static void *work(void *unused)
{
	serve(&pile);
	fill(&pile, 3);
	queue_close(&queue);
	close_apart(&gate);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int shown;

	pthread_create(&thread, NULL, work, NULL);
	shown = differs(&pile) + queue_take(&queue) + gate_is_shut(&gate);
	pthread_join(thread, NULL);
	return shown > 100;
}
