/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * NASA, in MoTH's Table 1: the Remote Agent, after Artho, Havelund and Biere.
 * Tasks achieve properties of a spacecraft, a daemon watches whether what was
 * achieved still holds.
 *
 * What breaks: achieve stores the wanted value in one critical section, and
 * that it is achieved in another; in between the daemon compares the new value
 * with the old state.
 *
 * How it shows: nothing ever goes wrong with the spacecraft, so exit status 1
 * if the daemon warns.
 *
 * usage: nasa
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

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
	pthread_mutex_unlock(&lock);
	STAGE_IF(value == 2, 2);
	STAGE_IF(value == 2, 5);
	pthread_mutex_lock(&lock);
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
	/* One after the other in a staged run, so that it is the daemon that disturbs. */
	STAGE_IF(*(int *)value == 2, 1);
	STAGE_IF(*(int *)value == 3, 6);
	achieve(&table[NUMBER], *(int *)value);
	return NULL;
}

static void *daemon_thread(void *warnings)
{
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(3);
		*(int *)warnings += violated(&table[NUMBER]);
		STAGE(4);
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
