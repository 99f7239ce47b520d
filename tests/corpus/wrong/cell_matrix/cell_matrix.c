/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The matrix of PENELOPE's introduction: ten rows of ten cells with a lock
 * each. One thread updates the upper five rows, one the lower five; a cell
 * becomes the sum of itself and its neighbours.
 *
 * What breaks: update reads the neighbours one by one, each under its own
 * lock, and then writes the cell. Along the border of the two halves, two
 * cells may both become sums of old values.
 *
 * How it shows: of two neighbours, one must have seen the other's new value;
 * exit status 1 if neither did.
 *
 * usage: cell_matrix
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { SIZE = 10, HALF = SIZE / 2 };

struct cell {
	pthread_mutex_t lock;
	long value;
	bool new;
	bool saw_new[3][3]; /* what its update saw of the neighbours */
};

struct matrix {
	struct cell cell[SIZE][SIZE];
};

static struct matrix matrix;

static long read_cell(struct cell *cell, bool *new)
{
	long value;

	pthread_mutex_lock(&cell->lock);
	value = cell->value;
	*new = cell->new;
	pthread_mutex_unlock(&cell->lock);
	return value;
}

static void write_cell(struct cell *cell, long value)
{
	pthread_mutex_lock(&cell->lock);
	cell->value = value;
	cell->new = true;
	pthread_mutex_unlock(&cell->lock);
}

static void update(struct matrix *m, int row, int column)
{
	struct cell *cell = &m->cell[row][column];
	long sum = 0;

	for (int i = row ? row - 1 : 0; i <= row + 1 && i < SIZE; i++)
		for (int j = column ? column - 1 : 0; j <= column + 1 && j < SIZE; j++)
			sum += read_cell(&m->cell[i][j], &cell->saw_new[i - row + 1][j - column + 1]);
	MEET_IF(row == HALF - 1 || row == HALF, 2);
	write_cell(cell, sum);
}

static void *updater(void *half)
{
	/* Away from the border: the upper half downwards, the lower half upwards. */
	for (int i = 0; i < HALF; i++)
		for (int column = 0; column < SIZE; column++)
			update(&matrix, *(int *)half ? HALF + i : HALF - 1 - i, column);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int halves[2] = {0, 1}, wrong = 0;

	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			pthread_mutex_init(&matrix.cell[i][j].lock, NULL);
			matrix.cell[i][j].value = 1;
		}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, updater, &halves[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int j = 0; j < SIZE; j++)
		for (int d = -1; d <= 1; d++)
			if (j + d >= 0 && j + d < SIZE)
				wrong += !matrix.cell[HALF - 1][j].saw_new[2][d + 1] &&
					 !matrix.cell[HALF][j + d].saw_new[0][1 - d];
	printf("%d pairs of cells saw each other's old values\n", wrong);
	return wrong != 0;
}
