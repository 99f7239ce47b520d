/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Programs without a race, each a MODE, that a race detector may well be wrong
 * about: locks of their own making, memory that changes hands, accesses that
 * only the optimiser makes, neighbours, handlers. None may be reported.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 300 };
static pthread_barrier_t together;

/* What the modes share. */
static long counter, mirror;
static struct pair {
	int x, y;
} pairs[1024];
static struct flags {
	unsigned first : 3, second : 5;
	unsigned : 0;
	unsigned third : 4;
} flags;
static int shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void both(void)
{
	counter++;
	mirror = counter;
}

static void spin_lock(int id)
{
	static atomic_int taken;

	for (int i = 0; i < ROUNDS; i++) {
		while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
			sched_yield();
		both();
		atomic_store_explicit(&taken, 0, memory_order_release);
	}
}

static void cas_lock(int id)
{
	static atomic_int owner;

	for (int i = 0; i < ROUNDS; i++) {
		int nobody = 0;

		while (!atomic_compare_exchange_weak(&owner, &nobody, id + 1)) {
			nobody = 0;
			sched_yield();
		}
		both();
		atomic_store(&owner, 0);
	}
}

static void ticket_lock(int id)
{
	static atomic_uint next, serving;

	for (int i = 0; i < ROUNDS; i++) {
		unsigned mine = atomic_fetch_add(&next, 1);

		while (atomic_load_explicit(&serving, memory_order_acquire) != mine)
			sched_yield();
		both();
		atomic_store_explicit(&serving, mine + 1, memory_order_release);
	}
}

/* 0 free, 1 taken, 2 taken and waited for. */
static void futex_lock(int id)
{
	static atomic_int word;

	for (int i = 0; i < ROUNDS; i++) {
		int seen = 0;

		if (!atomic_compare_exchange_strong(&word, &seen, 1))
			while (atomic_exchange(&word, 2))
				syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
		both();
		if (atomic_exchange(&word, 0) == 2)
			syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	}
}

/* The lock is a pipe with one byte in it. */
static void pipe_lock(int id)
{
	static int ends[2];
	char token = 0;

	if (id == 0 && (pipe(ends) || write(ends[1], &token, 1) != 1))
		abort();
	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		if (read(ends[0], &token, 1) != 1)
			abort();
		both();
		if (write(ends[1], &token, 1) != 1)
			abort();
	}
}

/* Written, then published; read once it is seen to be. */
static void publication(int id)
{
	static _Atomic(struct pair *) slot;

	for (int i = 0; i < ROUNDS; i++) {
		if (id == 0) {
			struct pair *fresh = malloc(sizeof *fresh);

			fresh->x = fresh->y = i;
			fresh = atomic_exchange_explicit(&slot, fresh, memory_order_acq_rel);
			free(fresh);
		} else {
			struct pair *taken = atomic_exchange_explicit(&slot, NULL, memory_order_acq_rel);

			if (taken && taken->x++ != taken->y)
				abort();
			free(taken);
		}
	}
}

/* Blocks go from thread to thread through malloc alone. */
static void blocks(int id)
{
	for (int i = 0; i < ROUNDS * 4; i++) {
		char *block = malloc(64);

		memset(block, id, 64);
		block[i % 64]++;
		block = realloc(block, 128);
		block[127] = (char)i;
		free(block);
	}
}

/* Unless `on`, a thread never touches what the others write: only a compiler would. */
__attribute__((noinline)) static int maybe(int on, int rounds)
{
	int sum = 0;

	for (int i = 0; i < rounds; i++) {
		int got = 0;

		if (on)
			got = shared;
		sum += got + i;
	}
	return sum;
}

static void speculation(int id)
{
	static volatile int never;
	static long sums[THREADS * 8];

	for (int i = 0; i < ROUNDS; i++) {
		if (id == 0)
			shared = i;
		else
			sums[id * 8] += maybe(never, 20);
	}
}

/* One thread writes one member, another sums up the other: wide loads would read both. */
__attribute__((noinline)) static int sum_x(void)
{
	int sum = 0;

	for (int i = 0; i < 1024; i++)
		sum += pairs[i].x;
	return sum;
}

static void members(int id)
{
	for (int i = 0; i < ROUNDS / 4; i++) {
		if (id == 0)
			for (int k = 0; k < 1024; k += 7)
				pairs[k].y = i;
		else if (sum_x())
			abort();
	}
}

/* Neighbours in one granule, one byte each, and bit-fields that a :0 keeps apart. */
static void neighbours(int id)
{
	static char bytes[8];

	for (int i = 0; i < ROUNDS; i++) {
		bytes[id]++;
		if (id == 0)
			flags.first++;
		else if (id == 1)
			flags.third++;
	}
}

/* Kept in a register during the loop, and loaded before it, by whoever comes here. */
static void promotion(int id)
{
	static long owned;

	for (int i = 0; i < ROUNDS * 20; i++)
		if (id == 1)
			owned += i;
}

