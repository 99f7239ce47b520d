/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A struct of one's own that is handed to functions. append() uses its length and
 * fills in where it went; who calls it again uses the length, and not what was
 * filled in. overwrite() does use that.
 *
 * expect: write_twice stale-value buffer.used
 */
#include <pthread.h>
#include <stddef.h>

struct buffer {
	pthread_mutex_t lock;
	long used, last;
};

struct request {
	long length, mode, where;
};

static struct buffer buffer = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void append(struct buffer *b, struct request *r)
{
	pthread_mutex_lock(&b->lock);
	r->where = b->used;
	b->used += r->length;
	pthread_mutex_unlock(&b->lock);
}

static void overwrite(struct buffer *b, struct request *r)
{
	pthread_mutex_lock(&b->lock);
	b->used = r->where + r->length;
	pthread_mutex_unlock(&b->lock);
}

static long append_often(struct buffer *b, long length)
{
	struct request r = {.length = length};

	for (int i = 0; i < 10; i++)
		append(b, &r);
	return r.where;
}

static long write_twice(struct buffer *b, long length)
{
	struct request r = {.length = length};

	append(b, &r);
	overwrite(b, &r);
	return r.where;
}

static void *worker(void *sum)
{
	*(long *)sum = append_often(&buffer, 10) + write_twice(&buffer, 1);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	long sums[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sums[0] + sums[1] < 0;
}
