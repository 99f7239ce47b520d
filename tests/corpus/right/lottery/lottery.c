/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/lottery: a play is one critical section of the
 * lottery.
 *
 * Exit status 1 if a user was presented or recorded with another number than
 * generated.
 *
 * usage: lottery [USERS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

struct lottery {
	pthread_mutex_t lock;
	int number; /* on the table */
	int users;
	int generated[MOST], presented[MOST], recorded[MOST];
};

struct user {
	struct lottery *lottery;
	int id;
};

static void generate(struct lottery *lottery, struct user *user)
{
	lottery->number = 1000 + user->id;
	lottery->generated[user->id] = lottery->number;
}

static void present(struct lottery *lottery, struct user *user)
{
	lottery->presented[user->id] = lottery->number;
}

static void record(struct lottery *lottery, struct user *user)
{
	lottery->recorded[user->id] = lottery->number;
}

static void play(struct lottery *lottery, struct user *user)
{
	pthread_mutex_lock(&lottery->lock);
	generate(lottery, user);
	present(lottery, user);
	record(lottery, user);
	pthread_mutex_unlock(&lottery->lock);
}

static void *player(void *argument)
{
	struct user *user = argument;

	play(user->lottery, user);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct lottery lottery = {.lock = PTHREAD_MUTEX_INITIALIZER};
	static struct user users[MOST];
	pthread_t threads[MOST];
	int wrong = 0;

	lottery.users = argc > 1 ? atoi(argv[1]) : 33;
	if (lottery.users < 1 || lottery.users > MOST)
		return 2;
	for (int i = 0; i < lottery.users; i++) {
		users[i].lottery = &lottery;
		users[i].id = i;
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
