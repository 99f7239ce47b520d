/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/elevator: a floor is checked and claimed in one
 * critical section.
 *
 * Why it still looks wrong: a lift goes through the floors one by one, and
 * those that it has passed change. This is intended.
 *
 * Exit status 1 if a lift comes to a floor that it claimed, and finds nobody.
 *
 * usage: elevator [LIFTS FLOORS PEOPLE]
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIFTS_MAX = 8, FLOORS_MAX = 64 };

struct floor {
	pthread_mutex_t lock;
	int up_people, down_people;
	bool up_flag, down_flag; /* a lift is on its way */
};

struct building {
	pthread_mutex_t lock;
	int served;
	struct floor floor[FLOORS_MAX];
};

static struct building building = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int lifts = 2, floors = 8, people_in_all = 20;

static void push_up(struct floor *f)
{
	pthread_mutex_lock(&f->lock);
	f->up_people++;
	pthread_mutex_unlock(&f->lock);
}

static void push_down(struct floor *f)
{
	pthread_mutex_lock(&f->lock);
	f->down_people++;
	pthread_mutex_unlock(&f->lock);
}

static bool claim_up(struct floor *f)
{
	bool call;

	pthread_mutex_lock(&f->lock);
	call = f->up_people > 0 && !f->up_flag;
	if (call)
		f->up_flag = true;
	pthread_mutex_unlock(&f->lock);
	return call;
}

static bool claim_down(struct floor *f)
{
	bool call;

	pthread_mutex_lock(&f->lock);
	call = f->down_people > 0 && !f->down_flag;
	if (call)
		f->down_flag = true;
	pthread_mutex_unlock(&f->lock);
	return call;
}

static int take_up(struct floor *f)
{
	int people;

	pthread_mutex_lock(&f->lock);
	people = f->up_people;
	f->up_people = 0;
	f->up_flag = false;
	pthread_mutex_unlock(&f->lock);
	return people;
}

static int take_down(struct floor *f)
{
	int people;

	pthread_mutex_lock(&f->lock);
	people = f->down_people;
	f->down_people = 0;
	f->down_flag = false;
	pthread_mutex_unlock(&f->lock);
	return people;
}

static void count_served(struct building *b, int people)
{
	pthread_mutex_lock(&b->lock);
	b->served += people;
	pthread_mutex_unlock(&b->lock);
}

static bool all_served(struct building *b)
{
	bool all;

	pthread_mutex_lock(&b->lock);
	all = b->served == people_in_all;
	pthread_mutex_unlock(&b->lock);
	return all;
}

static void *lift(void *in_vain)
{
	int people;

	while (!all_served(&building)) {
		for (int i = 0; i < floors; i++) {
			if (claim_up(&building.floor[i]))
				people = take_up(&building.floor[i]);
			else if (claim_down(&building.floor[i]))
				people = take_down(&building.floor[i]);
			else
				continue;
			*(int *)in_vain += people == 0;
			count_served(&building, people);
		}
		sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[LIFTS_MAX];
	int in_vain[LIFTS_MAX] = {0}, sum = 0;

	if (argc == 4) {
		lifts = atoi(argv[1]);
		floors = atoi(argv[2]);
		people_in_all = atoi(argv[3]);
	}
	if (lifts < 1 || lifts > LIFTS_MAX || floors < 1 || floors > FLOORS_MAX)
		return 2;
	for (int i = 0; i < floors; i++)
		pthread_mutex_init(&building.floor[i].lock, NULL);
	for (int i = 0; i < lifts; i++)
		if (pthread_create(&threads[i], NULL, lift, &in_vain[i]))
			return 2;
	for (int i = 0; i < people_in_all; i++) {
		if (i % 3)
			push_up(&building.floor[i * 5 % floors]);
		else
			push_down(&building.floor[i * 5 % floors]);
	}
	for (int i = 0; i < lifts; i++) {
		pthread_join(threads[i], NULL);
		sum += in_vain[i];
	}
	printf("%d ways in vain\n", sum);
	return sum != 0;
}
