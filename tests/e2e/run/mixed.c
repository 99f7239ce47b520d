/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mixed SEED RARE: threads that do small things to shared objects, most of them
 * atomic, one in RARE in two critical sections with a pause in between, some over
 * two objects, or over three threads (what one writes from what it read another reads), so
 * that most calls meet nobody, and some are on cycles. Some take long, some wait, and some
 * things are done by the thread's own function. In between there is one thread alone. No data race.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OBJECTS = 12, THREADS = 4, STEPS = 6000, ROUNDS = 2, NOTES = 1 << 15 };

struct object {
	pthread_mutex_t lock;
	pthread_rwlock_t gate;
	long a, b, c;
	long seen; /* under gate, as total is */
	long total;
	int state, level; /* in one word of memory, under lock */
	pthread_cond_t changed;
};

static struct object objects[OBJECTS];
static long rare;

struct worker {
	pthread_t thread;
	uint64_t random;
	long sum;
	long *notes; /* NOTES of them, its own */
};

static uint64_t draw(struct worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return worker->random >> 11;
}

static void pause_now(struct worker *worker)
{
	for (uint64_t n = draw(worker) % 8; n--;)
		sched_yield();
}

static void shift(struct object *object)
{
	pthread_mutex_lock(&object->lock);
	object->a--;
	object->b++;
	object->state = !object->state;
	pthread_mutex_unlock(&object->lock);
}

static long look(struct object *object)
{
	long sum;

	pthread_rwlock_rdlock(&object->gate);
	sum = object->seen + object->total;
	pthread_rwlock_unlock(&object->gate);
	return sum;
}

static void note(struct object *object, long sum)
{
	pthread_rwlock_wrlock(&object->gate);
	object->seen++;
	object->total += sum;
	pthread_rwlock_unlock(&object->gate);
}

static long get(struct object *object, long *from)
{
	long value;

	pthread_mutex_lock(&object->lock);
	value = *from;
	pthread_mutex_unlock(&object->lock);
	return value;
}

static void set(struct object *object, long *to, long value)
{
	pthread_mutex_lock(&object->lock);
	*to = value;
	pthread_mutex_unlock(&object->lock);
}

/* Loses what others did to a. */
static void increment(struct object *object, struct worker *worker)
{
	long value = get(object, &object->a);

	pause_now(worker);
	set(object, &object->a, value + 1);
}

/* Three of them at once may each see what the one before has not written yet. */
static void hand_on(struct object *object, struct worker *worker, unsigned which)
{
	long *members[] = {&object->a, &object->b, &object->c};
	long value = get(object, members[which % 3]);

	pause_now(worker);
	set(object, members[(which + 1) % 3], value);
}

static void between(struct object *one, struct object *other, struct worker *worker)
{
	long value = get(one, &one->c);

	pause_now(worker);
	set(other, &other->c, value);
}

/* Reads in one critical section, after writing in another. */
static long settle(struct object *object, struct worker *worker)
{
	pthread_mutex_lock(&object->lock);
	object->level++;
	pthread_mutex_unlock(&object->lock);
	pause_now(worker);
	return get(object, &object->b);
}

/* Who reads in between has seen what was not yet final, though the call itself only read since. */
static void publish(struct object *object, struct worker *worker)
{
	set(object, &object->a, 0);
	get(object, &object->a);
	pause_now(worker);
	set(object, &object->a, 1);
}

static void copy_seen(struct object *object, struct worker *worker)
{
	long sum = look(object);

	pause_now(worker);
	note(object, sum);
}

/* More than fits into one window. Nothing that anybody else sees, if it is not for one of two ends. */
static void survey(struct object *object, struct worker *worker, int which)
{
	long value = which & 1 ? get(object, &object->a) : 0;

	for (int i = 0; i < NOTES; i++)
		worker->notes[draw(worker) % NOTES] += value;
	if (which & 2)
		set(object, &object->a, value + 1);
}

/* What was seen before the wait is of no use after it. */
static void await(struct object *object)
{
	struct timespec until;

	pthread_mutex_lock(&object->lock);
	object->state = !object->state;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 100000;
	if (until.tv_nsec < 1000000000)
		pthread_cond_timedwait(&object->changed, &object->lock, &until);
	object->level++;
	pthread_cond_signal(&object->changed);
	pthread_mutex_unlock(&object->lock);
}

static void step(struct worker *worker)
{
	uint64_t choice = draw(worker);
	struct object *one = &objects[choice % OBJECTS], *other = &objects[choice / 16 % OBJECTS];

	if (draw(worker) % (uint64_t)rare) {
		switch (choice / 256 % 5) {
		case 0:
			shift(one);
			break;
		case 1:
			note(one, 1);
			break;
		case 2:
			worker->sum += get(one, &one->a);
			break;
		default:
			worker->sum += look(one);
		}
		return;
	}
	switch (choice / 256 % 8) {
	case 0:
		increment(one, worker);
		break;
	case 1:
		hand_on(one, worker, (unsigned)(choice / 4096));
		break;
	case 2:
		between(one, other, worker);
		break;
	case 3:
		worker->sum += settle(one, worker);
		break;
	case 4:
		publish(one, worker);
		break;
	case 5:
		if (choice / 4096 % 64 == 0)
			survey(one, worker, (int)(choice >> 20));
		break;
	case 6:
		await(one);
		break;
	default:
		copy_seen(one, worker);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < STEPS; i++) {
		struct object *object = &objects[draw(worker) % OBJECTS];

		step(worker);
		if (i % 8)
			continue;
		pthread_mutex_lock(&object->lock);
		object->b += object->c;
		pthread_mutex_unlock(&object->lock);
	}
	return NULL;
}

static void run_all(struct worker *workers)
{
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	rare = argc > 2 ? atol(argv[2]) : 100;
	for (int i = 0; i < OBJECTS; i++) {
		pthread_mutex_init(&objects[i].lock, NULL);
		pthread_rwlock_init(&objects[i].gate, NULL);
		pthread_cond_init(&objects[i].changed, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		workers[i] =
			(struct worker){.random = (seed * THREADS + (uint64_t)i + 1) * 0x9e3779b97f4a7c15ull,
					.notes = calloc(NOTES, sizeof(long))};
	for (int i = 0; i < ROUNDS; i++) {
		run_all(workers);
		for (int k = 0; k < 2; k++)
			survey(&objects[k], &workers[k], 3);
	}
	for (int i = 0; i < THREADS; i++)
		free(workers[i].notes);
	puts("done");
	return 0;
}
