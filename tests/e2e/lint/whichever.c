/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is asked in one critical section decides which answer is given in another,
 * in every case one: that it is given does not depend on what was asked. In
 * some() it does.
 *
 * expect: some stale-value server.state
 */
#include <pthread.h>
#include <stddef.h>

struct server {
	pthread_mutex_t lock;
	int state, answers;
};

static struct server server = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void set_state(struct server *s, int state)
{
	pthread_mutex_lock(&s->lock);
	s->state = state;
	s->answers = 0;
	pthread_mutex_unlock(&s->lock);
}

static int state_of(struct server *s)
{
	int state;

	pthread_mutex_lock(&s->lock);
	state = s->state;
	pthread_mutex_unlock(&s->lock);
	return state;
}

static void answer(struct server *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	s->answers += text[0];
	pthread_mutex_unlock(&s->lock);
}

static void every(struct server *s)
{
	switch (state_of(s)) {
	case 0:
		answer(s, "idle");
		break;
	case 1:
		answer(s, "busy");
		break;
	case 2:
		answer(s, "done");
		break;
	}
}

static void either(struct server *s)
{
	int state = state_of(s);

	if (state > 2)
		answer(s, "many");
	else if (state == 1)
		answer(s, "one");
	else
		answer(s, "none");
}

static void some(struct server *s)
{
	switch (state_of(s)) {
	case 0:
		answer(s, "idle");
		break;
	case 1:
		break;
	case 2:
		answer(s, "done");
		break;
	}
}

static void *worker(void *unused)
{
	set_state(&server, 2);
	every(&server);
	either(&server);
	some(&server);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
