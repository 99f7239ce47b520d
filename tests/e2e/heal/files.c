/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections in the middle of which a thread waits for a file or a process, which
 * another one lets go on who comes to the section's gate before; and calls that
 * could wait and need not, which must not cost a section.
 *
 * A section begins and ends in functions that are called by a unit that carries
 * the mode's name, as in ways.c.
 *
 * usage: files MODE
 */
#define _GNU_SOURCE /* ppoll */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared {
	pthread_mutex_t lock;
	long value;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_int flag;

static void begin_section(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	s->value = s->value + 1; /* entry of all */
	pthread_mutex_unlock(&s->lock);
}

static void end_section(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	s->value = s->value + 1; /* end of all */
	pthread_mutex_unlock(&s->lock);
}

static void *increments(void *unused)
{
	pthread_mutex_lock(&shared.lock);
	shared.value++;
	pthread_mutex_unlock(&shared.lock);
	return unused;
}

/* ---- waits in the middle of a section ---- */

static int bell[2];

static void *rings(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	if (write(bell[1], "", 1) != 1)
		abort();
	return unused;
}

static void polls(struct shared *s)
{
	struct pollfd file = {bell[0], POLLIN, 0};

	begin_section(s);
	atomic_store(&flag, 1);
	if (poll(&file, 1, -1) != 1)
		abort();
	end_section(s);
}

static void epolls(struct shared *s)
{
	struct epoll_event event = {.events = EPOLLIN};
	int file = epoll_create1(0);

	epoll_ctl(file, EPOLL_CTL_ADD, bell[0], &event);
	begin_section(s);
	atomic_store(&flag, 1);
	if (epoll_wait(file, &event, 1, -1) != 1)
		abort();
	end_section(s);
	close(file);
}

static void selects(struct shared *s)
{
	fd_set files;

	FD_ZERO(&files);
	FD_SET(bell[0], &files);
	begin_section(s);
	atomic_store(&flag, 1);
	if (select(bell[0] + 1, &files, NULL, NULL, NULL) != 1)
		abort();
	end_section(s);
}

static void reads(struct shared *s)
{
	char byte;

	begin_section(s);
	atomic_store(&flag, 1);
	if (read(bell[0], &byte, 1) != 1)
		abort();
	end_section(s);
}

static void polls_signals(struct shared *s)
{
	struct pollfd file = {bell[0], POLLIN, 0};

	begin_section(s);
	atomic_store(&flag, 1);
	if (ppoll(&file, 1, NULL, NULL) != 1)
		abort();
	end_section(s);
}

static void selects_signals(struct shared *s)
{
	fd_set files;

	FD_ZERO(&files);
	FD_SET(bell[0], &files);
	begin_section(s);
	atomic_store(&flag, 1);
	if (pselect(bell[0] + 1, &files, NULL, NULL, NULL, NULL) != 1)
		abort();
	end_section(s);
}

static void epolls_signals(struct shared *s)
{
	struct epoll_event event = {.events = EPOLLIN};
	int file = epoll_create1(0);

	epoll_ctl(file, EPOLL_CTL_ADD, bell[0], &event);
	begin_section(s);
	atomic_store(&flag, 1);
	if (epoll_pwait(file, &event, 1, -1, NULL) != 1)
		abort();
	end_section(s);
	close(file);
}

static void epolls_time(struct shared *s)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct timespec long_enough = {1000, 0};
	int file = epoll_create1(0);

	epoll_ctl(file, EPOLL_CTL_ADD, bell[0], &event);
	begin_section(s);
	atomic_store(&flag, 1);
	if (epoll_pwait2(file, &event, 1, &long_enough, NULL) != 1 && errno != ENOSYS)
		abort();
	end_section(s);
	close(file);
}

static void reads_parts(struct shared *s)
{
	char byte;
	struct iovec part = {&byte, 1};

	begin_section(s);
	atomic_store(&flag, 1);
	if (readv(bell[0], &part, 1) != 1)
		abort();
	end_section(s);
}

static int line[2];

static void *talks(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	if (send(line[1], "", 1, 0) != 1)
		abort();
	return unused;
}

static void receives(struct shared *s)
{
	char byte;

	begin_section(s);
	atomic_store(&flag, 1);
	if (recv(line[0], &byte, 1, 0) != 1)
		abort();
	end_section(s);
}

static void receives_message(struct shared *s)
{
	char byte;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	begin_section(s);
	atomic_store(&flag, 1);
	if (recvmsg(line[0], &message, 0) != 1)
		abort();
	end_section(s);
}

static void *listens(void *unused)
{
	char bytes[65536];

	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	if (read(bell[0], bytes, sizeof bytes) <= 0)
		abort();
	return unused;
}

