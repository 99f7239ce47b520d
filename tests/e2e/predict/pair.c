/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two variables that belong together: the reader reads both in one critical
 * section, the writer writes each in its own. No pattern over one variable.
 */
#include <pthread.h>

struct pair {
	pthread_mutex_t lock;
	int first, second;
};

static struct pair pair = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
static int torn;

static void set_first(struct pair *p, int to)
{
	pthread_mutex_lock(&p->lock);
	p->first = to;
	pthread_mutex_unlock(&p->lock);
}

static void set_second(struct pair *p, int to)
{
	pthread_mutex_lock(&p->lock);
	p->second = to;
	pthread_mutex_unlock(&p->lock);
}

static void set_both(struct pair *p, int to)
{
	set_first(p, to);
	set_second(p, to);
}

static int equal(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	int same = p->first == p->second;
	pthread_mutex_unlock(&p->lock);
	return same;
}

static void *writer(void *unused)
{
	set_both(&pair, 1);
	return unused;
}

static void *reader(void *unused)
{
	torn = !equal(&pair);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, writer, NULL) ||
	    pthread_create(&threads[1], NULL, reader, NULL))
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return torn;
}
