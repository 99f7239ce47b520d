/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the program itself takes out: a function by annotation, a line by a
 * comment.
 * expect nothing
 */
#include <atomsan/atomsan.h>
#include <pthread.h>

struct statistics {
	pthread_mutex_t lock;
	long hits, misses;
};

static struct statistics statistics = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static long hits(struct statistics *s)
{
	long now;

	pthread_mutex_lock(&s->lock);
	now = s->hits;
	pthread_mutex_unlock(&s->lock);
	return now;
}

ATOMSAN_IGNORE static void count_hit(struct statistics *s)
{
	long now = hits(s);

	pthread_mutex_lock(&s->lock);
	s->hits = now + 1;
	pthread_mutex_unlock(&s->lock);
}

static void count_miss(struct statistics *s)
{
	long now;

	pthread_mutex_lock(&s->lock);
	now = s->misses; /* atomsan: ignore, it may be off by some */
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	s->misses = now + 1;
	pthread_mutex_unlock(&s->lock);
}

static void *run(void *unused)
{
	count_hit(&statistics);
	count_miss(&statistics);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, run, NULL);
	pthread_create(&b, NULL, run, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
