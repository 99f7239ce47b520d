/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses of all lengths that overlap, repeat and touch each other: which of them
 * are the first to their bytes? With an argument, so many megabytes are read in
 * one stroke and again. The shadow takes as much memory once more; what it takes
 * besides to remember the stroke must be little (status 3).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { BYTES = 1 << 16, ROUNDS = 400 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char area[2][BYTES + 64];
static int sum;

static unsigned draw(unsigned *seed, unsigned sides)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % sides;
}

/* One call of a function is one stretch, up to the next lock. */
static int touch(unsigned char *mine, unsigned seed)
{
	int found = 0;

	for (int i = 0; i < ROUNDS; i++) {
		size_t length = draw(&seed, 3) ? 1 + draw(&seed, 40) : 3000 + draw(&seed, 9000);
		size_t at = draw(&seed, 16) * 4096 + draw(&seed, 2) * draw(&seed, 8192);

		if (at + length > BYTES)
			at = BYTES - length;
		switch (draw(&seed, 4)) {
		case 0:
			memset(mine + at, i, length);
			break;
		case 1:
			found += memchr(mine + at, 255, length) != NULL;
			break;
		case 2:
			mine[at]++;
			break;
		default:
			found += mine[at + length - 1];
		}
		if (!draw(&seed, 100)) {
			pthread_mutex_lock(&lock);
			sum += found & 1;
			pthread_mutex_unlock(&lock);
		}
	}
	return found;
}

static void *work(void *number)
{
	int me = *(int *)number, found = 0;

	for (unsigned i = 0; i < 4; i++)
		found += touch(area[me], i * 7 + (unsigned)me);
	pthread_mutex_lock(&lock);
	sum += found & 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Pages that nobody wrote to are all the same one, and take no memory. */
static int huge(size_t bytes)
{
	char *all = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct rusage before, after;

	if (all == MAP_FAILED)
		return 2;
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < 2; i++)
		if (memchr(all, 1, bytes) || memchr(all + i, 1, bytes - 1))
			return 2;
	getrusage(RUSAGE_SELF, &after);
	printf("%ld KB for %zu\n", after.ru_maxrss - before.ru_maxrss, bytes >> 10);
	return (size_t)(after.ru_maxrss - before.ru_maxrss) > bytes / 1024 * 5 / 4 + 8192 ? 3 : 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int numbers[2] = {0, 1};

	if (argc > 1)
		return huge((size_t)atoi(argv[1]) << 20);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
