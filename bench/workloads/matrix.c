/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A tiled matrix product, C = A * B, in i-k-j order. The rows of C are shared
 * out in bands, which the threads fetch from a counter under a lock; A and B
 * are only read. Cells are small whole numbers, so sums are exact and the
 * checksum does not depend on how the compiler orders additions. -n: rows.
 */
#include "common.h"

enum { TILE = 64, BAND = 16 };

struct matrix {
	int rows;
	int columns;
	int stride; /* in cells; a row begins on a cache line */
	double *cells;
};

struct product {
	const struct matrix *a;
	const struct matrix *b;
	struct matrix *c;
	pthread_mutex_t lock;
	int next_row; /* under lock */
};

struct worker {
	struct product *product;
	int bands;
};

static void matrix_init(struct matrix *m, int rows, int columns)
{
	m->rows = rows;
	m->columns = columns;
	m->stride = (columns + 7) & ~7;
	m->cells = aligned_alloc(64, (size_t)rows * m->stride * sizeof(double));
	if (!m->cells)
		die("out of memory");
	memset(m->cells, 0, (size_t)rows * m->stride * sizeof(double));
}

static void matrix_fill(struct matrix *m, uint64_t seed)
{
	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->columns; j++)
			m->cells[(size_t)i * m->stride + j] = (double)(next_random(&seed) % 17) - 8;
}

static double *matrix_row(const struct matrix *m, int row)
{
	return m->cells + (size_t)row * m->stride;
}

static int minimum(int a, int b)
{
	return a < b ? a : b;
}

/* One band of rows: for each tile of B, every row of the band uses it while it
 * is in the cache. */
static void multiply_band(const struct product *product, int first, int last)
{
	const struct matrix *a = product->a, *b = product->b;
	int depth = a->columns, width = b->columns;

	for (int k0 = 0; k0 < depth; k0 += TILE) {
		int k1 = minimum(k0 + TILE, depth);

		for (int j0 = 0; j0 < width; j0 += 4 * TILE) {
			int j1 = minimum(j0 + 4 * TILE, width);

			for (int i = first; i < last; i++) {
				const double *a_row = matrix_row(a, i);
				double *c_row = matrix_row(product->c, i);

				REQUEST(3);
				for (int k = k0; k < k1; k++) {
					const double *b_row = matrix_row(b, k);
					double factor = a_row[k];

					for (int j = j0; j < j1; j++)
						c_row[j] += factor * b_row[j];
				}
			}
		}
	}
}

static int take_band(struct product *product)
{
	int row;

	pthread_mutex_lock(&product->lock);
	row = product->next_row;
	product->next_row += BAND;
	pthread_mutex_unlock(&product->lock);
	return row;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct product *product = worker->product;
	int first;

	while ((first = take_band(product)) < product->c->rows) {
		multiply_band(product, first, minimum(first + BAND, product->c->rows));
		worker->bands++;
	}
	return NULL;
}

static uint64_t matrix_checksum(const struct matrix *m)
{
	uint64_t sum = 0;

	for (int i = 0; i < m->rows; i++)
		for (int j = 0; j < m->columns; j++)
			sum = sum * 31 + (uint64_t)(int64_t)matrix_row(m, i)[j];
	return sum;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 2, 1200);
	struct worker workers[MAX_THREADS] = {0};
	struct matrix a, b, c;
	struct product product = {.a = &a, .b = &b, .c = &c};
	int size = (int)options.size, bands = 0;

	matrix_init(&a, size, size);
	matrix_init(&b, size, size);
	matrix_init(&c, size, size);
	matrix_fill(&a, 1);
	matrix_fill(&b, 2);
	pthread_mutex_init(&product.lock, NULL);

	for (int i = 0; i < options.threads; i++)
		workers[i].product = &product;
	threads_run(options.threads, work, workers, sizeof(*workers));

	for (int i = 0; i < options.threads; i++)
		bands += workers[i].bands;
	if (bands != (size + BAND - 1) / BAND)
		die("a band was computed twice or not at all");
	result_print("matrix", (long)size * size, matrix_checksum(&c));
	pthread_mutex_destroy(&product.lock);
	free(a.cells);
	free(b.cells);
	free(c.cells);
	return 0;
}
