/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads that sleep in the kernel: for a time, in read, in poll, and in a call
 * that nothing announces. The others must run meanwhile, for it is they who
 * wake them.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

static int pipes[3][2], got;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *stream;

static void note(char c)
{
	pthread_mutex_lock(&lock);
	got += c;
	pthread_mutex_unlock(&lock);
}

static void *reader(void *unused)
{
	char c = 0;

	if (read(pipes[0][0], &c, 1) == 1)
		note(c);
	return NULL;
}

static void *poller(void *unused)
{
	struct pollfd wait = {pipes[1][0], POLLIN, 0};
	char c = 0;

	if (poll(&wait, 1, -1) == 1 && read(pipes[1][0], &c, 1) == 1)
		note(c);
	return NULL;
}

/* getc is not among the calls that the runtime stands in front of. */
static void *streamer(void *unused)
{
	int c = getc(stream);

	note((char)c);
	return NULL;
}

static void *writer(void *unused)
{
	for (int i = 0; i < 3; i++) {
		usleep(2000);
		if (write(pipes[i][1], "\1", 1) != 1)
			return NULL;
	}
	return NULL;
}

int main(void)
{
	void *(*const work[])(void *) = {reader, poller, streamer, writer};
	pthread_t threads[4];

	for (int i = 0; i < 3; i++)
		if (pipe(pipes[i]))
			return 2;
	stream = fdopen(pipes[2][0], "r");
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return got != 3;
}
