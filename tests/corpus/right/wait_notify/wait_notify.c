/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: waiting for a condition. A mailbox for
 * one letter; senders wait until it is empty, receivers until it is full, and
 * everything between lock and unlock is one function.
 *
 * Why it looks wrong: send reads `full`, another thread writes it, and send
 * reads and writes it again, all in one function and, on paper, in one
 * critical section. Why it is right: pthread_cond_wait gives the lock up, and
 * the condition is tested again behind it.
 *
 * Exit status 1 if a letter is lost or doubled.
 *
 * usage: wait_notify
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PAIRS = 2, LETTERS = 20 };

struct mailbox {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool full;
	long letter;
};

static struct mailbox mailbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void send(struct mailbox *m, long letter)
{
	pthread_mutex_lock(&m->lock);
	while (m->full)
		pthread_cond_wait(&m->changed, &m->lock);
	m->letter = letter;
	m->full = true;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
}

static long receive(struct mailbox *m)
{
	long letter;

	pthread_mutex_lock(&m->lock);
	while (!m->full)
		pthread_cond_wait(&m->changed, &m->lock);
	letter = m->letter;
	m->full = false;
	pthread_cond_broadcast(&m->changed);
	pthread_mutex_unlock(&m->lock);
	return letter;
}

static void *sender(void *unused)
{
	for (int i = 1; i <= LETTERS; i++)
		send(&mailbox, i);
	return unused;
}

static void *receiver(void *sum)
{
	for (int i = 1; i <= LETTERS; i++)
		*(long *)sum += receive(&mailbox);
	return NULL;
}

int main(void)
{
	pthread_t threads[2 * PAIRS];
	long sums[PAIRS] = {0}, sum = 0;

	for (int i = 0; i < PAIRS; i++)
		if (pthread_create(&threads[2 * i], NULL, sender, NULL) ||
		    pthread_create(&threads[2 * i + 1], NULL, receiver, &sums[i]))
			return 2;
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PAIRS; i++)
		sum += sums[i];
	printf("received %ld of %d\n", sum, PAIRS * LETTERS * (LETTERS + 1) / 2);
	return sum != PAIRS * LETTERS * (LETTERS + 1) / 2;
}
