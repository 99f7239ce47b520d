/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lottery, of the ConTest programs in Marathon's Table 1. Each user draws a
 * number, presents it, and has it recorded; the number on the table is shared
 * by all.
 *
 * What breaks: the three steps of play lock the user, not the lottery, so two
 * users work on the number at the same time.
 *
 * How it shows: what was generated, presented and recorded for a user must be
 * the same number; exit status 1 otherwise.
 *
 * usage: lottery [USERS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 64 };

struct lottery {
	int number; /* on the table */
	int users;
	int generated[MOST], presented[MOST], recorded[MOST];
};

struct user {
	pthread_mutex_t lock;
	struct lottery *lottery;
	int id;
};

static void generate(struct lottery *lottery, struct user *user)
{
	pthread_mutex_lock(&user->lock);
	lottery->number = 1000 + user->id;
	lottery->generated[user->id] = lottery->number;
	pthread_mutex_unlock(&user->lock);
}

static void present(struct lottery *lottery, struct user *user)
{
	pthread_mutex_lock(&user->lock);
	lottery->presented[user->id] = lottery->number;
	pthread_mutex_unlock(&user->lock);
}

static void record(struct lottery *lottery, struct user *user)
{
	pthread_mutex_lock(&user->lock);
	lottery->recorded[user->id] = lottery->number;
	pthread_mutex_unlock(&user->lock);
}

static void play(struct lottery *lottery, struct user *user)
{
	generate(lottery, user);
	MEET(2);
	present(lottery, user);
	MEET(2);
	record(lottery, user);
}

static void *player(void *argument)
{
	struct user *user = argument;

	play(user->lottery, user);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct lottery lottery;
	static struct user users[MOST];
	pthread_t threads[MOST];
	int wrong = 0;

	lottery.users = argc > 1 ? atoi(argv[1]) : 33;
	if (lottery.users < 1 || lottery.users > MOST)
		return 2;
	for (int i = 0; i < lottery.users; i++) {
		users[i].lottery = &lottery;
		users[i].id = i;
		pthread_mutex_init(&users[i].lock, NULL);
		if (pthread_create(&threads[i], NULL, player, &users[i]))
			return 2;
	}
	for (int i = 0; i < lottery.users; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < lottery.users; i++)
		wrong += lottery.generated[i] != lottery.presented[i] ||
			 lottery.presented[i] != lottery.recorded[i];
	printf("%d of %d users were cheated\n", wrong, lottery.users);
	return wrong != 0;
}
