/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/allocation_vector: a block is found and marked in
 * one critical section.
 *
 * Exit status 1 if a block was given out twice.
 *
 * usage: allocation_vector [SIZE [BLOCKS]]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The first free block from `start` on, or -1; the lock is held. */
static int find_free(struct vector *vector, int start)
{
	int found = -1;

	for (int i = 0; i < vector->size && found < 0; i++)
		if (vector->state[(start + i) % vector->size] == 'F')
			found = (start + i) % vector->size;
	return found;
}

static void mark(struct vector *vector, int block, char state)
{
	if (vector->state[block] == state)
		vector->broken++;
	vector->state[block] = state;
}

static int allocate(struct vector *vector, int start)
{
	int block;

	pthread_mutex_lock(&vector->lock);
	block = find_free(vector, start);
	if (block >= 0)
		mark(vector, block, 'A');
	pthread_mutex_unlock(&vector->lock);
	return block;
}

static void release(struct vector *vector, int block)
{
	pthread_mutex_lock(&vector->lock);
	mark(vector, block, 'F');
	pthread_mutex_unlock(&vector->lock);
}

static void *worker(void *argument)
{
	struct user *user = argument;

	for (int i = 0; i < user->blocks; i++)
		user->taken[i] = allocate(user->vector, i * 7919 % user->vector->size);
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
