/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks that a program has made itself, and lost updates in two of their critical
 * sections. Another thread takes the lock and makes no section, and may keep it
 * for some time; or the section itself waits for one who is kept out by it, and
 * no lock would help.
 *
 * usage: own_locks ticket|flag|futex|kept|asks
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 40 };

static atomic_uint next, serving;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static atomic_int word;
static enum { TICKET, FLAG, FUTEX } kind;
static int kept; /* microseconds that the other thread keeps the lock */
static int asks; /* one thread adds, and another one has to answer each time */
static atomic_int questions, answers;
static long total, looks;
static atomic_int over;

static void take(void)
{
	unsigned mine;
	int found = 0;

	switch (kind) {
	case TICKET:
		mine = atomic_fetch_add(&next, 1);
		while (atomic_load(&serving) != mine)
			sched_yield();
		return;
	case FLAG:
		while (atomic_flag_test_and_set(&flag))
			sched_yield();
		return;
	case FUTEX:
		if (atomic_compare_exchange_strong(&word, &found, 1))
			return;
		while (atomic_exchange(&word, 2))
			syscall(SYS_futex, &word, FUTEX_WAIT, 2, NULL, NULL, 0);
	}
}

static void give(void)
{
	switch (kind) {
	case TICKET:
		atomic_fetch_add(&serving, 1);
		return;
	case FLAG:
		atomic_flag_clear(&flag);
		return;
	case FUTEX:
		if (atomic_exchange(&word, 0) == 2)
			syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static long get(void)
{
	long value;

	take();
	value = total;
	give();
	return value;
}

static void put(long value)
{
	take();
	total = value;
	give();
}

/* Wait until the word is no longer this. */
static void await(atomic_int *p, int value)
{
	while (atomic_load(p) == value)
		syscall(SYS_futex, p, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void say(atomic_int *p)
{
	atomic_fetch_add(p, 1);
	syscall(SYS_futex, p, FUTEX_WAKE, THREADS, NULL, NULL, 0);
}

static void add(void)
{
	long value = get();

	if (asks) {
		int before = atomic_load(&answers);

		say(&questions);
		await(&answers, before);
	} else {
		usleep(30);
	}
	put(value + 1);
}

static void move(void)
{
	long value = get();

	put(value + 1);
}

static void *adds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		(i % 4 ? add : move)();
	return unused;
}

static void *looks_on(void *unused)
{
	while (!atomic_load(&over)) {
		take();
		looks++;
		if (kept)
			usleep(kept);
		give();
		usleep(50);
	}
	return unused;
}

static void *asker(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return unused;
}

/* Whoever answers comes to what the asker's section is about. */
static void *answerer(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		await(&questions, i);
		move();
		say(&answers);
	}
	return unused;
}

/* It has to come to an end, and that is all. */
static int ask_and_answer(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, asker, NULL) ||
	    pthread_create(&threads[1], NULL, answerer, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return atomic_load(&answers) != ROUNDS;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], other;

	if (argc > 1) {
		kept = strcmp(argv[1], "kept") ? 0 : 2000;
		asks = !strcmp(argv[1], "asks");
		kind = !strcmp(argv[1], "flag")                    ? FLAG
		       : kept || asks || !strcmp(argv[1], "futex") ? FUTEX
								   : TICKET;
	}
	if (asks)
		return ask_and_answer();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, adds, NULL))
			return 2;
	if (pthread_create(&other, NULL, looks_on, NULL))
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, 1);
	pthread_join(other, NULL);
	printf("%ld of %d\n", total, THREADS * ROUNDS);
	return total != THREADS * ROUNDS;
}
