/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ArithmeticDatabase, in MoTH's Table 1, after Teixeira. Clients store
 * expressions in one table, and their results, each once, in another, which
 * the first refers to by key.
 *
 * What breaks: insert_expression looks for the result, asks for the greatest
 * key, and inserts, all in critical sections of their own: the result may be
 * inserted, and the key taken, by another client in between.
 *
 * How it shows: no result and no key may be there twice; exit status 1
 * otherwise.
 *
 * usage: arithmetic_database
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { CLIENTS = 5, EXPRESSIONS = 5, MOST = CLIENTS * EXPRESSIONS };

struct row {
	int key, value;
};

struct table {
	int count;
	struct row row[MOST];
};

struct database {
	pthread_mutex_t lock;
	struct table expressions; /* expression and key of its result */
	struct table results;     /* key and result */
};

static struct database database = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int key_of_result(struct database *d, int result)
{
	int key = -1;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < d->results.count && key < 0; i++)
		if (d->results.row[i].value == result)
			key = d->results.row[i].key;
	pthread_mutex_unlock(&d->lock);
	return key;
}

static int max_key(struct database *d)
{
	int key = 0;

	pthread_mutex_lock(&d->lock);
	for (int i = 0; i < d->results.count; i++)
		if (d->results.row[i].key > key)
			key = d->results.row[i].key;
	pthread_mutex_unlock(&d->lock);
	return key;
}

static void insert(struct database *d, struct table *table, int key, int value)
{
	pthread_mutex_lock(&d->lock);
	table->row[table->count].key = key;
	table->row[table->count].value = value;
	table->count++;
	pthread_mutex_unlock(&d->lock);
}

static void insert_expression(struct database *d, int left, int right)
{
	int result = left + right;
	int key = key_of_result(d, result);

	if (key < 0) {
		MEET(2);
		key = max_key(d) + 1;
		MEET(2);
		insert(d, &d->results, key, result);
	}
	insert(d, &d->expressions, left * 100 + right, key);
}

static void *client(void *number)
{
	for (int i = 0; i < EXPRESSIONS; i++)
		insert_expression(&database, i, *(int *)number % 2);
	return NULL;
}

int main(void)
{
	pthread_t threads[CLIENTS];
	int numbers[CLIENTS], wrong = 0;
	const struct table *results = &database.results;

	for (int i = 0; i < CLIENTS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, client, &numbers[i]))
			return 2;
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < results->count; i++)
		for (int j = 0; j < i; j++)
			wrong += results->row[i].key == results->row[j].key ||
				 results->row[i].value == results->row[j].value;
	printf("%d results or keys are there twice\n", wrong);
	return wrong != 0;
}
