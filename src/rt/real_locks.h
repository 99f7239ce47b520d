/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of libc that lock and wait for other threads: both runtimes stand in front of these. */
#ifndef ATOMSAN_RT_REAL_LOCKS_H
#define ATOMSAN_RT_REAL_LOCKS_H

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <threads.h>

/*
 * F(result, name, parameters, version). The version is named where libc keeps
 * an incompatible older function under the same name; elsewhere all versions
 * are the same code and any will do.
 */
#define REAL_LOCK_FUNCTIONS(F)                                                                             \
	F(int, pthread_mutex_lock, (pthread_mutex_t *), NULL)                                              \
	F(int, pthread_mutex_trylock, (pthread_mutex_t *), NULL)                                           \
	F(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *), NULL)                \
	F(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *), NULL)     \
	F(int, pthread_mutex_unlock, (pthread_mutex_t *), NULL)                                            \
	F(int, pthread_rwlock_rdlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *), NULL)                                       \
	F(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *), NULL)            \
	F(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL) \
	F(int, pthread_rwlock_wrlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *), NULL)                                       \
	F(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *), NULL)            \
	F(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL) \
	F(int, pthread_rwlock_unlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_spin_lock, (pthread_spinlock_t *), NULL)                                            \
	F(int, pthread_spin_trylock, (pthread_spinlock_t *), NULL)                                         \
	F(int, pthread_spin_unlock, (pthread_spinlock_t *), NULL)                                          \
	F(int, mtx_lock, (mtx_t *), NULL)                                                                  \
	F(int, mtx_trylock, (mtx_t *), NULL)                                                               \
	F(int, mtx_timedlock, (mtx_t *, const struct timespec *), NULL)                                    \
	F(int, mtx_unlock, (mtx_t *), NULL)                                                                \
	F(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *), "GLIBC_2.3.2")                    \
	F(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *),     \
	  "GLIBC_2.3.2")                                                                                   \
	F(int, pthread_cond_clockwait,                                                                     \
	  (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *), NULL)                 \
	F(int, cnd_wait, (cnd_t *, mtx_t *), NULL)                                                         \
	F(int, cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *), NULL)                           \
	F(int, pthread_barrier_wait, (pthread_barrier_t *), NULL)                                          \
	F(int, sem_wait, (sem_t *), NULL)                                                                  \
	F(int, sem_timedwait, (sem_t *, const struct timespec *), NULL)                                    \
	F(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *), NULL)                         \
	F(int, pthread_join, (pthread_t, void **), NULL)                                                   \
	F(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *), NULL)                  \
	F(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *), NULL)       \
	F(int, thrd_join, (thrd_t, int *), NULL)

/* Those that sleep in the kernel until others have done something. */
struct epoll_event;
struct iovec;
struct msghdr;
struct pollfd;
struct rusage;
struct sockaddr;
#define REAL_SLEEP_FUNCTIONS(F)                                                                           \
	F(int, poll, (struct pollfd *, unsigned long, int), NULL)                                         \
	F(int, ppoll, (struct pollfd *, unsigned long, const struct timespec *, const sigset_t *), NULL)  \
	F(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *), NULL)                       \
	F(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *),   \
	  NULL)                                                                                           \
	F(int, epoll_wait, (int, struct epoll_event *, int, int), NULL)                                   \
	F(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *), NULL)                \
	F(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *), \
	  NULL)                                                                                           \
	F(int, accept, (int, struct sockaddr *, unsigned *), NULL)                                        \
	F(int, accept4, (int, struct sockaddr *, unsigned *, int), NULL)                                  \
	F(pid_t, wait, (int *), NULL)                                                                     \
	F(pid_t, waitpid, (pid_t, int *, int), NULL)                                                      \
	F(pid_t, wait4, (pid_t, int *, int, struct rusage *), NULL)                                       \
	F(int, waitid, (idtype_t, id_t, siginfo_t *, int), NULL)

/* Those that move bytes: the runtime that tests sees what they do to memory, and calls them by their names.
 */
#define REAL_FILE_FUNCTIONS(F)                                                                              \
	F(ssize_t, read, (int, void *, size_t), NULL)                                                       \
	F(ssize_t, __read_chk, (int, void *, size_t, size_t), NULL)                                         \
	F(ssize_t, readv, (int, const struct iovec *, int), NULL)                                           \
	F(ssize_t, recv, (int, void *, size_t, int), NULL)                                                  \
	F(ssize_t, __recv_chk, (int, void *, size_t, size_t, int), NULL)                                    \
	F(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, unsigned *), NULL)               \
	F(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, struct sockaddr *, unsigned *), NULL) \
	F(ssize_t, recvmsg, (int, struct msghdr *, int), NULL)                                              \
	F(ssize_t, write, (int, const void *, size_t), NULL)                                                \
	F(ssize_t, writev, (int, const struct iovec *, int), NULL)                                          \
	F(ssize_t, send, (int, const void *, size_t, int), NULL)                                            \
	F(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, unsigned), NULL)       \
	F(ssize_t, sendmsg, (int, const struct msghdr *, int), NULL)

/* libc's own; NULL where this libc has none. */
static inline void *real_find(const char *name, const char *version)
{
	void *function = version ? dlvsym(RTLD_NEXT, name, version) : NULL;

	return function ? function : dlsym(RTLD_NEXT, name);
}

#endif
