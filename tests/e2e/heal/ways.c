/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections in all the company that a program can put them into: every kind of
 * lock, waits of every kind in the middle, other orders of locks, ways out that
 * skip the end. Healing must end each of these as the program would by itself,
 * and must heal those that can be: their names begin with "lost". Waits for files
 * are in files.c.
 *
 * A section reads `value` in get() and writes it in set(), called by a unit
 * that carries the mode's name. The pauses are where another thread comes in.
 *
 * usage: ways MODE
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 20 };

struct shared {
	pthread_mutex_t lock, other;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	mtx_t mtx;
	pthread_cond_t changed;
	pthread_barrier_t barrier;
	sem_t semaphore;
	long value;
	_Atomic long atomic;
	long expected;
	int ready;
};

static struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER,
			       .other = PTHREAD_MUTEX_INITIALIZER,
			       .rwlock = PTHREAD_RWLOCK_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER};
static atomic_int flag;
static jmp_buf back;

static void breathe(void)
{
	usleep(100);
}

/* ---- locks of every kind ---- */

static void lost_mutex(struct shared *s)
{
	long value;

	pthread_mutex_lock(&s->lock);
	value = s->value; /* entry lost_mutex */
	pthread_mutex_unlock(&s->lock);
	breathe();
	pthread_mutex_lock(&s->lock);
	s->value = value + 1; /* end lost_mutex */
	pthread_mutex_unlock(&s->lock);
}

enum { NESTED = 40 };
static pthread_mutex_t nested[NESTED];
static pthread_mutex_t recursive;

/* Locks inside of others, more than can be remembered; let go from the inside, from the outside and from the
 * middle; and one that is taken twice. */
static void lost_nested(struct shared *s)
{
	long value;

	for (int from = 0; from < NESTED; from += NESTED / 4) {
		for (int i = from; i < NESTED; i++)
			pthread_mutex_lock(&nested[i]);
		for (int i = from + 1; i < NESTED; i += 2)
			pthread_mutex_unlock(&nested[i]);
		for (int i = from; i < NESTED; i += 2)
			pthread_mutex_unlock(&nested[i]);
	}
	pthread_mutex_lock(&s->other);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&s->lock);
	value = s->value; /* entry lost_nested */
	pthread_mutex_unlock(&s->other);
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&recursive);
	breathe();
	pthread_mutex_lock(&s->other);
	pthread_mutex_lock(&s->lock);
	s->value = value + 1; /* end lost_nested */
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_unlock(&s->other);
}

static void lost_try(struct shared *s)
{
	long value;

	while (pthread_mutex_trylock(&s->lock))
		sched_yield();
	value = s->value; /* entry lost_try */
	pthread_mutex_unlock(&s->lock);
	breathe();
	while (pthread_mutex_trylock(&s->lock))
		sched_yield();
	s->value = value + 1; /* end lost_try */
	pthread_mutex_unlock(&s->lock);
}

static void lost_rwlock(struct shared *s)
{
	long value;

	pthread_rwlock_wrlock(&s->rwlock);
	value = s->value; /* entry lost_rwlock */
	pthread_rwlock_unlock(&s->rwlock);
	breathe();
	pthread_rwlock_wrlock(&s->rwlock);
	s->value = value + 1; /* end lost_rwlock */
	pthread_rwlock_unlock(&s->rwlock);
}

/* Read under the read lock: the second time round, when the call is known. */
static void lost_reader(struct shared *s)
{
	long value;

	pthread_rwlock_rdlock(&s->rwlock);
	breathe();
	value = s->value; /* entry lost_reader */
	pthread_rwlock_unlock(&s->rwlock);
	breathe();
	pthread_rwlock_wrlock(&s->rwlock);
	s->value = value + 1; /* end lost_reader */
	pthread_rwlock_unlock(&s->rwlock);
}

static void lost_spin(struct shared *s)
{
	long value;

	pthread_spin_lock(&s->spin);
	value = s->value; /* entry lost_spin */
	pthread_spin_unlock(&s->spin);
	breathe();
	pthread_spin_lock(&s->spin);
	s->value = value + 1; /* end lost_spin */
	pthread_spin_unlock(&s->spin);
}

