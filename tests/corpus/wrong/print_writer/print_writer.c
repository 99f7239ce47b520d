/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PrintWriter, which von Praun and Gross report as found (Flanagan and Qadeer
 * told of it first). Two writers, each with its thread, print lines to one
 * stream. A reconstruction.
 *
 * What breaks: print_line holds the lock of the writer over the text and the
 * end of the line; the stream has a lock of its own, and is free in between.
 *
 * How it shows: exit status 1 if a line of the stream is not one that somebody
 * printed.
 *
 * usage: print_writer
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../stage.h"

enum { THREADS = 2, LINES = 3, SIZE = 256 };

struct stream {
	pthread_mutex_t lock;
	int length;
	char text[SIZE];
};

struct writer {
	pthread_mutex_t lock;
	struct stream *stream;
	const char *line;
};

static struct stream stream = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void write_text(struct stream *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	for (; *text; text++)
		s->text[s->length++] = *text;
	pthread_mutex_unlock(&s->lock);
}

static void print_line(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	write_text(w->stream, w->line);
	MEET(THREADS);
	write_text(w->stream, "\n");
	pthread_mutex_unlock(&w->lock);
}

static void *printer(void *writer)
{
	for (int i = 0; i < LINES; i++)
		print_line(writer);
	return NULL;
}

/* Lines that nobody printed. */
static int torn_lines(const struct writer *writers)
{
	int torn = 0;

	for (char *line = strtok(stream.text, "\n"); line; line = strtok(NULL, "\n")) {
		bool whole = false;

		for (int i = 0; i < THREADS; i++)
			whole |= !strcmp(line, writers[i].line);
		torn += !whole;
	}
	return torn;
}

int main(void)
{
	struct writer writers[THREADS] = {{.stream = &stream, .line = "left"},
					  {.stream = &stream, .line = "right"}};
	pthread_t threads[THREADS];
	int torn;

	for (int i = 0; i < THREADS; i++) {
		pthread_mutex_init(&writers[i].lock, NULL);
		if (pthread_create(&threads[i], NULL, printer, &writers[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	torn = torn_lines(writers);
	printf("%d torn lines\n", torn);
	return torn != 0;
}
