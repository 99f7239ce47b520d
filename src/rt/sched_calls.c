/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that sleep in the kernel, for the scheduler, and for healing, which gives
 * up before a call that waits for others what others might wait for: nothing of them is
 * recorded. Where a call can be asked whether it would sleep it is; if not, it
 * is made with the token in hand, and the run stays the same every time. One
 * that sleeps gives the token away and comes back for it.
 *
 * To sleep for some time orders nothing: any other thread might have been as
 * slow as that. So a sleeper may go on whenever it is chosen, and then sleeps
 * what is left of its time.
 *
 * A call that is not here is found asleep after a while; see sched.c.
 */
#include "rt/heal.h"
#include "rt/real.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The value of a call that may sleep, made while others run. */
#define AWAY(me, call)                           \
	({                                       \
		__typeof__(call) value_;         \
                                                 \
		sched_away(me, (me)->last_site); \
		value_ = (call);                 \
		sched_back(me);                  \
		value_;                          \
	})

bool sched_would_sleep(int file, bool output)
{
	struct pollfd ask = {file, output ? POLLOUT : POLLIN, 0};
	struct timespec none = {0, 0};

	/* An error is the call's to tell. */
	return sys6(ppoll, &ask, 1, &none, NULL, 8, 0) == 0;
}

/* Before a call that waits for others: sections are given up, if nothing is there yet. To sleep for some time
 * is no such wait: bugs are made of it. */
#define HEAL_ASLEEP(sleeps)                                                                       \
	do {                                                                                      \
		if (unlikely(heal_on) && (heal_self.open_count || heal_self.pending) && (sleeps)) \
			heal_on_wait(NULL);                                                       \
	} while (0)

static bool lasts(const struct timespec *timeout)
{
	return !timeout || timeout->tv_sec || timeout->tv_nsec;
}

/* ---- time ---- */

static uint64_t nanoseconds(const struct timespec *t)
{
	return t->tv_sec < 0 || t->tv_nsec < 0 ? 0
					       : (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_nsec;
}

/* Sleeps until then, with the token if nobody can come back for it meanwhile. */
static void sleep_until(struct sched_thread *me, uint64_t end)
{
	uint64_t now;

	sched_pause(me, me->last_site);
	now = sched_now();
	if (now < end) {
		struct timespec left = {(time_t)((end - now) / 1000000000), (long)((end - now) % 1000000000)};

		sched_sleep(me, &left);
	}
}

INTERPOSER int nanosleep(const struct timespec *time, struct timespec *left)
{
	struct sched_thread *me = sched_me();

	if (likely(!me) || time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
		return REAL(nanosleep)(time, left);
	sleep_until(me, sched_now() + nanoseconds(time));
	return 0;
}

INTERPOSER int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
	struct sched_thread *me = sched_me();

	if (likely(!me) || time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	sleep_until(me,
		    flags & TIMER_ABSTIME ? sched_deadline(clock, time) : sched_now() + nanoseconds(time));
	return 0;
}

INTERPOSER int usleep(useconds_t time)
{
	struct sched_thread *me = sched_me();

	if (likely(!me))
		return REAL(usleep)(time);
	sleep_until(me, sched_now() + time * 1000ull);
	return 0;
}

INTERPOSER unsigned sleep(unsigned time)
{
	struct sched_thread *me = sched_me();

	if (likely(!me))
		return REAL(sleep)(time);
	sleep_until(me, sched_now() + time * 1000000000ull);
	return 0;
}

INTERPOSER int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	struct sched_thread *me = sched_me();

	if (likely(!me) || time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= 1000000000)
		return REAL(thrd_sleep)(time, left);
	sleep_until(me, sched_now() + nanoseconds(time));
	return 0;
}

INTERPOSER int sched_yield(void)
{
	struct sched_thread *me = sched_me();

	if (likely(!me))
		return REAL(sched_yield)();
	sched_pause(me, me->last_site);
	return 0;
}

INTERPOSER int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	int result = REAL(sched_getaffinity)(pid, bytes, set);

	if (!result)
		sched_cpu_hide(pid, bytes, set);
	return result;
}

