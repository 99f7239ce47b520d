/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A writer calls functions on its stream, which has a lock of its own. Where it
 * holds its own lock over several of them, they are meant to be one step, and
 * what somebody else puts in between tears it. Where it holds none, or gives it
 * back in between, or where the stream is not the writer's, they are not.
 */
#include "stage.h"

struct stream {
	pthread_mutex_t lock;
	int length;
	int numbers[64];
};

struct writer {
	pthread_mutex_t lock;
	struct stream *stream;
	int lines[2];
};

static struct stream stream = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct writer writer = {.lock = PTHREAD_MUTEX_INITIALIZER, .stream = &stream, .lines = {1, 2}};
static int step;

static void put(struct stream *s, int number)
{
	pthread_mutex_lock(&s->lock);
	s->numbers[s->length++] = number;
	pthread_mutex_unlock(&s->lock);
}

static int last(const struct stream *s)
{
	pthread_mutex_lock((pthread_mutex_t *)&s->lock);
	int number = s->length ? s->numbers[s->length - 1] : 0;
	pthread_mutex_unlock((pthread_mutex_t *)&s->lock);
	return number;
}

/* The other thread does its work now. */
ATOMSAN_IGNORE __attribute__((noinline)) static void let(void)
{
	STAGE(step);
	STAGE(step + 3);
	step += 4;
}

/* Not atomic. */
void torn(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	put(w->stream, w->lines[0]);
	let();
	put(w->stream, w->lines[1]);
	pthread_mutex_unlock(&w->lock);
}

/* Nor is one call after the other. */
void looped(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	for (int i = 0; i < 2; i++) {
		put(w->stream, w->lines[i]);
		if (!i)
			let();
	}
	pthread_mutex_unlock(&w->lock);
}

static void enter(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
}

static void leave(struct writer *w)
{
	pthread_mutex_unlock(&w->lock);
}

/* Nor are calls of two functions through a copy of the pointer. */
void copied(struct writer *w)
{
	enter(w);
	struct stream *s = w->stream;

	put(s, w->lines[0]);
	let();
	use(last(s));
	leave(w);
}

void lets_go(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	put(w->stream, w->lines[0]);
	pthread_mutex_unlock(&w->lock);
	let();
	pthread_mutex_lock(&w->lock);
	put(w->stream, w->lines[1]);
	pthread_mutex_unlock(&w->lock);
}

void unlocked(struct writer *w)
{
	put(w->stream, w->lines[0]);
	let();
	put(w->stream, w->lines[1]);
}

void everybodys(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	put(&stream, w->lines[0]);
	let();
	put(&stream, w->lines[1]);
	pthread_mutex_unlock(&w->lock);
}

void locked_outside(struct writer *w)
{
	enter(w);
	unlocked(w);
	leave(w);
}

static void *first(void *unused)
{
	torn(&writer);
	looped(&writer);
	copied(&writer);
	lets_go(&writer);
	unlocked(&writer);
	everybodys(&writer);
	locked_outside(&writer);
	return unused;
}

static void *second(void *unused)
{
	for (int i = 0; i < 7; i++) {
		STAGE(4 * i + 1);
		put(&stream, -i);
		STAGE(4 * i + 2);
	}
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	return 0;
}
