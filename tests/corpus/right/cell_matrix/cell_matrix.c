/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/cell_matrix: an update holds the locks of all the
 * cells that it reads, taken row by row.
 *
 * Exit status 1 if two neighbours both saw the other's old value.
 *
 * usage: cell_matrix
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

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

static void update(struct matrix *m, int row, int column)
{
	struct cell *cell = &m->cell[row][column];
	long sum = 0;
	int top = row ? row - 1 : 0, left = column ? column - 1 : 0;
	int bottom = row + 1 < SIZE ? row + 1 : row, right = column + 1 < SIZE ? column + 1 : column;

	for (int i = top; i <= bottom; i++)
		for (int j = left; j <= right; j++)
			pthread_mutex_lock(&m->cell[i][j].lock);
	for (int i = top; i <= bottom; i++)
		for (int j = left; j <= right; j++) {
			sum += m->cell[i][j].value;
			cell->saw_new[i - row + 1][j - column + 1] = m->cell[i][j].new;
		}
	cell->value = sum;
	cell->new = true;
	for (int i = bottom; i >= top; i--)
		for (int j = right; j >= left; j--)
			pthread_mutex_unlock(&m->cell[i][j].lock);
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
