/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Healing in a program that was built to be tested: the repository is read when
 * the program starts, its places are looked up among the sites, and every
 * access comes by here (rt/watch.h). The healing itself is in rt/heal_gate.h
 * and the files that it names.
 *
 *   heal.c             hooks and operations
 *   heal_repository.c  the repository, and which site means what
 *   heal_results.c     what came of it
 */
#ifndef ATOMSAN_RT_HEAL_H
#define ATOMSAN_RT_HEAL_H

#include "rt/heal_gate.h"
#include "rt/rt.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/select.h>

#pragma GCC visibility push(hidden)

/* ---- for watch.c ---- */

bool heal_start(void);   /* true: there is something to heal */
void heal_creates(void); /* a second thread is about to be */
void heal_thread_begin(void);
void heal_thread_end(void);
void heal_fork_child(void);
/* A module of the program, when it is registered; `build` is its build-id in hexadecimal. */
void heal_module(const struct atomsan_site *sites, uint64_t count, uint64_t first,
		 const struct atomsan_function *functions, uint64_t function_count);

void heal_on_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site);
void heal_on_store(const void *p);
void heal_on_atomic(const void *p, const struct atomsan_site *site);
void heal_on_atomic_done(void);
/* All parts have looked at the access: it happens now. */
void heal_on_return(void);
void heal_on_before(const void *object, const struct atomsan_site *site);
void heal_on_op(enum trace_op op, const void *object);

/* ---- for interposers ---- */

extern bool heal_on;   /* as rt_watching & WATCH_HEAL, and the program has a second thread */
bool heal_looks(void); /* the program's own doing, and there is something to heal */
/* About to wait for others: what the thread has is given up. NULL, or the mutex that a wait for a condition
 * lets go and has again at the end. */
void heal_on_wait(const void *mutex);
void heal_on_waited(pthread_mutex_t *mutex);

/* Would it sleep (heal_sleep.c)? A file that was opened never to does not. */
struct pollfd;
bool heal_may_sleep(int file);
bool heal_would_sleep(int file, bool output);
bool heal_would_sleep_poll(struct pollfd *files, unsigned long count);
bool heal_would_sleep_select(int count, const fd_set *reads, const fd_set *writes, const fd_set *others);

/* Semaphores (heal_semaphore.c). */
enum heal_semaphore {
	HEAL_SEMAPHORE_TAKEN,
	HEAL_SEMAPHORE_WAIT,  /* to be waited for, if there is none */
	HEAL_SEMAPHORE_AGAIN, /* the same, and then it is given back, and all begins anew */
};
/* The thread is about to take one from a semaphore; `attempt` takes it without waiting, or is not 0. */
enum heal_semaphore heal_semaphore_before(sem_t *semaphore, int (*attempt)(sem_t *));
/* The value of `wait`, 0 if it got one. */
#define HEAL_SEMAPHORE(semaphore, attempt, post, wait)                                             \
	({                                                                                         \
		enum heal_semaphore how_;                                                          \
		unsigned tries_ = 0;                                                               \
		int got_;                                                                          \
                                                                                                   \
		while ((how_ = heal_on_semaphore(semaphore, attempt),                              \
			got_ = how_ == HEAL_SEMAPHORE_TAKEN ? 0 : (wait),                          \
			!got_ && how_ == HEAL_SEMAPHORE_AGAIN && tries_++ < HEAL_SEMAPHORE_TRIES)) \
			(void)(post);                                                              \
		got_;                                                                              \
	})
enum { HEAL_SEMAPHORE_TRIES = 8 };
enum heal_semaphore heal_on_semaphore(sem_t *semaphore, int (*attempt)(sem_t *));

/*
 * The value of `lock`, 0 if it got the thing. If somebody has a section there who
 * closed the gate before, it is given back by `unlock`, and taken anew when the
 * section is over.
 */
#define HEAL_LOCK(thing, lock, unlock)                                                          \
	({                                                                                      \
		int got_;                                                                       \
                                                                                                \
		while (!(got_ = (lock)) && unlikely(heal_on) && !heal_idle() && heal_looks() && \
		       heal_lock_barred((const void *)(thing))) {                               \
			(void)(unlock);                                                         \
			heal_wake_scheduled((const void *)(thing));                             \
			heal_lock_before((const void *)(thing));                                \
		}                                                                               \
		if (unlikely(got_ && heal_on) && heal_looks())                                  \
			heal_lock_failed();                                                     \
		got_;                                                                           \
	})
/* Before an attempt of the scheduler's. */
#define HEAL_ATTEMPT(thing)                                      \
	do {                                                     \
		if (unlikely(heal_on) && heal_looks())           \
			heal_lock_before((const void *)(thing)); \
	} while (0)

/* ---- between the files ---- */

struct heal_unit {
	const struct atomsan_function *functions[4];
	uint32_t count;
	bool entry, end; /* whether some module has them */
};
extern struct atomsan_heal_section *heal_sections;
extern struct heal_unit *heal_units; /* of each section */
extern uint32_t heal_section_count;

/* What the site means; NULL: nothing. */
const struct atomsan_heal_place *heal_place_of(const struct atomsan_site *site);
bool heal_repository_read(const char *path);
/* Once, when all modules that the program begins with are known: sections that none of them has. */
void heal_say_lost(void);

#pragma GCC visibility pop

#endif
