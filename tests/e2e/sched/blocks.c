/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that comes and goes within a stretch. A block that comes back is
 * another object, wherever the allocator puts it: small ones, small ones out of a
 * large one that was used as a whole, large ones, one that a library allocates.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 20, LARGE = 20000 };

struct node {
	struct node *next;
	long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared, own[THREADS][8];

/* Out of the compiler's sight. */
static void *seen(void *p)
{
	__asm__ volatile("" : "+r"(p) : : "memory");
	return p;
}

__attribute__((noinline)) static long small_ones(long *mine)
{
	struct node *list = NULL;
	long sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct node *node = seen(malloc(sizeof *node));

		node->next = list;
		node->value = i;
		list = node;
		mine[i % 4]++;
		if (i % 3 == 0) {
			list = node->next;
			sum += node->value;
			free(node);
		}
	}
	while (list) {
		struct node *next = list->next;

		sum += list->value;
		free(list);
		list = next;
	}
	return sum;
}

__attribute__((noinline)) static long out_of_a_large_one(long *mine)
{
	char *large = seen(malloc(LARGE));
	struct node *nodes[8];
	long sum = 0;

	memset(large, 1, LARGE);
	mine[5] = large[LARGE / 2];
	free(large);
	for (int i = 0; i < 8; i++) {
		nodes[i] = seen(malloc(100));
		nodes[i]->value = i;
		mine[5] += i;
	}
	large = seen(malloc(LARGE));
	memset(large, 2, LARGE);
	mine[5] += large[3];
	for (int i = 0; i < 8; i++) {
		sum += nodes[i]->value;
		nodes[i] = seen(realloc(nodes[i], 300));
		nodes[i]->value++;
		sum += nodes[i]->value;
		free(nodes[i]);
	}
	free(large);
	return sum;
}

__attribute__((noinline)) static long of_a_library(long *mine)
{
	char *text = seen(malloc(20)), *copy;
	long sum;

	strcpy(text, "some text");
	mine[6] = text[2];
	free(text);
	copy = seen(strdup("another"));
	copy[2]++;
	sum = copy[2];
	mine[6]++;
	free(copy);
	return sum;
}

static void *work(void *p)
{
	long *mine = p, sum = 0;

	for (int i = 0; i < 3; i++) {
		sum += small_ones(mine) + out_of_a_large_one(mine) + of_a_library(mine);
		pthread_mutex_lock(&lock);
		shared += sum;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, own[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", shared);
	return 0;
}