static void volatiles(int id)
{
	static volatile int ready, turn;

	for (int i = 0; i < ROUNDS; i++) {
		turn = id;
		ready += turn;
	}
}

static void relaxed(int id)
{
	static atomic_long events;
	static _Atomic char small[8];

	for (int i = 0; i < ROUNDS; i++) {
		atomic_fetch_add_explicit(&events, 1, memory_order_relaxed);
		atomic_store_explicit(&small[id % 2], (char)i, memory_order_relaxed);
		if (atomic_load_explicit(&events, memory_order_relaxed) < 0)
			abort();
	}
}

/* Plain reads of an atomic that somebody tries to exchange, and cannot. */
static void failing_exchange(int id)
{
	static atomic_long value = 7;

	for (int i = 0; i < ROUNDS; i++) {
		long other = 8;

		if (id == 0)
			atomic_compare_exchange_strong(&value, &other, 9);
		else if (*(long *)&value != 7)
			abort();
	}
}

/* A handler writes what the thread that it interrupts writes, too. */
static __thread long *handled;
static __thread sigjmp_buf back;

static void on_signal(int number)
{
	if (handled)
		++*handled;
	if (number == SIGUSR2 && handled)
		siglongjmp(back, 1);
}

static void handlers(int id)
{
	static long mine[THREADS * 8];

	handled = &mine[id * 8];
	for (int i = 0; i < ROUNDS; i++) {
		if (!sigsetjmp(back, 1))
			raise(i % 3 ? SIGUSR1 : SIGUSR2);
		++*handled;
	}
	handled = NULL;
}

/* Threads that come and go use the same stacks. */
static void *short_life(void *argument)
{
	int local[16];
	int *volatile leaked = local;

	memset(leaked, 1, sizeof local);
	for (int i = 0; i < 16; i++)
		leaked[i] += *(int *)argument;
	return (void *)(long)leaked[3];
}

static void stacks(int id)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		int value = i;

		if (pthread_create(&thread, NULL, short_life, &value))
			abort();
		pthread_join(thread, NULL);
		value++;
	}
}

/* What the parent's threads have under way is nobody's in a child. */
static void *in_child(void *unused)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mutex);
		both();
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void forks(int id)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		both();
		pid_t child = fork();

		if (!child) {
			pthread_t thread;

			pthread_mutex_unlock(&mutex);
			if (pthread_create(&thread, NULL, in_child, NULL))
				_exit(1);
			in_child(NULL);
			pthread_join(thread, NULL);
			_exit(0);
		}
		pthread_mutex_unlock(&mutex);
		int status;

		if (waitpid(child, &status, 0) != child || status)
			abort();
	}
}

/* Whole structs and texts, under a lock. */
static void copies(int id)
{
	static struct {
		char name[40];
		long parts[6];
	} record, copy;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		snprintf(record.name, sizeof record.name, "%d of %d", i, id);
		memset(record.parts, id, sizeof record.parts);
		copy = record;
		if (strcmp(copy.name, record.name) || memcmp(&copy, &record, sizeof copy))
			abort();
		pthread_mutex_unlock(&mutex);
	}
}

/* The stream's lock guards the text, and printing takes it by itself. */
static void stream_lock(int id)
{
	static char line[40] = "nothing";
	static FILE *nowhere;

	if (id == 0)
		nowhere = fopen("/dev/null", "w");
	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		if (id == 0) {
			flockfile(nowhere);
			memset(line, 'a' + i % 20, 30);
			funlockfile(nowhere);
		} else {
			fprintf(nowhere, "%s", line);
			fputs(line, nowhere);
			fwrite(line, 1, 20, nowhere);
		}
	}
}

static const struct {
	const char *name;
	void (*body)(int id);
} modes[] = {
	{"spin-lock", spin_lock},
	{"cas-lock", cas_lock},
	{"ticket-lock", ticket_lock},
	{"futex-lock", futex_lock},
	{"pipe-lock", pipe_lock},
	{"publication", publication},
	{"blocks", blocks},
	{"speculation", speculation},
	{"members", members},
	{"neighbours", neighbours},
	{"promotion", promotion},
	{"volatiles", volatiles},
	{"relaxed", relaxed},
	{"failing-exchange", failing_exchange},
	{"handlers", handlers},
	{"stacks", stacks},
	{"forks", forks},
	{"copies", copies},
	{"stream-lock", stream_lock},
};
enum { MODES = sizeof modes / sizeof *modes };
static void (*body)(int id);

static void *thread_body(void *id)
{
	pthread_barrier_wait(&together);
	body((int)(long)id);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < MODES; i++) {
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			body = modes[i].body;
		if (argc == 1)
			puts(modes[i].name);
	}
	if (!body)
		return argc == 1 ? 0 : 2;
	signal(SIGUSR1, on_signal);
	signal(SIGUSR2, on_signal);
	pthread_barrier_init(&together, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_body, (void *)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return counter == mirror ? 0 : 1;
}
