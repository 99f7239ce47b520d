/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The functions that stand behind the runtime's interposers: libc's own, found
 * with dlsym(RTLD_NEXT). REAL(name)(...) calls one. The table is filled at the
 * start of the program, or by the first interposer that a constructor or ld.so
 * calls before that; filling it twice at once writes the same values twice.
 *
 * What the allocator needs is not here: ld.so calls malloc before dlsym works,
 * so heap.c calls glibc's __libc_malloc and its kin by name.
 */
#ifndef ATOMSAN_RT_REAL_H
#define ATOMSAN_RT_REAL_H

#include "rt/real_locks.h"

#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

struct rusage;

#define REAL_FUNCTIONS(F)                                                                                  \
	REAL_LOCK_FUNCTIONS(F)                                                                             \
	REAL_SLEEP_FUNCTIONS(F)                                                                            \
	F(int, pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *), NULL)                 \
	F(int, pthread_mutex_destroy, (pthread_mutex_t *), NULL)                                           \
	F(int, pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *), NULL)              \
	F(int, pthread_rwlock_destroy, (pthread_rwlock_t *), NULL)                                         \
	F(int, pthread_spin_init, (pthread_spinlock_t *, int), NULL)                                       \
	F(int, pthread_spin_destroy, (pthread_spinlock_t *), NULL)                                         \
	F(int, pthread_cond_signal, (pthread_cond_t *), "GLIBC_2.3.2")                                     \
	F(int, pthread_cond_broadcast, (pthread_cond_t *), "GLIBC_2.3.2")                                  \
	F(int, pthread_barrier_init, (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned), NULL) \
	F(int, sem_init, (sem_t *, int, unsigned), NULL)                                                   \
	F(sem_t *, sem_open, (const char *, int, ...), NULL)                                               \
	F(int, sem_close, (sem_t *), NULL)                                                                 \
	F(int, sem_post, (sem_t *), NULL)                                                                  \
	F(int, sem_trywait, (sem_t *), NULL)                                                               \
	F(int, pthread_once, (pthread_once_t *, void (*)(void)), NULL)                                     \
	F(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), NULL)     \
	F(int, pthread_tryjoin_np, (pthread_t, void **), NULL)                                             \
	F(int, pthread_detach, (pthread_t), NULL)                                                          \
	F(int, pthread_cancel, (pthread_t), NULL)                                                          \
	F(void, pthread_exit, (void *)__attribute__((noreturn)), NULL)                                     \
	F(int, thrd_create, (thrd_t *, thrd_start_t, void *), NULL)                                        \
	F(int, thrd_detach, (thrd_t), NULL)                                                                \
	F(void, thrd_exit, (int)__attribute__((noreturn)), NULL)                                           \
	F(int, mtx_init, (mtx_t *, int), NULL)                                                             \
	F(void, mtx_destroy, (mtx_t *), NULL)                                                              \
	F(int, cnd_signal, (cnd_t *), NULL)                                                                \
	F(int, cnd_broadcast, (cnd_t *), NULL)                                                             \
	F(void *, mmap, (void *, size_t, int, int, int, off_t), NULL)                                      \
	F(int, munmap, (void *, size_t), NULL)                                                             \
	F(void *, mremap, (void *, size_t, size_t, int, ...), NULL)                                        \
	F(pid_t, fork, (void), NULL)                                                                       \
	F(pid_t, _Fork, (void), NULL)                                                                      \
	F(int, execve, (const char *, char *const[], char *const[]), NULL)                                 \
	F(int, execvpe, (const char *, char *const[], char *const[]), NULL)                                \
	F(int, fexecve, (int, char *const[], char *const[]), NULL)                                         \
	F(int, execveat, (int, const char *, char *const[], char *const[], int), NULL)                     \
	F(void, _exit, (int)__attribute__((noreturn)), NULL)                                               \
	F(void, quick_exit, (int)__attribute__((noreturn)), "GLIBC_2.24")                                  \
	F(void, __assert_fail,                                                                             \
	  (const char *, const char *, unsigned, const char *)__attribute__((noreturn)), NULL)             \
	F(void, abort, (void)__attribute__((noreturn)), NULL)                                              \
	F(int, semop, (int, struct sembuf *, size_t), NULL)                                                \
	F(int, semtimedop, (int, struct sembuf *, size_t, const struct timespec *), NULL)                  \
	F(int, msgsnd, (int, const void *, size_t, int), NULL)                                             \
	F(ssize_t, msgrcv, (int, void *, size_t, long, int), NULL)                                         \
	F(int, mq_send, (mqd_t, const char *, size_t, unsigned), NULL)                                     \
	F(int, mq_timedsend, (mqd_t, const char *, size_t, unsigned, const struct timespec *), NULL)       \
	F(ssize_t, mq_receive, (mqd_t, char *, size_t, unsigned *), NULL)                                  \
	F(ssize_t, mq_timedreceive, (mqd_t, char *, size_t, unsigned *, const struct timespec *), NULL)    \
	F(int, clone, (int (*)(void *), void *, int, void *, ...), NULL)                                   \
	F(int, sigaction, (int, const struct sigaction *, struct sigaction *), NULL)                       \
	F(sighandler_t, signal, (int, sighandler_t), NULL)                                                 \
	F(sighandler_t, sysv_signal, (int, sighandler_t), NULL)                                            \
	F(sighandler_t, sigset, (int, sighandler_t), NULL)                                                 \
	F(int, nanosleep, (const struct timespec *, struct timespec *), NULL)                              \
	F(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *), NULL)        \
	F(int, usleep, (unsigned), NULL)                                                                   \
	F(unsigned, sleep, (unsigned), NULL)                                                               \
	F(int, thrd_sleep, (const struct timespec *, struct timespec *), NULL)                             \
	F(int, sched_getaffinity, (pid_t, size_t, cpu_set_t *), NULL)                                      \
	F(int, pthread_getaffinity_np, (pthread_t, size_t, cpu_set_t *), NULL)                             \
	F(int, sched_yield, (void), NULL)                                                                  \
	F(int, connect, (int, const struct sockaddr *, unsigned), NULL)                                    \
	F(int, sigwait, (const sigset_t *, int *), NULL)                                                   \
	F(int, sigwaitinfo, (const sigset_t *, siginfo_t *), NULL)                                         \
	F(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *), NULL)               \
	F(int, sigsuspend, (const sigset_t *), NULL)                                                       \
	F(void, pthread_testcancel, (void), NULL)                                                          \
	F(int, pause, (void), NULL)                                                                        \
	F(long, syscall, (long, ...), NULL)                                                                \
	F(size_t, malloc_usable_size, (void *), "GLIBC_2.2.5")

struct real_table {
	bool ready;
#define F(result, name, parameters, version) result(*name) parameters;
	REAL_FUNCTIONS(F)
#undef F
};
extern struct real_table real_table;

/* Called by the start of the runtime, before recording begins. */
void rt_real_init(void);

static inline const struct real_table *real_get(void)
{
	if (__builtin_expect(!__atomic_load_n(&real_table.ready, __ATOMIC_ACQUIRE), 0))
		rt_real_init();
	return &real_table;
}
#define REAL(name) (real_get()->name)

#endif
