/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PingPong, of the ConTest programs in Marathon's Table 1. Many threads play
 * with one player: each takes it off the table for a moment and puts it back.
 *
 * What breaks: play uses the player, takes it away and puts it back without a
 * lock, and who comes in between finds none.
 *
 * How it shows: exit status 1 if a thread found no player (where the original
 * ended with a null pointer).
 *
 * usage: ping_pong [THREADS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

struct player {
	int number;
};

struct table {
	struct player *player;
};

static struct player only = {7};
static struct table table = {&only};

static bool play(struct table *t, int id)
{
	struct player *saved;
	bool found;

	STAGE_IF(id == 1, 2);
	saved = t->player;
	found = saved && saved->number == 7;
	STAGE_IF(id == 1, 3);
	t->player = NULL;
	STAGE_IF(id == 0, 1);
	sched_yield(); /* the game */
	STAGE_IF(id == 0, 4);
	t->player = saved;
	return found;
}

static void *thread(void *argument)
{
	int *found = argument;

	STAGE_IF(*found > 1, 5);
	*found = play(&table, *found);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 120;
	pthread_t *threads = calloc(count, sizeof(*threads));
	int *found = calloc(count,
			    sizeof(*found)); /* first the thread's number, then whether it found the player */
	int without = 0;

	if (!threads || !found)
		return 2;
	for (int i = 0; i < count; i++) {
		found[i] = i;
		if (pthread_create(&threads[i], NULL, thread, &found[i]))
			return 2;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		without += !found[i];
	printf("%d of %d threads found no player\n", without, count);
	free(found);
	free(threads);
	return without != 0;
}
