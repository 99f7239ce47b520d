/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/print_writer: text and end of the line are written
 * under the lock of the stream.
 *
 * Exit status 1 if a line of the stream is not one that somebody printed.
 *
 * usage: print_writer
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* The stream's lock is held. */
static void write_text(struct stream *s, const char *text)
{
	for (; *text; text++)
		s->text[s->length++] = *text;
}

static void print_line(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	pthread_mutex_lock(&w->stream->lock);
	write_text(w->stream, w->line);
	write_text(w->stream, "\n");
	pthread_mutex_unlock(&w->stream->lock);
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
