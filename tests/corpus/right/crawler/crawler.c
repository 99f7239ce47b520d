/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/crawler: tested and used in one critical section.
 *
 * Exit status 1 if the connection was gone when it was used.
 *
 * usage: crawler
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORKERS = 3, PAGES = 10 };

struct connection {
	int number;
};

struct crawler {
	pthread_mutex_t lock;
	struct connection *connection;
};

static struct connection only = {5};
static struct crawler crawler = {PTHREAD_MUTEX_INITIALIZER, &only};

/* Whether the connection held until the page was there. */
static bool fetch(struct crawler *c)
{
	bool held = true;

	pthread_mutex_lock(&c->lock);
	if (c->connection) {
		printf("page\n");
		held = c->connection && c->connection->number == 5;
	}
	pthread_mutex_unlock(&c->lock);
	return held;
}

static void finish(struct crawler *c)
{
	pthread_mutex_lock(&c->lock);
	c->connection = NULL;
	pthread_mutex_unlock(&c->lock);
}

static void *worker(void *failed)
{
	for (int i = 0; i < PAGES; i++) {
		*(int *)failed += !fetch(&crawler);
		sched_yield();
	}
	return NULL;
}

static void *finisher(void *unused)
{
	finish(&crawler);
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS + 1];
	int failed[WORKERS] = {0}, sum = 0;

	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, worker, &failed[i]))
			return 2;
	if (pthread_create(&threads[WORKERS], NULL, finisher, NULL))
		return 2;
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < WORKERS; i++)
		sum += failed[i];
	printf("%d times the connection was gone\n", sum);
	return sum != 0;
}
