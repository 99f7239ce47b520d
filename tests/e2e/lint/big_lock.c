/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One lock around everything, which an event loop gives up while it sleeps. Who
 * calls the event loop is split by it. Who calls one of many handlers through a
 * pointer is not taken to be, though one of the handlers runs the event loop.
 * expect: nested_loop stale-value server.count
 */
#include <pthread.h>
#include <unistd.h>

struct server {
	pthread_mutex_t big_lock;
	int count, wake;
};

static struct server server = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void sleep_a_while(struct server *s)
{
	pthread_mutex_unlock(&s->big_lock);
	usleep(10);
	pthread_mutex_lock(&s->big_lock);
}

/* What it read before is old. */
static int nested_loop(struct server *s)
{
	int count = s->count;

	sleep_a_while(s);
	s->count = count + 1;
	return count;
}

static int add_one(struct server *s)
{
	return s->wake += 1;
}

static int add_two(struct server *s)
{
	return s->wake += 2;
}

static int add_three(struct server *s)
{
	return s->wake += 3;
}

static int add_four(struct server *s)
{
	return s->wake += 4;
}

static int (*const handlers[])(struct server *) = {nested_loop, add_one, add_two, add_three, add_four};

static void handle(struct server *s, int which)
{
	int count = s->count;

	handlers[which](s);
	s->count = count + 2;
}

static void *worker(void *argument)
{
	pthread_mutex_lock(&server.big_lock);
	for (int i = 0; i < 5; i++)
		handle(&server, (i + *(int *)argument) % 5);
	pthread_mutex_unlock(&server.big_lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;
	int one = 1, two = 2;

	pthread_create(&a, NULL, worker, &one);
	pthread_create(&b, NULL, worker, &two);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return server.count < 0;
}
