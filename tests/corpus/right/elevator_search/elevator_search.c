/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wrong/elevator as it should be: the calls from all floors have one lock, and an
 * idle lift holds it over all of its search for the lowest floor that calls.
 *
 * Exit status 1 if a lift set out for a floor although a lower one had called
 * earlier, and nobody had claimed it.
 *
 * usage: elevator_search [LIFTS FLOORS CALLS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LIFTS_MAX = 8, FLOORS_MAX = 64 };
enum direction { UP, DOWN, DIRECTIONS };

struct controls {
	pthread_mutex_t lock;
	int up_people[FLOORS_MAX], down_people[FLOORS_MAX];
	bool up_flag[FLOORS_MAX], down_flag[FLOORS_MAX]; /* a lift is on its way */
};

struct tally {
	pthread_mutex_t lock;
	int served;
};

/* When something was done to the calls from each floor, for the check in the end; 0: never. */
struct record {
	int when[FLOORS_MAX][DIRECTIONS];
};

struct lift {
	pthread_t thread;
	int floor, target;
	enum direction call; /* that it goes to the target for */
	bool idle;
	struct record claimed, set_out;
};

static struct controls controls = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct tally tally = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int lifts = 2, floors = 8, calls = 12, people_in_all;
static atomic_int now = 1;

static void push_up(struct controls *c, int floor, int people, int *when)
{
	pthread_mutex_lock(&c->lock);
	c->up_people[floor] += people;
	*when = atomic_fetch_add(&now, 1);
	pthread_mutex_unlock(&c->lock);
}

static void push_down(struct controls *c, int floor, int people, int *when)
{
	pthread_mutex_lock(&c->lock);
	c->down_people[floor] += people;
	*when = atomic_fetch_add(&now, 1);
	pthread_mutex_unlock(&c->lock);
}

/* With the lock held. */
static bool claim_up(struct controls *c, int floor, int *when)
{
	if (!c->up_people[floor] || c->up_flag[floor])
		return false;
	c->up_flag[floor] = true;
	*when = atomic_fetch_add(&now, 1);
	return true;
}

static bool claim_down(struct controls *c, int floor, int *when)
{
	if (!c->down_people[floor] || c->down_flag[floor])
		return false;
	c->down_flag[floor] = true;
	*when = atomic_fetch_add(&now, 1);
	return true;
}

static int get_up_people(struct controls *c, int floor)
{
	int people;

	pthread_mutex_lock(&c->lock);
	people = c->up_people[floor];
	c->up_people[floor] = 0;
	c->up_flag[floor] = false;
	pthread_mutex_unlock(&c->lock);
	return people;
}

static int get_down_people(struct controls *c, int floor)
{
	int people;

	pthread_mutex_lock(&c->lock);
	people = c->down_people[floor];
	c->down_people[floor] = 0;
	c->down_flag[floor] = false;
	pthread_mutex_unlock(&c->lock);
	return people;
}

static void count_served(struct tally *t, int people)
{
	pthread_mutex_lock(&t->lock);
	t->served += people;
	pthread_mutex_unlock(&t->lock);
}

static bool all_served(struct tally *t)
{
	bool all;

	pthread_mutex_lock(&t->lock);
	all = t->served == people_in_all;
	pthread_mutex_unlock(&t->lock);
	return all;
}

static bool do_idle(struct controls *c, struct lift *l)
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (int floor = 0; !found && floor < floors; floor++) {
		if (claim_up(c, floor, &l->claimed.when[floor][UP])) {
			l->call = UP;
			l->target = floor;
			found = true;
		} else if (claim_down(c, floor, &l->claimed.when[floor][DOWN])) {
			l->call = DOWN;
			l->target = floor;
			found = true;
		}
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

static void do_moving(struct lift *l)
{
	l->floor += (l->target > l->floor) - (l->target < l->floor);
}

static void *lift(void *self)
{
	struct lift *l = self;

	while (!all_served(&tally)) {
		if (l->idle) {
			if (!do_idle(&controls, l)) {
				sched_yield();
				continue;
			}
			l->set_out.when[l->target][l->call] = l->claimed.when[l->target][l->call];
			l->idle = false;
		}
		do_moving(l);
		if (l->floor != l->target)
			continue;
		count_served(&tally, l->call == UP ? get_up_people(&controls, l->floor)
						   : get_down_people(&controls, l->floor));
		l->idle = true;
	}
	return NULL;
}

/* When somebody claimed a call. */
static int claimed_at(const struct lift *all, int floor, int direction)
{
	int when = 0;

	for (int i = 0; i < lifts; i++)
		when += all[i].claimed.when[floor][direction];
	return when;
}

/* Did the lift set out for a floor when a lower one, which had called before, was still waiting? */
static int mistakes(const struct lift *l, const struct lift *all, const struct record *pressed)
{
	int sum = 0;

	for (int floor = 0; floor < floors; floor++)
		for (int up = 0; up < DIRECTIONS; up++)
			for (int lower = 0; lower < floor && l->set_out.when[floor][up]; lower++)
				for (int other = 0; other < DIRECTIONS; other++)
					sum += pressed->when[lower][other] &&
					       pressed->when[lower][other] < pressed->when[floor][up] &&
					       claimed_at(all, lower, other) > l->set_out.when[floor][up];
	return sum;
}

int main(int argc, char **argv)
{
	static struct lift all[LIFTS_MAX];
	static struct record pressed;
	int sum = 0;

	if (argc == 4) {
		lifts = atoi(argv[1]);
		floors = atoi(argv[2]);
		calls = atoi(argv[3]);
	}
	if (lifts < 1 || lifts > LIFTS_MAX || floors < 2 || floors > FLOORS_MAX || calls < 2)
		return 2;
	if (calls > floors * DIRECTIONS)
		calls = floors * DIRECTIONS;
	for (int i = 0; i < calls; i++)
		people_in_all += 1 + i % 3;
	for (int i = 0; i < lifts; i++) {
		all[i].idle = true;
		if (pthread_create(&all[i].thread, NULL, lift, &all[i]))
			return 2;
	}
	for (int i = 0; i < calls; i++) {
		/* From each floor one call up, from the lowest on, and then one down. */
		if (i < floors)
			push_up(&controls, i, 1 + i % 3, &pressed.when[i][UP]);
		else
			push_down(&controls, i - floors, 1 + i % 3, &pressed.when[i - floors][DOWN]);
	}
	for (int i = 0; i < lifts; i++)
		pthread_join(all[i].thread, NULL);
	for (int i = 0; i < lifts; i++)
		sum += mistakes(&all[i], all, &pressed);
	printf("%d lower floors left waiting\n", sum);
	return sum != 0;
}