INTERPOSER int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t *set)
{
	int error = REAL(pthread_getaffinity_np)(thread, bytes, set);

	if (!error)
		sched_cpu_hide(0, bytes, set);
	return error;
}

INTERPOSER void thrd_yield(void)
{
	sched_yield();
}

/* In a loop that does nothing else that the scheduler would see. */
INTERPOSER void pthread_testcancel(void)
{
	struct sched_thread *me = sched_me();

	if (unlikely(me))
		sched_pause(me, me->last_site);
	REAL(pthread_testcancel)();
}

/* ---- descriptors ---- */

INTERPOSER int poll(struct pollfd *files, nfds_t count, int timeout)
{
	struct sched_thread *me = sched_me();
	int ready;

	HEAL_ASLEEP(count && timeout && heal_would_sleep_poll(files, count));
	if (likely(!me))
		return REAL(poll)(files, count, timeout);
	ready = REAL(poll)(files, count, 0);
	if (ready)
		return ready;
	if (!timeout) {
		sched_pause(me, me->last_site);
		return 0;
	}
	return AWAY(me, REAL(poll)(files, count, timeout));
}

INTERPOSER int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(count && lasts(timeout) && heal_would_sleep_poll(files, count));
	if (likely(!me))
		return REAL(ppoll)(files, count, timeout, mask);
	return AWAY(me, REAL(ppoll)(files, count, timeout, mask));
}

INTERPOSER int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(count && (!timeout || timeout->tv_sec || timeout->tv_usec) &&
		    heal_would_sleep_select(count, reads, writes, others));
	if (likely(!me))
		return REAL(select)(count, reads, writes, others, timeout);
	return AWAY(me, REAL(select)(count, reads, writes, others, timeout));
}

INTERPOSER int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
		       const struct timespec *timeout, const sigset_t *mask)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(count && lasts(timeout) && heal_would_sleep_select(count, reads, writes, others));
	if (likely(!me))
		return REAL(pselect)(count, reads, writes, others, timeout, mask);
	return AWAY(me, REAL(pselect)(count, reads, writes, others, timeout, mask));
}

/* A file that tells of others is asked itself: what it says once it may not say again. */
INTERPOSER int epoll_wait(int file, struct epoll_event *events, int count, int timeout)
{
	struct sched_thread *me = sched_me();
	int ready;

	HEAL_ASLEEP(timeout && heal_would_sleep(file, false));
	if (likely(!me))
		return REAL(epoll_wait)(file, events, count, timeout);
	ready = REAL(epoll_wait)(file, events, count, 0);
	if (ready || !timeout)
		return ready;
	return AWAY(me, REAL(epoll_wait)(file, events, count, timeout));
}

INTERPOSER int epoll_pwait(int file, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
{
	struct sched_thread *me = sched_me();
	int ready;

	HEAL_ASLEEP(timeout && heal_would_sleep(file, false));
	if (likely(!me))
		return REAL(epoll_pwait)(file, events, count, timeout, mask);
	ready = REAL(epoll_pwait)(file, events, count, 0, mask);
	if (ready || !timeout)
		return ready;
	return AWAY(me, REAL(epoll_pwait)(file, events, count, timeout, mask));
}

INTERPOSER int epoll_pwait2(int file, struct epoll_event *events, int count, const struct timespec *timeout,
			    const sigset_t *mask)
{
	struct sched_thread *me = sched_me();
	int ready;

	/* Where libc has none, the program would not have been linked without us. */
	if (!REAL(epoll_pwait2)) {
		errno = ENOSYS;
		return -1;
	}
	HEAL_ASLEEP(lasts(timeout) && heal_would_sleep(file, false));
	if (likely(!me))
		return REAL(epoll_pwait2)(file, events, count, timeout, mask);
	ready = REAL(epoll_pwait)(file, events, count, 0, mask);
	if (ready || !lasts(timeout))
		return ready;
	return AWAY(me, REAL(epoll_pwait2)(file, events, count, timeout, mask));
}

INTERPOSER int accept(int file, struct sockaddr *address, socklen_t *length)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(heal_would_sleep(file, false));
	if (likely(!me) || !sched_would_sleep(file, false))
		return REAL(accept)(file, address, length);
	return AWAY(me, REAL(accept)(file, address, length));
}

