/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/ping_pong: a game is one critical section.
 *
 * Exit status 1 if a thread found no player.
 *
 * usage: ping_pong [THREADS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct player {
	int number;
};

struct table {
	pthread_mutex_t lock;
	struct player *player;
};

static struct player only = {7};
static struct table table = {PTHREAD_MUTEX_INITIALIZER, &only};

static bool play(struct table *t)
{
	struct player *saved;
	bool found;

	pthread_mutex_lock(&t->lock);
	saved = t->player;
	found = saved && saved->number == 7;
	t->player = NULL;
	sched_yield(); /* the game */
	t->player = saved;
	pthread_mutex_unlock(&t->lock);
	return found;
}

static void *thread(void *argument)
{
	*(bool *)argument = play(&table);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 120;
	pthread_t *threads = calloc(count, sizeof(*threads));
	bool *found = calloc(count, sizeof(*found));
	int without = 0;

	if (!threads || !found)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, thread, &found[i]))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		without += !found[i];
	printf("%d of %d threads found no player\n", without, count);
	free(found);
	free(threads);
	return without != 0;
}
