/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Philo, in MoTH's Table 2, after von Praun and Gross. Dining philosophers:
 * both forks are taken at once, under the table's lock, or waited for.
 *
 * Why it looks wrong: get_forks reads the forks, others change them, and it
 * reads and writes them again; and what it returns decides whether it is
 * called once more. Why it is right: it waits in between, which gives up the
 * lock. MoTH has two false alarms here.
 *
 * Exit status 1 if two neighbours eat at the same time.
 *
 * usage: philo
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PHILOSOPHERS = 5, MEALS = 50 };

struct table {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool taken[PHILOSOPHERS];
	int meals;
	int collisions;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int get_forks(struct table *t, int id)
{
	int right = (id + 1) % PHILOSOPHERS, meal;

	pthread_mutex_lock(&t->lock);
	while (t->taken[id] || t->taken[right])
		pthread_cond_wait(&t->changed, &t->lock);
	t->taken[id] = t->taken[right] = true;
	meal = t->meals++;
	pthread_mutex_unlock(&t->lock);
	return meal;
}

static void put_forks(struct table *t, int id)
{
	int right = (id + 1) % PHILOSOPHERS;

	pthread_mutex_lock(&t->lock);
	if (!t->taken[id] || !t->taken[right])
		t->collisions++;
	t->taken[id] = t->taken[right] = false;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

static void *philosopher(void *id)
{
	int meal;

	do {
		meal = get_forks(&table, *(int *)id);
		put_forks(&table, *(int *)id);
	} while (meal < MEALS);
	return NULL;
}

int main(void)
{
	pthread_t threads[PHILOSOPHERS];
	int ids[PHILOSOPHERS];

	for (int i = 0; i < PHILOSOPHERS; i++) {
		ids[i] = i;
		if (pthread_create(&threads[i], NULL, philosopher, &ids[i]))
			return 2;
	}
	for (int i = 0; i < PHILOSOPHERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d meals, %d collisions\n", table.meals, table.collisions);
	return table.collisions != 0;
}