INTERPOSER int accept4(int file, struct sockaddr *address, socklen_t *length, int flags)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(heal_would_sleep(file, false));
	if (likely(!me) || !sched_would_sleep(file, false))
		return REAL(accept4)(file, address, length, flags);
	return AWAY(me, REAL(accept4)(file, address, length, flags));
}

INTERPOSER int connect(int file, const struct sockaddr *address, socklen_t length)
{
	struct sched_thread *me = sched_me();

	if (likely(!me))
		return REAL(connect)(file, address, length);
	return AWAY(me, REAL(connect)(file, address, length));
}

/* ---- processes and signals ---- */

INTERPOSER pid_t wait4(pid_t pid, int *status, int flags, struct rusage *usage)
{
	struct sched_thread *me = sched_me();
	pid_t got;

	if (likely(!me && !heal_on))
		return REAL(wait4)(pid, status, flags, usage);
	got = REAL(wait4)(pid, status, flags | WNOHANG, usage);
	if (got || flags & WNOHANG)
		return got;
	HEAL_ASLEEP(true);
	return me ? AWAY(me, REAL(wait4)(pid, status, flags, usage)) : REAL(wait4)(pid, status, flags, usage);
}

INTERPOSER pid_t waitpid(pid_t pid, int *status, int flags)
{
	return likely(!sched_me() && !heal_on) ? REAL(waitpid)(pid, status, flags)
					       : wait4(pid, status, flags, NULL);
}

INTERPOSER pid_t wait(int *status)
{
	return likely(!sched_me() && !heal_on) ? REAL(wait)(status) : wait4(-1, status, 0, NULL);
}

static bool child_sleeps(idtype_t type, id_t id, int flags)
{
	siginfo_t found = {.si_pid = 0};

	return !(flags & WNOHANG) && !REAL(waitid)(type, id, &found, flags | WNOHANG | WNOWAIT) &&
	       !found.si_pid;
}

INTERPOSER int waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	struct sched_thread *me = sched_me();

	HEAL_ASLEEP(child_sleeps(type, id, flags));
	if (likely(!me))
		return REAL(waitid)(type, id, info, flags);
	return AWAY(me, REAL(waitid)(type, id, info, flags));
}

INTERPOSER int sigwait(const sigset_t *set, int *number)
{
	struct sched_thread *me = sched_me();

	return likely(!me) ? REAL(sigwait)(set, number) : AWAY(me, REAL(sigwait)(set, number));
}

INTERPOSER int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	struct sched_thread *me = sched_me();

	return likely(!me) ? REAL(sigwaitinfo)(set, info) : AWAY(me, REAL(sigwaitinfo)(set, info));
}

INTERPOSER int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct sched_thread *me = sched_me();

	return likely(!me) ? REAL(sigtimedwait)(set, info, timeout)
			   : AWAY(me, REAL(sigtimedwait)(set, info, timeout));
}

INTERPOSER int sigsuspend(const sigset_t *mask)
{
	struct sched_thread *me = sched_me();

	return likely(!me) ? REAL(sigsuspend)(mask) : AWAY(me, REAL(sigsuspend)(mask));
}

INTERPOSER int pause(void)
{
	struct sched_thread *me = sched_me();

	return likely(!me) ? REAL(pause)() : AWAY(me, REAL(pause)());
}