static void lost_mtx(struct shared *s)
{
	long value;

	mtx_lock(&s->mtx);
	value = s->value; /* entry lost_mtx */
	mtx_unlock(&s->mtx);
	breathe();
	mtx_lock(&s->mtx);
	s->value = value + 1; /* end lost_mtx */
	mtx_unlock(&s->mtx);
}

static void lost_bare(struct shared *s)
{
	long value = s->value; /* entry lost_bare */

	breathe();
	s->value = value + 1; /* end lost_bare */
}

static void lost_atomic(struct shared *s)
{
	long value = atomic_load(&s->atomic); /* entry lost_atomic */

	breathe();
	atomic_store(&s->atomic, value + 1); /* end lost_atomic */
}

/* The unlocked entry, the locked end. */
static void lost_half(struct shared *s)
{
	long value = s->value; /* entry lost_half */

	breathe();
	pthread_mutex_lock(&s->lock);
	if (s->value == value)
		s->value = value + 1; /* end lost_half */
	else
		s->expected--;
	pthread_mutex_unlock(&s->lock);
}

/* ---- waits in the middle of a section ---- */

static void begin_section(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	s->value = s->value + 1; /* entry of all that wait or leave */
	pthread_mutex_unlock(&s->lock);
}

static void end_section(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	s->value = s->value + 1; /* end of all that wait or leave */
	pthread_mutex_unlock(&s->lock);
}

/* The other thread has `other` and comes to take `lock`; the section wants `other`. */
static void order(struct shared *s)
{
	begin_section(s);
	atomic_store(&flag, 1);
	breathe();
	pthread_mutex_lock(&s->other);
	s->ready++;
	pthread_mutex_unlock(&s->other);
	end_section(s);
}

static void *against(void *unused)
{
	pthread_mutex_lock(&shared.other);
	while (!atomic_load(&flag))
		sched_yield();
	pthread_mutex_lock(&shared.lock);
	shared.value++;
	pthread_mutex_unlock(&shared.lock);
	pthread_mutex_unlock(&shared.other);
	return unused;
}

static void condition(struct shared *s)
{
	begin_section(s);
	pthread_mutex_lock(&s->other);
	atomic_store(&flag, 1);
	while (!s->ready)
		pthread_cond_wait(&s->changed, &s->other);
	pthread_mutex_unlock(&s->other);
	end_section(s);
}

static void *signals(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	pthread_mutex_lock(&shared.lock);
	shared.value++;
	pthread_mutex_unlock(&shared.lock);
	pthread_mutex_lock(&shared.other);
	shared.ready = 1;
	pthread_cond_signal(&shared.changed);
	pthread_mutex_unlock(&shared.other);
	return unused;
}

static void *increments(void *unused)
{
	pthread_mutex_lock(&shared.lock);
	shared.value++;
	pthread_mutex_unlock(&shared.lock);
	return unused;
}

static void join(struct shared *s)
{
	pthread_t thread;

	begin_section(s);
	pthread_create(&thread, NULL, increments, NULL);
	pthread_join(thread, NULL);
	end_section(s);
}

static void barrier(struct shared *s)
{
	begin_section(s);
	atomic_store(&flag, 1);
	pthread_barrier_wait(&s->barrier);
	end_section(s);
}

static void *meets(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	pthread_barrier_wait(&shared.barrier);
	return unused;
}

static void semaphore(struct shared *s)
{
	begin_section(s);
	atomic_store(&flag, 1);
	sem_wait(&s->semaphore);
	end_section(s);
}

static void *posts(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	sem_post(&shared.semaphore);
	return unused;
}

/* Nobody can know that this waits for the other thread. */
static void spinning(struct shared *s)
{
	begin_section(s);
	atomic_store(&flag, 1);
	while (atomic_load(&flag) != 2)
		sched_yield();
	end_section(s);
}

static void *answers(void *unused)
{
	while (!atomic_load(&flag))
		sched_yield();
	increments(NULL);
	atomic_store(&flag, 2);
	return unused;
}

static void *stands_by(void *unused)
{
	atomic_store(&flag, 1);
	while (atomic_load(&flag))
		sched_yield();
	return unused;
}

/* ---- ways out ---- */

static void leaves(struct shared *s)
{
	begin_section(s);
	if (s)
		return;
	end_section(s);
}

static void jump(struct shared *s)
{
	begin_section(s);
	longjmp(back, 1);
	end_section(s);
}

