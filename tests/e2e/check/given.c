/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who makes an object gives it away when it stands in the table. Who looks at it again later goes by what
 * others made of it meanwhile, and is right; who goes on filling it in, without a look, is not: others have
 * seen it half made.
 */
#include "stage.h"

struct session {
	pthread_mutex_t lock;
	int number, limit, used, name;
};
struct table {
	pthread_mutex_t lock;
	struct session *sessions[2];
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct session *find(struct table *t, int number)
{
	for (int i = 0; i < 2; i++)
		if (t->sessions[i] && t->sessions[i]->number == number)
			return t->sessions[i];
	return NULL;
}

static struct session *find_or_make(struct table *t, int number)
{
	pthread_mutex_lock(&t->lock);
	struct session *s = find(t, number);

	if (!s) {
		s = calloc(1, sizeof(*s));
		pthread_mutex_init(&s->lock, NULL);
		s->number = number;
		s->limit = 1;
		t->sessions[number] = s;
	}
	pthread_mutex_unlock(&t->lock);
	return s;
}

/* Right. */
static void enter(struct table *t, int first)
{
	struct session *s = find_or_make(t, 0);

	if (first) {
		STAGE(0);
		STAGE(3);
	}
	pthread_mutex_lock(&s->lock);
	if (s->used < s->limit)
		s->used++;
	pthread_mutex_unlock(&s->lock);
}

/* Not atomic. */
static void begin(struct table *t)
{
	struct session *s = find_or_make(t, 1);

	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&s->lock);
	s->name = 7;
	pthread_mutex_unlock(&s->lock);
}

static void look(struct table *t)
{
	struct session *s = find_or_make(t, 1);

	pthread_mutex_lock(&s->lock);
	use(s->name);
	pthread_mutex_unlock(&s->lock);
}

static void *one(void *unused)
{
	enter(&table, 1);
	begin(&table);
	return unused;
}

static void *other(void *unused)
{
	STAGE(1);
	enter(&table, 0);
	STAGE(2);
	STAGE(5);
	look(&table);
	STAGE(6);
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return 0;
}
