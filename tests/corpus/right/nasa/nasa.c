/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/nasa: value and achievement are stored in one
 * critical section.
 *
 * Exit status 1 if the daemon warns.
 *
 * usage: nasa
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { TASKS = 3, SIZE = 100, NUMBER = 42, ROUNDS = 10 };

struct property {
	int value;
	bool achieved;
};

static struct property table[SIZE];
static int system_state[SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void achieve(struct property *property, int value)
{
	pthread_mutex_lock(&lock);
	property->value = value;
	system_state[property - table] = value;
	property->achieved = true;
	pthread_mutex_unlock(&lock);
}

static bool violated(struct property *property)
{
	bool wrong;

	pthread_mutex_lock(&lock);
	wrong = property->achieved && system_state[property - table] != property->value;
	pthread_mutex_unlock(&lock);
	return wrong;
}

static void *task(void *value)
{
	achieve(&table[NUMBER], *(int *)value);
	return NULL;
}

static void *daemon_thread(void *warnings)
{
	for (int i = 0; i < ROUNDS; i++) {
		*(int *)warnings += violated(&table[NUMBER]);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[TASKS + 1];
	int values[TASKS], warnings = 0;

	achieve(&table[NUMBER], 0);
	for (int i = 0; i < TASKS; i++) {
		values[i] = i + 1;
		if (pthread_create(&threads[i], NULL, task, &values[i]))
			return 2;
		if (i == 0)
			pthread_join(threads[i], NULL); /* the first task is not disturbed */
	}
	if (pthread_create(&threads[TASKS], NULL, daemon_thread, &warnings))
		return 2;
	for (int i = 1; i <= TASKS; i++)
		pthread_join(threads[i], NULL);
	printf("%d warnings\n", warnings);
	return warnings != 0;
}
