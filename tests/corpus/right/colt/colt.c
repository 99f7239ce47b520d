/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * colt, in PENELOPE's Table 1: a product of two matrices of 50 rows and
 * columns, computed by threads that each have their rows of the result.
 *
 * Why it looks wrong: threads write to one matrix and read from others without
 * a lock. Why it is right: no element is written by two, and what is read was
 * written before the threads began.
 *
 * Exit status 1 if the product is not that of one thread.
 *
 * usage: colt
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, SIZE = 50 };

struct matrix {
	double cell[SIZE][SIZE];
};

struct block {
	int from, to; /* rows */
};

static struct matrix a, b, product, expected;

static void multiply(struct matrix *c, const struct block *block)
{
	for (int i = block->from; i < block->to; i++)
		for (int j = 0; j < SIZE; j++) {
			double sum = 0;

			for (int k = 0; k < SIZE; k++)
				sum += a.cell[i][k] * b.cell[k][j];
			c->cell[i][j] = sum;
		}
}

static void *worker(void *block)
{
	multiply(&product, block);
	return NULL;
}

int main(void)
{
	struct block blocks[THREADS], all = {0, SIZE};
	pthread_t threads[THREADS];
	int wrong = 0;

	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			a.cell[i][j] = i + j;
			b.cell[i][j] = i - j;
		}
	for (int i = 0; i < THREADS; i++) {
		blocks[i] = (struct block){i * SIZE / THREADS, (i + 1) * SIZE / THREADS};
		if (pthread_create(&threads[i], NULL, worker, &blocks[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	multiply(&expected, &all);
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			wrong += product.cell[i][j] != expected.cell[i][j];
	printf("%d cells are wrong\n", wrong);
	return wrong != 0;
}
