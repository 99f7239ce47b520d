/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* x += 1 without a lock: a violation inside of one statement. */
#include <pthread.h>

struct counter {
	int value;
};

static struct counter counter;

static void add(struct counter *c)
{
	c->value += 1;
}

void twice(struct counter *c);

void twice(struct counter *c)
{
	add(c);
}

static void *work(void *unused)
{
	twice(&counter);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter.value != 2;
}
