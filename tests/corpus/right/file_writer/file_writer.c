/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/file_writer: a line is appended in one critical
 * section.
 *
 * Exit status 1 if a line is missing.
 *
 * usage: file_writer
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, LINES = 8, WIDTH = 4, SIZE = THREADS * LINES * WIDTH };

struct file {
	pthread_mutex_t lock;
	int length;
	char text[SIZE];
};

static struct file file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(struct file *f, const char *line)
{
	pthread_mutex_lock(&f->lock);
	memcpy(f->text + f->length, line, WIDTH);
	f->length += WIDTH;
	pthread_mutex_unlock(&f->lock);
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
