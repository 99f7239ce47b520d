/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two threads that count under a lock, and then an end: the argument says which.
 * ends.py has what must be seen of each.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 5000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static sigjmp_buf back;

static void *work(void *turns)
{
	for (long i = 0; i < (long)turns; i++) {
		pthread_mutex_lock(&mutex);
		count++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void two_threads(long turns)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)turns))
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void *for_ever(void *unused)
{
	for (;;)
		work((void *)1000);
	return unused;
}

static void *end_process(void *unused)
{
	work((void *)100);
	exit(3);
	return unused;
}

static void leave(int number)
{
	siglongjmp(back, number);
}

/* The descriptors of others, as a careful daemon does it. */
static void close_all(void)
{
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
}

static void daemonise(void)
{
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	close_all();
	two_threads(TURNS);
}

/* Who waits for all its children must not meet the checker. */
static void no_children(void)
{
	if (wait(NULL) != -1 || errno != ECHILD)
		abort();
}

static void end(const char *how, char **argv)
{
	pthread_t thread;
	pid_t child;

	if (!strcmp(how, "return"))
		return;
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick_exit"))
		quick_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "crash"))
		*(volatile int *)NULL = 0;
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, end_process, NULL);
		pthread_join(thread, NULL);
	}
	if (!strcmp(how, "busy")) {
		pthread_create(&thread, NULL, for_ever, NULL);
		two_threads(TURNS);
		exit(6);
	}
	if (!strcmp(how, "exec")) {
		argv[1] = "return";
		execv(argv[0], argv);
	}
	if (!strcmp(how, "exec-other"))
		execl("/bin/sh", "sh", "-c", "sleep 0.1; exit 7", NULL);
	if (!strcmp(how, "fork")) {
		child = fork();
		if (!child) {
			two_threads(TURNS);
			_exit(0);
		}
		two_threads(TURNS);
		if (waitpid(child, NULL, 0) != child)
			abort();
	}
	if (!strcmp(how, "fork-alone")) {
		child = fork();
		if (!child) {
			work((void *)TURNS);
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			abort();
	}
	if (!strcmp(how, "daemon"))
		daemonise();
	if (!strcmp(how, "close")) {
		close_all();
		two_threads(10 * TURNS);
	}
	if (!strcmp(how, "longjmp")) {
		signal(SIGUSR1, leave);
		for (volatile int i = 0; i < 20; i++) {
			if (!sigsetjmp(back, 1))
				raise(SIGUSR1);
			two_threads(TURNS);
		}
	}
	if (!strcmp(how, "long"))
		two_threads(40 * TURNS);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 1;
	/* What exit() has yet to write must not be lost. */
	printf("%s\n", argv[1]);
	no_children();
	/* With a window of its own, it never needs another. */
	while (!strcmp(argv[1], "sleep"))
		pause();
	two_threads(TURNS);
	no_children();
	end(argv[1], argv);
	return 0;
}
