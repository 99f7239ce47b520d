/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Static functions that are parts of their callers, and walks, as long as they do
 * not synchronise: a free run hardly tells of them, and the scheduler sees each.
 * Heaps are sifted with a comparison function that now and then takes a lock,
 * which depends on nothing but its own thread.
 */
#include <pthread.h>
#include <stdio.h>

enum { COUNT = 12 };

struct heap {
	int (*less)(struct heap *, int, int);
	int count, asked, items[COUNT];
	struct shared *shared;
};
struct shared {
	pthread_mutex_t lock;
	long asked, sums[2];
};

static struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int less(struct heap *h, int a, int b)
{
	if (++h->asked % 7 == 0) {
		pthread_mutex_lock(&h->shared->lock);
		h->shared->asked++;
		pthread_mutex_unlock(&h->shared->lock);
	}
	return h->items[a] < h->items[b];
}

static void swap(struct heap *h, int a, int b)
{
	int item = h->items[a];

	h->items[a] = h->items[b];
	h->items[b] = item;
}

static void sift(struct heap *h, int at)
{
	int least = at;

	for (int child = 2 * at + 1; child <= 2 * at + 2 && child < h->count; child++)
		if (h->less(h, child, least))
			least = child;
	if (least == at)
		return;
	swap(h, at, least);
	sift(h, least);
}

static int is_heap(struct heap *h, int at)
{
	return at >= h->count ||
	       ((!at || !h->less(h, at, (at - 1) / 2)) && is_heap(h, 2 * at + 1) && is_heap(h, 2 * at + 2));
}

/* The least first, and what is left is a heap again. */
static long drain(struct heap *h)
{
	long sum = 0;

	for (int at = h->count / 2; at >= 0; at--)
		sift(h, at);
	while (h->count) {
		sum = sum * 3 + h->items[0] + is_heap(h, 0);
		h->items[0] = h->items[--h->count];
		if (h->count)
			sift(h, 0);
	}
	return sum;
}

static void *work(void *argument)
{
	struct heap heap = {less, COUNT, 0, {0}, &shared};
	int number = (int)(long)argument;
	long sum;

	for (int i = 0; i < COUNT; i++)
		heap.items[i] = (i * 7 + number * 5) % 13;
	sum = drain(&heap);
	pthread_mutex_lock(&shared.lock);
	shared.sums[number] += sum;
	pthread_mutex_unlock(&shared.lock);
	return NULL;
}

/* A heap that all know. */
static struct heap known = {less, COUNT, 0, {5, 3, 9, 1, 7, 2, 8, 6, 4, 0, 11, 10}, &shared};

static void *look(void *unused)
{
	for (int i = 0; i < 3; i++) {
		int good = is_heap(&known, 0);

		pthread_mutex_lock(&shared.lock);
		shared.sums[0] += good;
		pthread_mutex_unlock(&shared.lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, work, (void *)0);
	pthread_create(&threads[1], NULL, work, (void *)1);
	pthread_create(&threads[2], NULL, look, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", shared.asked, shared.sums[0], shared.sums[1]);
	return 0;
}
