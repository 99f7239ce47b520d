/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that wait for files, sockets and other processes, in a program that
 * is healed in the field: a section is given up if the call would sleep. Without
 * a section, which is nearly always, that is one look more than the call itself;
 * with one it is another system call, which asks.
 *
 * A sleep for some time, without anything to wait for, is none of these: bugs are
 * made of it. Nor is connect(), which waits for another kernel and for no
 * thread of this program.
 */
#include "rt/heal_field.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

ssize_t __read_chk(int file, void *to, size_t length, size_t room);
ssize_t __recv_chk(int file, void *to, size_t length, size_t room, int flags);
ssize_t __recvfrom_chk(int file, void *to, size_t length, size_t room, int flags, struct sockaddr *from,
		       socklen_t *from_length);

/* `sleeps` is asked only of a thread that has something to give up. */
#define GIVE_UP_IF(sleeps)                                                      \
	do {                                                                    \
		if (heal_unlikely(heal_self.open_count) && heal_on && (sleeps)) \
			heal_on_wait(NULL);                                     \
	} while (0)

static bool lasts(const struct timespec *timeout)
{
	return !timeout || timeout->tv_sec || timeout->tv_nsec;
}

INTERPOSER int poll(struct pollfd *files, nfds_t count, int timeout)
{
	GIVE_UP_IF(count && timeout && heal_would_sleep_poll(files, count));
	return REAL(poll)(files, count, timeout);
}

INTERPOSER int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	GIVE_UP_IF(count && lasts(timeout) && heal_would_sleep_poll(files, count));
	return REAL(ppoll)(files, count, timeout, mask);
}

INTERPOSER int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout)
{
	GIVE_UP_IF(count && (!timeout || timeout->tv_sec || timeout->tv_usec) &&
		   heal_would_sleep_select(count, reads, writes, others));
	return REAL(select)(count, reads, writes, others, timeout);
}

INTERPOSER int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
		       const struct timespec *timeout, const sigset_t *mask)
{
	GIVE_UP_IF(count && lasts(timeout) && heal_would_sleep_select(count, reads, writes, others));
	return REAL(pselect)(count, reads, writes, others, timeout, mask);
}

/* A file that tells of others can be asked itself, which takes nothing out of it. */
INTERPOSER int epoll_wait(int file, struct epoll_event *events, int count, int timeout)
{
	GIVE_UP_IF(timeout && heal_would_sleep(file, false));
	return REAL(epoll_wait)(file, events, count, timeout);
}

INTERPOSER int epoll_pwait(int file, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
	GIVE_UP_IF(timeout && heal_would_sleep(file, false));
	return REAL(epoll_pwait)(file, events, count, timeout, mask);
}

INTERPOSER int epoll_pwait2(int file, struct epoll_event *events, int count, const struct timespec *timeout,
			    const sigset_t *mask)
{
	GIVE_UP_IF(lasts(timeout) && heal_would_sleep(file, false));
	if (REAL(epoll_pwait2))
		return REAL(epoll_pwait2)(file, events, count, timeout, mask);
	errno = ENOSYS;
	return -1;
}

INTERPOSER int accept(int file, struct sockaddr *address, socklen_t *length)
{
	GIVE_UP_IF(heal_would_sleep(file, false));
	return REAL(accept)(file, address, length);
}

INTERPOSER int accept4(int file, struct sockaddr *address, socklen_t *length, int flags)
{
	GIVE_UP_IF(heal_would_sleep(file, false));
	return REAL(accept4)(file, address, length, flags);
}

/* ---- bytes ---- */

/* name, output, flags that say whether it waits, parameters, arguments */
#define MOVES(name, output, flags, parameters, arguments)                                \
	INTERPOSER ssize_t name parameters                                               \
	{                                                                                \
		GIVE_UP_IF(!((flags) & MSG_DONTWAIT) && heal_would_sleep(file, output)); \
		return REAL(name) arguments;                                             \
	}
MOVES(read, false, 0, (int file, void *to, size_t length), (file, to, length))
MOVES(__read_chk, false, 0, (int file, void *to, size_t length, size_t room), (file, to, length, room))
MOVES(readv, false, 0, (int file, const struct iovec *parts, int count), (file, parts, count))
MOVES(recv, false, flags, (int file, void *to, size_t length, int flags), (file, to, length, flags))
MOVES(__recv_chk, false, flags, (int file, void *to, size_t length, size_t room, int flags),
      (file, to, length, room, flags))
MOVES(recvfrom, false, flags,
      (int file, void *to, size_t length, int flags, struct sockaddr *from, socklen_t *from_length),
      (file, to, length, flags, from, from_length))
MOVES(__recvfrom_chk, false, flags,
      (int file, void *to, size_t length, size_t room, int flags, struct sockaddr *from,
       socklen_t *from_length),
      (file, to, length, room, flags, from, from_length))
MOVES(recvmsg, false, flags, (int file, struct msghdr *message, int flags), (file, message, flags))
MOVES(write, true, 0, (int file, const void *from, size_t length), (file, from, length))
MOVES(writev, true, 0, (int file, const struct iovec *parts, int count), (file, parts, count))
MOVES(send, true, flags, (int file, const void *from, size_t length, int flags), (file, from, length, flags))
MOVES(sendto, true, flags,
      (int file, const void *from, size_t length, int flags, const struct sockaddr *to, socklen_t to_length),
      (file, from, length, flags, to, to_length))
MOVES(sendmsg, true, flags, (int file, const struct msghdr *message, int flags), (file, message, flags))

/* ---- other processes ---- */

static bool child_sleeps(idtype_t type, id_t id, int flags)
{
	siginfo_t found = {.si_pid = 0};

	/* Asked, and left as it is. */
	return !(flags & WNOHANG) && !REAL(waitid)(type, id, &found, flags | WNOHANG | WNOWAIT) &&
	       !found.si_pid;
}

static bool wait4_sleeps(pid_t pid, int flags)
{
	int kinds = WEXITED | (flags & WUNTRACED ? WSTOPPED : 0) | (flags & (WCONTINUED | WNOHANG));

	return child_sleeps(pid > 0     ? P_PID
			    : pid == -1 ? P_ALL
					: P_PGID,
			    pid > 0    ? (id_t)pid
			    : pid < -1 ? (id_t)-pid
				       : 0,
			    kinds);
}

INTERPOSER pid_t wait(int *status)
{
	GIVE_UP_IF(wait4_sleeps(-1, 0));
	return REAL(wait)(status);
}

INTERPOSER pid_t waitpid(pid_t pid, int *status, int flags)
{
	GIVE_UP_IF(wait4_sleeps(pid, flags));
	return REAL(waitpid)(pid, status, flags);
}

INTERPOSER pid_t wait4(pid_t pid, int *status, int flags, struct rusage *usage)
{
	GIVE_UP_IF(wait4_sleeps(pid, flags));
	return REAL(wait4)(pid, status, flags, usage);
}

INTERPOSER int waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	GIVE_UP_IF(child_sleeps(type, id, flags));
	return REAL(waitid)(type, id, info, flags);
}
