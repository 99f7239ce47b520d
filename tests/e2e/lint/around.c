/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lock around two critical sections of another lock. If nothing else is changed
 * under it, it is there to make them one; that takes all others to hold it, too.
 * Where it guards something of its own, and where the two only count, nobody said
 * that they are one.
 *
 * expect: say_twice atomicity log.length
 */
#include <pthread.h>
#include <stddef.h>

struct log {
	pthread_mutex_t lock;
	int length, calls;
	int text[1024];
};

struct board {
	pthread_mutex_t lock;
	int length;
	int text[1024];
};

struct user {
	pthread_mutex_t lock;
	struct log *log;
	int said;
};

static pthread_mutex_t everybody = PTHREAD_MUTEX_INITIALIZER;
static struct log shared = {PTHREAD_MUTEX_INITIALIZER, 0, 0, {0}};
static struct board board = {PTHREAD_MUTEX_INITIALIZER, 0, {0}};

static void say(struct log *l, int what)
{
	pthread_mutex_lock(&l->lock);
	l->text[l->length++ % 1024] = what;
	pthread_mutex_unlock(&l->lock);
}

static void count(struct log *l)
{
	pthread_mutex_lock(&l->lock);
	l->calls++;
	pthread_mutex_unlock(&l->lock);
}

static void say_twice(struct user *u)
{
	pthread_mutex_lock(&u->lock);
	say(u->log, 1);
	say(u->log, 2);
	pthread_mutex_unlock(&u->lock);
}

static void say_and_note(struct user *u)
{
	pthread_mutex_lock(&u->lock);
	u->said += 2;
	say(u->log, 1);
	say(u->log, 2);
	pthread_mutex_unlock(&u->lock);
}

static void count_twice(struct user *u)
{
	pthread_mutex_lock(&u->lock);
	count(u->log);
	count(u->log);
	pthread_mutex_unlock(&u->lock);
}

static void post(struct board *b, int what)
{
	pthread_mutex_lock(&b->lock);
	b->text[b->length++ % 1024] = what;
	pthread_mutex_unlock(&b->lock);
}

static void post_twice(struct board *b)
{
	pthread_mutex_lock(&everybody);
	post(b, 1);
	post(b, 2);
	pthread_mutex_unlock(&everybody);
}

static void *worker(void *user)
{
	say_twice(user);
	say_and_note(user);
	count_twice(user);
	post_twice(&board);
	return NULL;
}

int main(void)
{
	static struct user users[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		pthread_mutex_init(&users[i].lock, NULL);
		users[i].log = &shared;
		pthread_create(&threads[i], NULL, worker, &users[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return shared.length + shared.calls + board.length + users[0].said == 0;
}
