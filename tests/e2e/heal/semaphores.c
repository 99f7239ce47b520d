/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Semaphores in and around a section. As a lock: `add` reads and writes the total in
 * two critical sections, beside a thread that takes the semaphore and makes no section.
 * As a signal: `move` waits for what others bring, and in its section for what is there.
 *
 * usage: semaphores lock|timed|signal
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 40 };

static sem_t lock, items, answers;
static long total, looks;
static atomic_int over;
static int timed;

static void take(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 60;
	while (timed ? sem_timedwait(&lock, &until) : sem_wait(&lock))
		;
}

static long get(void)
{
	long value;

	take();
	value = total;
	sem_post(&lock);
	return value;
}

static void put(long value)
{
	take();
	total = value;
	sem_post(&lock);
}

static void add(void)
{
	long value = get();

	usleep(30);
	put(value + 1);
}

static void move(void)
{
	long value;

	sem_wait(&items);
	value = get();
	sem_post(&answers);
	sem_wait(&answers);
	put(value + 1);
}

static void *adds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return unused;
}

static void *moves(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		move();
	return unused;
}

static void *brings(void *unused)
{
	for (int i = 0; i < THREADS * ROUNDS; i++) {
		if (i % 8 == 0)
			usleep(500);
		sem_post(&items);
	}
	return unused;
}

static void *looks_on(void *unused)
{
	while (!atomic_load(&over)) {
		take();
		looks++;
		sem_post(&lock);
		usleep(50);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], other;
	int signals = argc > 1 && !strcmp(argv[1], "signal");

	timed = argc > 1 && !strcmp(argv[1], "timed");
	sem_init(&lock, 0, 1);
	sem_init(&items, 0, 0);
	sem_init(&answers, 0, 0);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, signals ? moves : adds, NULL))
			return 2;
	if (pthread_create(&other, NULL, signals ? brings : looks_on, NULL))
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, 1);
	pthread_join(other, NULL);
	printf("%ld of %d\n", total, THREADS * ROUNDS);
	return total != THREADS * ROUNDS;
}
