/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One thread alone does much, in a call that goes on, and shares an object on its stack
 * with two threads. Then it is alone again, and does the same with another object, which
 * lies where the first one was; this time one thread loses what the other did. The
 * interleaving is staged, so this is how it happens.
 */
#include "stage.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1 << 16, ROUNDS = 24 };

struct account {
	pthread_mutex_t lock;
	long balance;
	long changes;
};

struct book {
	pthread_mutex_t lock;
	long pages;
	long read;
};

static long cells[CELLS];
static uint64_t state = 88172645463325252ull;

/* Far more than all windows hold, and no two accesses alike. */
static void work_alone(void)
{
	for (int i = 0; i < ROUNDS * CELLS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		cells[state >> 48] += i;
	}
}

static long account_get(struct account *account)
{
	pthread_mutex_lock(&account->lock);
	long balance = account->balance;
	pthread_mutex_unlock(&account->lock);
	return balance;
}

static void account_set(struct account *account, long balance)
{
	pthread_mutex_lock(&account->lock);
	account->balance = balance;
	account->changes++;
	pthread_mutex_unlock(&account->lock);
}

static void deposit(struct account *account)
{
	long balance = account_get(account);

	STAGE(1);
	AWAIT(2);
	account_set(account, balance + 1);
}

static void *depositor(void *account)
{
	deposit(account);
	return NULL;
}

static void *payer(void *account)
{
	AWAIT(1);
	account_set(account, 100);
	STAGE(2);
	return NULL;
}

static void book_read(struct book *book)
{
	pthread_mutex_lock(&book->lock);
	book->read++;
	book->pages = book->read * 2;
	pthread_mutex_unlock(&book->lock);
}

static void *reader(void *book)
{
	for (int i = 0; i < 100; i++)
		book_read(book);
	return NULL;
}

static void run(void *(*one)(void *), void *(*other)(void *), void *object)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, one, object) ||
	    pthread_create(&threads[1], NULL, other, object))
		exit(1);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static __attribute__((noinline)) void bank(void)
{
	struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};

	work_alone();
	run(depositor, payer, &account);
	printf("%ld after %ld\n", account.balance, account.changes);
	work_alone();
}

static __attribute__((noinline)) void library(void)
{
	struct book book = {.lock = PTHREAD_MUTEX_INITIALIZER};

	work_alone();
	run(reader, reader, &book);
	printf("%ld\n", book.pages);
}

int main(void)
{
	library();
	bank();
	return 0;
}
