/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/knight: compared and stored in one critical
 * section.
 *
 * Exit status 1 if the numbers are not those of a search by one thread.
 *
 * usage: knight [SIZE]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, MOVES = 8, FAR = 1000 };

struct board {
	pthread_mutex_t lock;
	int size;
	int best[MOST][MOST];
};

struct visit {
	struct board *board;
	int row, column, moves;
};

static const int step[MOVES][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

static bool improve(struct board *b, int row, int column, int moves)
{
	bool better;

	pthread_mutex_lock(&b->lock);
	better = moves < b->best[row][column];
	if (better)
		b->best[row][column] = moves;
	pthread_mutex_unlock(&b->lock);
	return better;
}

static void *solve(void *argument)
{
	struct visit *visit = argument;
	struct visit next[MOVES];
	pthread_t threads[MOVES];
	int count = 0;

	if (!improve(visit->board, visit->row, visit->column, visit->moves))
		return NULL;
	for (int i = 0; i < MOVES; i++) {
		next[count] = (struct visit){visit->board, visit->row + step[i][0],
					     visit->column + step[i][1], visit->moves + 1};
		if (next[count].row < 0 || next[count].row >= visit->board->size || next[count].column < 0 ||
		    next[count].column >= visit->board->size)
			continue;
		if (pthread_create(&threads[count], NULL, solve, &next[count]))
			abort();
		count++;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

/* The numbers as they should be, found by one thread. */
static void search(int size, int best[MOST][MOST])
{
	bool changed = true;

	best[0][0] = 0;
	while (changed) {
		changed = false;
		for (int r = 0; r < size; r++)
			for (int c = 0; c < size; c++)
				for (int i = 0; i < MOVES; i++) {
					int row = r + step[i][0], column = c + step[i][1];

					if (row >= 0 && row < size && column >= 0 && column < size &&
					    best[row][column] > best[r][c] + 1) {
						best[row][column] = best[r][c] + 1;
						changed = true;
					}
				}
	}
}

int main(int argc, char **argv)
{
	struct board board = {.lock = PTHREAD_MUTEX_INITIALIZER, .size = argc > 1 ? atoi(argv[1]) : 4};
	struct visit start = {&board, 0, 0, 0};
	int best[MOST][MOST], wrong = 0;

	if (board.size < 4 || board.size > MOST)
		return 2;
	for (int i = 0; i < MOST * MOST; i++)
		board.best[i / MOST][i % MOST] = best[i / MOST][i % MOST] = FAR;
	solve(&start);
	search(board.size, best);
	for (int i = 0; i < board.size; i++)
		for (int j = 0; j < board.size; j++)
			wrong += board.best[i][j] != best[i][j];
	printf("%d squares are wrong\n", wrong);
	return wrong != 0;
}