/* Into a pipe that is full. */
static void writes(struct shared *s)
{
	static const char bytes[4096];

	fcntl(bell[1], F_SETFL, O_NONBLOCK);
	while (write(bell[1], bytes, sizeof bytes) > 0)
		;
	fcntl(bell[1], F_SETFL, 0);
	begin_section(s);
	atomic_store(&flag, 1);
	if (write(bell[1], bytes, sizeof bytes) != sizeof bytes)
		abort();
	end_section(s);
}

static void waits_for_child(struct shared *s)
{
	pid_t child = fork();
	char byte;
	int status;

	if (!child)
		_exit(read(bell[0], &byte, 1) != 1);
	begin_section(s);
	atomic_store(&flag, 1);
	if (waitpid(child, &status, 0) != child || status)
		abort();
	end_section(s);
}

/* All of these have something to say, or do not wait: nothing need be given up. */
static void answered(struct shared *s)
{
	struct pollfd poll_file = {bell[0], POLLIN, 0};
	struct epoll_event event = {.events = EPOLLIN | EPOLLET}, got;
	struct timespec long_enough = {1000, 0};
	int epoll = epoll_create1(0), silent[2], status;
	siginfo_t info;
	fd_set files, others;
	pid_t child = fork();
	char byte;

	if (!child)
		_exit(0);
	if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) || pipe(silent) ||
	    fcntl(silent[0], F_SETFL, O_NONBLOCK) || write(bell[1], "", 1) != 1)
		abort();
	epoll_ctl(epoll, EPOLL_CTL_ADD, bell[0], &event);
	FD_ZERO(&files);
	FD_ZERO(&others);
	FD_SET(bell[0], &files);
	FD_SET(silent[0], &files);
	begin_section(s);
	if (poll(&poll_file, 1, -1) != 1 || ppoll(&poll_file, 1, NULL, NULL) != 1)
		abort();
	if (select(silent[0] + 1, &files, &others, NULL, NULL) != 1 || !FD_ISSET(bell[0], &files))
		abort();
	if (pselect(bell[0] + 1, &files, NULL, NULL, NULL, NULL) != 1 || !FD_ISSET(bell[0], &files))
		abort();
	/* It says so once. */
	if (epoll_wait(epoll, &got, 1, -1) != 1 || epoll_wait(epoll, &got, 1, 0))
		abort();
	if (epoll_pwait(epoll, &got, 1, 0, NULL))
		abort();
	if (write(bell[1], "", 1) != 1 || epoll_pwait(epoll, &got, 1, -1, NULL) != 1)
		abort();
	if (write(bell[1], "", 1) != 1 ||
	    (epoll_pwait2(epoll, &got, 1, &long_enough, NULL) != 1 && errno != ENOSYS))
		abort();
	if (read(bell[0], &byte, 1) != 1 || read(silent[0], &byte, 1) != -1 || errno != EAGAIN)
		abort();
	if (recv(line[0], &byte, 1, MSG_DONTWAIT) != -1 || send(line[1], "", 1, 0) != 1 ||
	    recv(line[0], &byte, 1, 0) != 1)
		abort();
	if (waitpid(child, &status, 0) != child || status)
		abort();
	end_section(s);
}

/* ---- running ---- */

static void (*unit)(struct shared *s);

static void *once(void *unused)
{
	unit(&shared);
	increments(NULL);
	return unused;
}

static const struct {
	const char *name;
	void (*unit)(struct shared *s);
	void *(*other)(void *);
} modes[] = {
	{"polls", polls, rings},
	{"epolls", epolls, rings},
	{"selects", selects, rings},
	{"reads", reads, rings},
	{"polls_signals", polls_signals, rings},
	{"selects_signals", selects_signals, rings},
	{"epolls_signals", epolls_signals, rings},
	{"epolls_time", epolls_time, rings},
	{"reads_parts", reads_parts, rings},
	{"receives", receives, talks},
	{"receives_message", receives_message, talks},
	{"writes", writes, listens},
	{"waits_for_child", waits_for_child, rings},
	{"answered", answered, increments},
};

int main(int argc, char **argv)
{
	enum { EXPECTED = 4 };
	pthread_t threads[2];
	unsigned n = 0;

	while (n < sizeof modes / sizeof *modes && (argc < 2 || strcmp(argv[1], modes[n].name)))
		n++;
	if (n == sizeof modes / sizeof *modes)
		return 2;
	unit = modes[n].unit;
	if (pipe(bell) || socketpair(AF_UNIX, SOCK_STREAM, 0, line))
		return 2;
	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, i ? modes[n].other : once, NULL))
			return 2;
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %d\n", shared.value, EXPECTED);
	return shared.value != EXPECTED;
}