static void forks(struct shared *s)
{
	pid_t child;
	int status = -1;

	begin_section(s);
	child = fork();
	if (!child) {
		/* Alone here: nobody else's gate may be in the way, nor our own. */
		increments(NULL);
		end_section(s);
		_exit(0);
	}
	waitpid(child, &status, 0);
	end_section(s);
	if (status)
		exit(3);
}

static void fork_in_section(struct shared *s)
{
	forks(s); /* the unit is called fork for the test's sake */
}

static void *ends(void *unused)
{
	begin_section(&shared);
	pthread_exit(unused);
	end_section(&shared);
}

static void *cancelled(void *unused)
{
	begin_section(&shared);
	atomic_store(&flag, 1);
	for (;;)
		usleep(1000);
	end_section(&shared);
	return unused;
}

/* ---- running ---- */

static void (*unit)(struct shared *s);

static void *rounds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		unit(&shared);
	return unused;
}

static void *once(void *unused)
{
	if (!setjmp(back))
		unit(&shared);
	increments(NULL);
	return unused;
}

static const struct {
	const char *name;
	void (*unit)(struct shared *s);
	void *(*first)(void *), *(*second)(void *);
	long expected;
} modes[] = {
	{"lost_mutex", lost_mutex, rounds, NULL, THREADS * ROUNDS},
	{"lost_nested", lost_nested, rounds, NULL, THREADS * ROUNDS},
	{"lost_try", lost_try, rounds, NULL, THREADS * ROUNDS},
	{"lost_rwlock", lost_rwlock, rounds, NULL, THREADS * ROUNDS},
	{"lost_reader", lost_reader, rounds, NULL, THREADS * ROUNDS},
	{"lost_spin", lost_spin, rounds, NULL, THREADS * ROUNDS},
	{"lost_mtx", lost_mtx, rounds, NULL, THREADS * ROUNDS},
	{"lost_bare", lost_bare, rounds, NULL, THREADS * ROUNDS},
	{"lost_atomic", lost_atomic, rounds, NULL, THREADS * ROUNDS},
	{"lost_half", lost_half, rounds, NULL, THREADS * ROUNDS},
	{"order", order, once, against, 4},
	{"condition", condition, once, signals, 4},
	{"join", join, once, increments, 5},
	{"barrier", barrier, once, meets, 4},
	{"semaphore", semaphore, once, posts, 4},
	{"spinning", spinning, once, answers, 4},
	{"leaves", leaves, once, increments, 3},
	{"jump", jump, once, increments, 3},
	{"fork", fork_in_section, once, increments, 4},
	{"ends", NULL, ends, increments, 2},
	{"cancelled", NULL, cancelled, increments, 2},
};

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	pthread_mutexattr_t twice;
	unsigned n = 0, count;

	while (n < sizeof modes / sizeof *modes && (argc < 2 || strcmp(argv[1], modes[n].name)))
		n++;
	if (n == sizeof modes / sizeof *modes)
		return 2;
	unit = modes[n].unit;
	shared.expected = modes[n].expected;
	for (int i = 0; i < NESTED; i++)
		pthread_mutex_init(&nested[i], NULL);
	pthread_mutexattr_init(&twice);
	pthread_mutexattr_settype(&twice, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &twice);
	pthread_spin_init(&shared.spin, 0);
	mtx_init(&shared.mtx, mtx_plain);
	pthread_barrier_init(&shared.barrier, NULL, 2);
	sem_init(&shared.semaphore, 0, 0);
	count = modes[n].second ? 2 : THREADS;
	/* What is learned in a first pass is learned here, beside a thread that has nothing to do with it. */
	if (unit == lost_reader) {
		if (pthread_create(&threads[0], NULL, stands_by, NULL))
			return 2;
		while (!atomic_load(&flag))
			sched_yield();
		unit(&shared);
		shared.expected++;
		atomic_store(&flag, 0);
		pthread_join(threads[0], NULL);
	}
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, i && modes[n].second ? modes[n].second : modes[n].first,
				   NULL))
			return 2;
	if (!strcmp(modes[n].name, "cancelled")) {
		while (!atomic_load(&flag))
			sched_yield();
		pthread_cancel(threads[0]);
	}
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %ld\n", shared.value + atomic_load(&shared.atomic), shared.expected);
	return shared.value + atomic_load(&shared.atomic) != shared.expected;
}
