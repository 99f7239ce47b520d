/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * AllocationVector, of the ConTest programs in Marathon's Table 1, and
 * Allocate Vector in MoTH's Table 1. Two threads take blocks of a vector and
 * give them back.
 *
 * What breaks: allocate looks for a free block in one critical section and
 * marks it in the next; in between the other thread finds the same block.
 *
 * How it shows: a block that is marked must not be marked before; exit status
 * 1 if one was given out twice. (Marathon does not find this one, for in the
 * original the two calls stand in the thread's run method.)
 *
 * usage: allocation_vector [SIZE [BLOCKS]]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct vector {
	pthread_mutex_t lock;
	int size;
	int broken;  /* blocks that were marked twice */
	char *state; /* 'F'ree or 'A'llocated */
};

struct user {
	struct vector *vector;
	int blocks;
	int *taken;
};

/* The first free block from `start` on, or -1. */
static int find_free(struct vector *vector, int start)
{
	int found = -1;

	pthread_mutex_lock(&vector->lock);
	for (int i = 0; i < vector->size && found < 0; i++)
		if (vector->state[(start + i) % vector->size] == 'F')
			found = (start + i) % vector->size;
	pthread_mutex_unlock(&vector->lock);
	return found;
}

static void mark(struct vector *vector, int block, char state)
{
	pthread_mutex_lock(&vector->lock);
	if (vector->state[block] == state)
		vector->broken++;
	vector->state[block] = state;
	pthread_mutex_unlock(&vector->lock);
}

static int allocate(struct vector *vector, int start)
{
	int block = find_free(vector, start);

	MEET(THREADS);
	if (block >= 0)
		mark(vector, block, 'A');
	PASS();
	return block;
}

static void release(struct vector *vector, int block)
{
	mark(vector, block, 'F');
}

static void *worker(void *argument)
{
	struct user *user = argument;

	for (int i = 0; i < user->blocks; i++)
		user->taken[i] = allocate(user->vector, i * 7919 % user->vector->size);
	AWAIT(user->blocks + 1);
	for (int i = 0; i < user->blocks; i++)
		if (user->taken[i] >= 0)
			release(user->vector, user->taken[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vector vector = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = argc > 1 ? atoi(argv[1]) : 20000};
	int blocks = argc > 2 ? atoi(argv[2]) : 1000;
	struct user users[THREADS];
	pthread_t threads[THREADS];

	vector.state = malloc(vector.size);
	if (!vector.state)
		return 2;
	for (int i = 0; i < vector.size; i++)
		vector.state[i] = 'F';
	for (int i = 0; i < THREADS; i++) {
		users[i] = (struct user){&vector, blocks, calloc(blocks, sizeof(int))};
		if (!users[i].taken || pthread_create(&threads[i], NULL, worker, &users[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		free(users[i].taken);
	}
	printf("%d blocks were in two hands\n", vector.broken);
	free(vector.state);
	return vector.broken != 0;
}
