/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Correct programs that look wrong: philosophers, double-checked work that is
 * validated, objects handed over through a queue, initialisation before threads
 * and collection after them, semaphores as signals, phases between barriers,
 * one that waits for its own children, a stop flag under a lock.
 */
#include "stage.h"

#include <semaphore.h>
#include <string.h>

enum { SEATS = 5, MEALS = 40, ITEMS = 60, PHASES = 10 };

/* Philosophers, lower fork first. */
struct fork_ {
	pthread_mutex_t lock;
	int uses;
};

static struct fork_ forks[SEATS];

static void eat(int seat)
{
	struct fork_ *a = &forks[seat], *b = &forks[(seat + 1) % SEATS];

	if (a > b) {
		struct fork_ *c = a;
		a = b;
		b = c;
	}
	pthread_mutex_lock(&a->lock);
	pthread_mutex_lock(&b->lock);
	a->uses++;
	b->uses++;
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
}

static void *philosopher(void *seat)
{
	for (int i = 0; i < MEALS; i++)
		eat((int)(long)seat);
	return NULL;
}

/* Handed over: filled by one, read by another, never by both. */
struct item {
	int a, b;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *items[4];
	int count;
};

static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0};

void queue_put(struct queue *q, struct item *item)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == 4)
		pthread_cond_wait(&q->changed, &q->lock);
	q->items[q->count++] = item;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

struct item *queue_get(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->count)
		pthread_cond_wait(&q->changed, &q->lock);
	struct item *item = q->items[--q->count];
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return item;
}

static void *producer(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		struct item *item = malloc(sizeof(*item));

		item->a = i;
		item->b = -i;
		queue_put(&queue, item);
	}
	return unused;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < ITEMS / 2; i++) {
		struct item *item = queue_get(&queue);

		if (item->a + item->b)
			exit(1);
		free(item);
	}
	return unused;
}

/* A worker function that the thread's start function calls, as long as the thread lives. */
struct worker {
	pthread_mutex_t lock;
	int jobs, done, stop;
};

static struct worker worker = {PTHREAD_MUTEX_INITIALIZER, 50, 0, 0};

void work(struct worker *w)
{
	for (;;) {
		pthread_mutex_lock(&w->lock);
		if (w->stop || !w->jobs) {
			pthread_mutex_unlock(&w->lock);
			return;
		}
		w->jobs--;
		w->done++;
		pthread_mutex_unlock(&w->lock);
		sched_yield();
	}
}

static void *working(void *unused)
{
	work(&worker);
	return unused;
}

/* Semaphores that signal, both ways. */
static sem_t full, empty;
static int slot;

void send(int value)
{
	sem_wait(&empty);
	slot = value;
	sem_post(&full);
}

int receive(void)
{
	sem_wait(&full);
	int value = slot;
	sem_post(&empty);
	return value;
}

void exchange(int mine)
{
	for (int i = 0; i < ITEMS; i++)
		send(mine + i);
}

static void *sender(void *unused)
{
	exchange(1);
	return unused;
}

static void *receiver(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		receive();
	return unused;
}

/* Phases. */
static pthread_barrier_t barrier;
static int cells[2][2];

void phases(int me)
{
	for (int i = 0; i < PHASES; i++) {
		cells[i % 2][me] = cells[(i + 1) % 2][1 - me] + 1;
		pthread_barrier_wait(&barrier);
	}
}

static void *phase0(void *unused)
{
	phases(0);
	return unused;
}

static void *phase1(void *unused)
{
	phases(1);
	return unused;
}

/* One that waits for its children. */
struct job {
	int input, output[2];
	pthread_t threads[2];
};

static void *child(void *argument)
{
	struct job *j = argument;

	if (pthread_equal(pthread_self(), j->threads[0]))
		j->output[0] = j->input;
	else
		j->output[1] = j->input;
	return NULL;
}

int run(struct job *j, int input)
{
	j->input = input;
	for (int i = 0; i < 2; i++)
		pthread_create(&j->threads[i], NULL, child, j);
	for (int i = 0; i < 2; i++)
		pthread_join(j->threads[i], NULL);
	return j->output[0] + j->output[1];
}

int main(int argc, char **argv)
{
	pthread_t threads[SEATS];
	struct job job;

	for (int i = 0; i < SEATS; i++)
		pthread_mutex_init(&forks[i].lock, NULL);
	for (long i = 0; i < SEATS; i++)
		pthread_create(&threads[i], NULL, philosopher, (void *)i);
	for (int i = 0; i < SEATS; i++)
		pthread_join(threads[i], NULL);
	TOGETHER(producer, consumer, consumer);
	TOGETHER(working, working, working);
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, 1);
	TOGETHER(sender, receiver);
	pthread_barrier_init(&barrier, NULL, 2);
	TOGETHER(phase0, phase1);
	memset(&job, 0, sizeof(job));
	run(&job, 3);
	return 0;
}
