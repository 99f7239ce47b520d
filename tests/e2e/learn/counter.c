/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What there is to learn: `account` is only used under its lock, `hint` is read
 * twice and may change in between, brackets say what belongs together, and the
 * argument "fail" makes every run fail.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "atomsan/atomsan.h"

#define NOINLINE __attribute__((noinline))

enum { ROUNDS = 200 };

struct account {
	pthread_mutex_t lock;
	long balance, count;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t hint_lock = PTHREAD_MUTEX_INITIALIZER;
long hint, marked, flips;
static sem_t looked, changed;

NOINLINE void deposit(struct account *a, long n)
{
	long balance;

	pthread_mutex_lock(&a->lock);
	balance = a->balance; /* @learned1 */
	a->count++;
	a->balance = balance + n; /* @learned2 */
	pthread_mutex_unlock(&a->lock);
}

/* Two looks, each by itself, at what the other thread changes between them. */
NOINLINE void look(void)
{
	long first, second;

	pthread_mutex_lock(&hint_lock);
	first = hint; /* @broken1 */
	pthread_mutex_unlock(&hint_lock);
	sem_post(&looked);
	sem_wait(&changed);
	pthread_mutex_lock(&hint_lock);
	second = hint; /* @broken2 */
	pthread_mutex_unlock(&hint_lock);
	flips += first != second;
}

NOINLINE void change(void)
{
	sem_wait(&looked);
	pthread_mutex_lock(&hint_lock);
	hint++;
	pthread_mutex_unlock(&hint_lock);
	sem_post(&changed);
}

NOINLINE void bracketed(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	long got;

	pthread_mutex_lock(&lock);
	ATOMSAN_UNIT_BEGIN();
	got = marked; /* @annotated1 */
	__asm__ volatile("" ::: "memory");
	marked = got + 1;
	__asm__ volatile("" ::: "memory");
	marked = marked + 1; /* @annotated2 */
	ATOMSAN_UNIT_END();
	pthread_mutex_unlock(&lock);
}

static void *work(void *me)
{
	for (int i = 0; i < ROUNDS; i++) {
		deposit(&account, 1);
		bracketed();
	}
	if (me)
		look();
	else
		change();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	sem_init(&looked, 0, 0);
	sem_init(&changed, 0, 0);
	pthread_create(&thread, NULL, work, &thread);
	work(NULL);
	pthread_join(thread, NULL);
	printf("balance %ld\n", account.balance);
	return argc > 1 && !strcmp(argv[1], "fail");
}
