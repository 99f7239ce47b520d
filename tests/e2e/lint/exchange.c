/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an atomic variable was decides whether it is changed: by compare and
 * exchange, which looks again, or blindly.
 * expect: open_blindly stale-value door.state
 */
#include <pthread.h>
#include <stdatomic.h>

struct door {
	atomic_int state;
};

static struct door door;

static int swap(struct door *d, int number)
{
	int closed = 0;

	return atomic_compare_exchange_strong(&d->state, &closed, number);
}

static int open_it(struct door *d, int number)
{
	if (atomic_load(&d->state))
		return 0;
	return swap(d, number);
}

static int open_blindly(struct door *d, int number)
{
	if (atomic_load(&d->state))
		return 0;
	atomic_store(&d->state, number);
	return 1;
}

static void *work(void *unused)
{
	open_it(&door, 1);
	open_blindly(&door, 2);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
