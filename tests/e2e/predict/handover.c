/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Nothing can go wrong here, and without knowing why much would be predicted:
 * blocks are filled, handed over under a lock and read; a result is handed back
 * by a semaphore; one thread reads what another wrote before a barrier; a
 * semaphore is used as a lock.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

enum { MESSAGES = 4 };

struct message {
	int a, b;
};

struct box {
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct message *message;
};

struct total {
	int sum, products;
};

static struct box box = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL};
static struct total answer, guarded, phase;
static sem_t answered, mutex;
static pthread_barrier_t barrier;

static void fill(struct message *m, int i)
{
	m->a = i;
	m->b = i + 1;
}

static void put(struct box *b, struct message *m)
{
	pthread_mutex_lock(&b->lock);
	while (b->message)
		pthread_cond_wait(&b->change, &b->lock);
	b->message = m;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
}

static struct message *take(struct box *b)
{
	pthread_mutex_lock(&b->lock);
	while (!b->message)
		pthread_cond_wait(&b->change, &b->lock);
	struct message *m = b->message;

	b->message = NULL;
	pthread_cond_signal(&b->change);
	pthread_mutex_unlock(&b->lock);
	return m;
}

static int product(struct message *m)
{
	int a = m->a;

	return a * m->b + (m->a - a);
}

static void collect(struct total *t, int sum)
{
	t->sum += sum;
	t->products++;
}

static void count(struct total *t)
{
	sem_wait(&mutex);
	t->sum += 1;
	t->products += t->sum;
	sem_post(&mutex);
}

static int read_twice(struct total *t)
{
	return t->sum == t->sum + t->products - t->products;
}

static void *producer(void *unused)
{
	for (int i = 0; i < MESSAGES; i++) {
		struct message *m = malloc(sizeof(*m));

		if (!m)
			abort();
		fill(m, i);
		put(&box, m);
		count(&guarded);
	}
	sem_wait(&answered);
	collect(&answer, 1);
	collect(&phase, 1);
	pthread_barrier_wait(&barrier);
	return unused;
}

static void *consumer(void *unused)
{
	int sum = 0;

	for (int i = 0; i < MESSAGES; i++) {
		struct message *m = take(&box);

		sum += product(m);
		free(m);
		count(&guarded);
	}
	collect(&answer, sum);
	sem_post(&answered);
	pthread_barrier_wait(&barrier);
	return read_twice(&phase) ? unused : NULL;
}

int main(void)
{
	pthread_t threads[2];

	sem_init(&answered, 0, 0);
	sem_init(&mutex, 0, 1);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&threads[0], NULL, producer, NULL) ||
	    pthread_create(&threads[1], NULL, consumer, NULL))
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return answer.sum != 21 || guarded.sum != 2 * MESSAGES;
}
