/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One set of functions for lists of all kinds: to them all lists look alike. That
 * one is empty says nothing of another; what is a list's own in name, length, is
 * told apart and found.
 * expect: count_apart stale-value jobs.length
 */
#include <pthread.h>
#include <stdlib.h>

struct node {
	struct node *next;
};

struct list {
	struct node head;
};

struct jobs {
	pthread_mutex_t lock;
	struct list waiting;
	long length;
};

struct people {
	pthread_mutex_t lock;
	struct list all;
};

static struct jobs *jobs;
static struct people *people;

__attribute__((noinline)) static int is_empty(struct list *l)
{
	return !l->head.next;
}

__attribute__((noinline)) static void push(struct list *l, struct node *n)
{
	n->next = l->head.next;
	l->head.next = n;
}

static int idle(void)
{
	struct jobs *j = jobs;
	int idle;

	pthread_mutex_lock(&j->lock);
	idle = is_empty(&j->waiting);
	pthread_mutex_unlock(&j->lock);
	return idle;
}

static void welcome(void)
{
	struct people *p = people;
	struct node *n = calloc(1, sizeof(*n));

	pthread_mutex_lock(&p->lock);
	push(&p->all, n);
	pthread_mutex_unlock(&p->lock);
}

static void ask(void)
{
	if (idle())
		welcome();
}

static void add(struct jobs *j)
{
	struct node *n = calloc(1, sizeof(*n));

	pthread_mutex_lock(&j->lock);
	push(&j->waiting, n);
	pthread_mutex_unlock(&j->lock);
}

static void clear(struct jobs *j, struct people *p)
{
	pthread_mutex_lock(&j->lock);
	j->waiting.head.next = NULL;
	pthread_mutex_unlock(&j->lock);
	pthread_mutex_lock(&p->lock);
	p->all.head.next = NULL;
	pthread_mutex_unlock(&p->lock);
}

static void count_apart(struct jobs *j)
{
	long length;

	pthread_mutex_lock(&j->lock);
	length = j->length;
	pthread_mutex_unlock(&j->lock);
	pthread_mutex_lock(&j->lock);
	j->length = length + 1;
	pthread_mutex_unlock(&j->lock);
}

static void *work(void *unused)
{
	add(jobs);
	ask();
	clear(jobs, people);
	count_apart(jobs);
	return unused;
}

int main(void)
{
	pthread_t thread;

	jobs = calloc(1, sizeof(*jobs));
	people = calloc(1, sizeof(*people));
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_mutex_init(&people->lock, NULL);
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
