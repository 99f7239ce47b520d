/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * odd MODE: what programs do to those who run them. Two threads take a lock by turns, and in the
 * middle of it one of them does something that no schedule foresees.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, files[2], pipes[2];
static atomic_int handled;
static char **arguments;

static void count(int by)
{
	pthread_mutex_lock(&lock);
	counter += by;
	pthread_mutex_unlock(&lock);
}

/* ---- in the kernel ---- */

static void flocks(int me)
{
	if (flock(files[me], LOCK_EX))
		abort();
	count(1);
	usleep(3000);
	count(1);
	flock(files[me], LOCK_UN);
}

static void sleeps(int me)
{
	struct timespec little = {0, 1000000};
	struct timeval less = {0, 1000};

	count(1);
	nanosleep(&little, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &little, NULL);
	select(0, NULL, NULL, NULL, &less);
	poll(NULL, 0, 1);
	sched_yield();
	count(1);
}

static void epolls(int me)
{
	struct epoll_event event = {.events = EPOLLIN};
	char c;
	int set;

	count(1);
	if (me) {
		if (write(pipes[1], "x", 1) != 1)
			abort();
	} else {
		set = epoll_create1(0);
		if (epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event) || epoll_wait(set, &event, 1, -1) != 1 ||
		    read(pipes[0], &c, 1) != 1)
			abort();
		close(set);
	}
	count(1);
}

/* Both read from a pipe that nobody writes to. */
static void stuck(int me)
{
	char c;

	count(1);
	if (read(pipes[0], &c, 1) == 1)
		count(1);
}

static void watchdog(int me)
{
	if (!me)
		ualarm(100000, 0);
	stuck(me);
}

/* ---- other processes ---- */

static void becomes(int me)
{
	count(1);
	if (me) {
		execl("/proc/self/exe", arguments[0], "after", (char *)NULL);
		abort();
	}
	count(1);
}

static void becomes_other(int me)
{
	count(1);
	if (me) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		abort();
	}
	count(1);
}

/* The child goes on when all is over. */
static void leaves(int me)
{
	count(1);
	if (me && !fork()) {
		setsid();
		for (;;)
			pause();
	}
	count(1);
}

/* The child takes a lock of its own, has threads of its own, and is waited for. */
static void *of_child(void *unused)
{
	count(1);
	return unused;
}

static void forks(int me)
{
	int status;
	pid_t child = fork();

	if (!child) {
		pthread_t threads[2];
		pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

		/* It may have been the other's when the process was copied. */
		lock = fresh;
		counter = 0;
		for (int i = 0; i < 2; i++)
			if (pthread_create(&threads[i], NULL, of_child, NULL))
				_exit(9);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		_exit(counter);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		abort();
	count(WEXITSTATUS(status));
}

/* ---- signals ---- */

static void handle(int number)
{
	handled++;
}

static void ticks(int me)
{
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	if (me)
		setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 200; i++)
		count(i == 0 || i == 199);
	while (me && !handled)
		count(0);
	if (me)
		setitimer(ITIMER_REAL, &never, NULL);
}

static pthread_t ids[2];

static void interrupts(int me)
{
	count(1);
	if (me) {
		while (!handled) {
			pthread_kill(ids[0], SIGUSR1);
			usleep(1000);
		}
	} else {
		char c;

		while (!handled)
			if (read(pipes[0], &c, 1) < 0 && errno != EINTR)
				abort();
	}
	count(1);
}

static void kills(int me)
{
	count(1);
	if (me)
		kill(getpid(), SIGKILL);
	count(1);
}

static void ends(int me)
{
	count(1);
	if (me)
		raise(SIGTERM);
	count(1);
}

/* It is neither dead nor does it do anything. */
static void stops(int me)
{
	count(1);
	if (me)
		raise(SIGSTOP);
	count(1);
}

static void spins(int me)
{
	for (;;)
		count(1);
}

static const struct mode {
	const char *name;
	void (*work)(int me);
} modes[] = {{"flock", flocks},
	     {"sleep", sleeps},
	     {"epoll", epolls},
	     {"stuck", stuck},
	     {"watchdog", watchdog},
	     {"exec", becomes},
	     {"exec-other", becomes_other},
	     {"leaves", leaves},
	     {"forks", forks},
	     {"ticks", ticks},
	     {"interrupts", interrupts},
	     {"kills", kills},
	     {"ends", ends},
	     {"stops", stops},
	     {"spins", spins}};

static const struct mode *mode;

static void *work(void *number)
{
	mode->work(*(int *)number);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};
	char name[] = "odd-XXXXXX";
	int numbers[2] = {0, 1};

	arguments = argv;
	if (argc > 1 && !strcmp(argv[1], "after"))
		return 5;
	for (unsigned i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].name, argv[1]))
			mode = &modes[i];
	files[0] = mkstemp(name);
	files[1] = open(name, O_RDWR);
	unlink(name);
	if (!mode || files[0] < 0 || files[1] < 0 || pipe(pipes))
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	if (mode->work == ticks)
		sigaction(SIGALRM, &action, NULL);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&ids[i], NULL, work, &numbers[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	return counter != 4;
}
