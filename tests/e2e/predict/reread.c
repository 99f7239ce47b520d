/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Test and use of a pointer that another thread takes away. There is nothing to
 * be recorded between the two reads, but in between there is room for the other
 * thread: somewhere the program prints, somewhere it only went by what it read,
 * somewhere ways part and meet. Who holds the lock over both reads, or reads once, is right.
 * The status is 2 if the pointers were gone before they were looked at.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct conf {
	int size;
};

struct server {
	pthread_mutex_t lock;
	struct conf *conf;
};

static struct conf only = {7};
static struct server servers[5];

static int prints_between(struct server *s)
{
	if (!s->conf)
		return 0;
	fflush(stdout);
	return s->conf->size;
}

/* For all that the compiler knows it writes to s->conf. */
int writes_between(struct server *s, struct conf **last);
__attribute__((noinline)) int writes_between(struct server *s, struct conf **last)
{
	if (!s->conf)
		return 0;
	*last = &only;
	return s->conf->size;
}

static int parts_between(struct server *s, int loud)
{
	int found = 0;

	if (s->conf) {
		if (loud)
			fflush(stdout);
		else
			fflush(stderr);
		found = s->conf->size;
	}
	return found;
}

static int holds_lock(struct server *s)
{
	int found = 0;

	pthread_mutex_lock(&s->lock);
	if (s->conf) {
		fflush(stdout);
		found = s->conf->size;
	}
	pthread_mutex_unlock(&s->lock);
	return found;
}

static int reads_once(struct server *s)
{
	struct conf *conf = s->conf;

	if (!conf)
		return 0;
	fflush(stdout);
	return conf->size;
}

static void stop(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	s->conf = NULL;
	pthread_mutex_unlock(&s->lock);
}

static void *serve(void *found)
{
	struct conf *last;

	*(int *)found = prints_between(&servers[0]) + writes_between(&servers[1], &last) +
			parts_between(&servers[2], *(int *)found) + holds_lock(&servers[3]) +
			reads_once(&servers[4]);
	return found;
}

static void *stop_all(void *none)
{
	for (int i = 0; i < 5; i++)
		stop(&servers[i]);
	return none;
}

int main(int count, char **unused)
{
	pthread_t threads[2];
	int found = count;

	(void)unused;
	for (int i = 0; i < 5; i++) {
		pthread_mutex_init(&servers[i].lock, NULL);
		servers[i].conf = &only;
	}
	if (pthread_create(&threads[0], NULL, serve, &found))
		return 1;
	usleep(200000);
	if (pthread_create(&threads[1], NULL, stop_all, NULL))
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return found == 35 ? 0 : 2;
}
