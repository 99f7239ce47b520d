/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An object with a thread of its own. Who makes it starts the thread, which waits
 * for a word, gives the word, and goes on; who ends it tells the thread, does other
 * things, and waits until the thread is through, which by then it is. So nobody has
 * to wait, and everybody means to. The waiting is wrapped, in another file.
 */
#include "service.h"

struct service {
	struct bell bell;
	int started, ending, done;
	long work;
	pthread_t thread;
};

static void serve(struct service *s)
{
	bell_lock(&s->bell);
	STAGE(0);
	while (!s->started)
		bell_wait(&s->bell);
	bell_unlock(&s->bell);
	for (;;) {
		bell_lock(&s->bell);
		if (s->ending)
			break;
		s->work++;
		bell_unlock(&s->bell);
	}
	bell_unlock(&s->bell);
	bell_lock(&s->bell);
	s->done = 1;
	bell_ring(&s->bell);
	bell_unlock(&s->bell);
	STAGE(2);
}

static void *server(void *s)
{
	serve(s);
	return NULL;
}

static struct service *service_new(void)
{
	struct service *s = calloc(1, sizeof *s);

	bell_init(&s->bell);
	s->started = 0;
	if (pthread_create(&s->thread, NULL, server, s))
		exit(1);
	STAGE(1);
	bell_lock(&s->bell);
	s->started = 1;
	bell_ring(&s->bell);
	bell_unlock(&s->bell);
	return s;
}

static int service_end(struct service *s)
{
	int work;

	bell_lock(&s->bell);
	s->ending = 1;
	bell_unlock(&s->bell);
	STAGE(3);
	bell_lock(&s->bell);
	while (!s->done)
		bell_wait(&s->bell);
	work = s->ending && s->work >= 0;
	bell_unlock(&s->bell);
	return work;
}

int main(void)
{
	struct service *s = service_new();
	int fine = service_end(s);

	pthread_join(s->thread, NULL);
	free(s);
	return !fine;
}
