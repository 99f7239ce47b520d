/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * FileWriter, of the ConTest programs in Marathon's Table 1; a reconstruction.
 * Threads append lines to a file that is kept in memory.
 *
 * What breaks: append asks for the end of the file in one critical section and
 * writes there in the next, so two lines may go to the same place.
 *
 * How it shows: every line must be in the file at the end; exit status 1
 * otherwise. (Marathon's authors could not make theirs fail.)
 *
 * usage: file_writer
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../stage.h"

enum { THREADS = 4, LINES = 8, WIDTH = 4, SIZE = THREADS * LINES * WIDTH };

struct file {
	pthread_mutex_t lock;
	int length;
	char text[SIZE];
};

static struct file file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int end_of(struct file *f)
{
	int end;

	pthread_mutex_lock(&f->lock);
	end = f->length;
	pthread_mutex_unlock(&f->lock);
	return end;
}

static void write_at(struct file *f, int position, const char *line)
{
	pthread_mutex_lock(&f->lock);
	memcpy(f->text + position, line, WIDTH);
	f->length = position + WIDTH;
	pthread_mutex_unlock(&f->lock);
}

static void append(struct file *f, const char *line)
{
	int end = end_of(f);

	MEET(2);
	write_at(f, end, line);
}

static void *writer(void *number)
{
	char line[WIDTH + 1];

	for (int i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "%d%02d\n", *(int *)number, i);
		append(&file, line);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, writer, &numbers[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d lines of %d\n", file.length / WIDTH, THREADS * LINES);
	return file.length != SIZE;
}
