/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two variables that are changed in two critical sections, and by others in one.
 * If those only add to them, or put something on both lists, nobody sees a state in
 * between; if they compare them, somebody does.
 *
 * expect: shift high-level-race range.first
 */
#include <pthread.h>
#include <stddef.h>

struct node {
	struct node *next;
};

static struct {
	pthread_mutex_t lock;
	long asked, served;
} statistics = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static struct store {
	pthread_mutex_t lock;
	struct node *pages, *jobs;
} store = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL};

static struct range {
	pthread_mutex_t lock;
	long first, last;
} range = {PTHREAD_MUTEX_INITIALIZER, 0, 10};

static void count_apart(void)
{
	pthread_mutex_lock(&statistics.lock);
	statistics.asked++;
	pthread_mutex_unlock(&statistics.lock);
	pthread_mutex_lock(&statistics.lock);
	statistics.served++;
	pthread_mutex_unlock(&statistics.lock);
}

static void count_both(void)
{
	pthread_mutex_lock(&statistics.lock);
	statistics.asked++;
	statistics.served++;
	pthread_mutex_unlock(&statistics.lock);
}

static struct node *take_both(struct store *s)
{
	struct node *page, *job;

	pthread_mutex_lock(&s->lock);
	page = s->pages;
	s->pages = page->next;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	job = s->jobs;
	s->jobs = job->next;
	pthread_mutex_unlock(&s->lock);
	job->next = page;
	return job;
}

static void give_both(struct store *s, struct node *job)
{
	struct node *page = job->next;

	pthread_mutex_lock(&s->lock);
	page->next = s->pages;
	s->pages = page;
	job->next = s->jobs;
	s->jobs = job;
	pthread_mutex_unlock(&s->lock);
}

static void shift(struct range *r)
{
	pthread_mutex_lock(&r->lock);
	r->first++;
	pthread_mutex_unlock(&r->lock);
	pthread_mutex_lock(&r->lock);
	r->last++;
	pthread_mutex_unlock(&r->lock);
}

static long length(struct range *r)
{
	long n;

	pthread_mutex_lock(&r->lock);
	n = r->last - r->first;
	pthread_mutex_unlock(&r->lock);
	return n;
}

static void *worker(void *bad)
{
	count_apart();
	count_both();
	give_both(&store, take_both(&store));
	shift(&range);
	*(long *)bad = length(&range) != 10;
	return NULL;
}

int main(void)
{
	static struct node nodes[4];
	pthread_t threads[2];
	long bad[2];

	for (int i = 0; i < 4; i += 2) {
		nodes[i].next = &nodes[i + 1];
		give_both(&store, &nodes[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &bad[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return bad[0] || bad[1];
}
