/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mixed SEED RARE: threads that do small things to shared objects, most of them
 * atomic, one in RARE in two critical sections with a pause in between, some over
 * two objects, or over three threads (what one writes from what it read another reads), so
 * that most calls meet nobody, and some are on cycles. No data race.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OBJECTS = 12, THREADS = 4, STEPS = 12000 };

struct object {
	pthread_mutex_t lock;
	pthread_rwlock_t gate;
	long a, b, c;
	long seen; /* under gate, as total is */
	long total;
	int state, level; /* in one word of memory, under lock */
};

static struct object objects[OBJECTS];
static long rare;

struct worker {
	pthread_t thread;
	uint64_t random;
	long sum;
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
	switch (choice / 256 % 6) {
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
	default:
		copy_seen(one, worker);
	}
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < STEPS; i++)
		step(worker);
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	rare = argc > 2 ? atol(argv[2]) : 100;
	for (int i = 0; i < OBJECTS; i++) {
		pthread_mutex_init(&objects[i].lock, NULL);
		pthread_rwlock_init(&objects[i].gate, NULL);
	}
	for (int i = 0; i < THREADS; i++) {
		workers[i] =
			(struct worker){.random = (seed * THREADS + (uint64_t)i + 1) * 0x9e3779b97f4a7c15ull};
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	puts("done");
	return 0;
}
