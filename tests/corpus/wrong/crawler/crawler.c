/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The IBM web crawler of AtomRace; a reconstruction. Workers fetch pages
 * through a connection; a finisher takes the connection away.
 *
 * What breaks: fetch tests that there is a connection and uses it, without a
 * lock (test-and-use). As in the original that hardly ever happens: who takes the
 * connection away comes late.
 *
 * How it shows: exit status 1 if the connection was gone when it was used (a
 * null pointer in the original).
 *
 * usage: crawler
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "../../stage.h"

enum { WORKERS = 3, PAGES = 10 };

struct connection {
	int number;
};

struct crawler {
	struct connection *connection;
};

static struct connection only = {5};
struct crawler crawler = {
	&only}; /* not static: the compiler must not keep it in a register from page to page */

/* Whether the connection held until the page was there. */
static bool fetch(struct crawler *c)
{
	struct connection *used;

	if (!c->connection)
		return true;
	STAGE(1);
	STAGE(4);
	printf("page\n");
	used = c->connection;
	return used && used->number == 5;
}

static void finish(struct crawler *c)
{
	STAGE(2);
	c->connection = NULL;
	STAGE(3);
}

static void *worker(void *failed)
{
	for (int i = 0; i < PAGES; i++) {
		*(int *)failed += !fetch(&crawler);
		sched_yield();
	}
	return NULL;
}

/* Comes when the pages are there, as a rule. */
static void *finisher(void *unused)
{
	usleep(1000);
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
