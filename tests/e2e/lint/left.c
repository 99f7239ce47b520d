/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks that are not given back where they were taken. begin() returns 0 with the
 * lock held, and end() gives it back; both are too large to be taken for a mere
 * wrapper. try_page() returns the lock that it got, or NULL, and the caller
 * remembers which it has to give back. reserve() holds its page from one to the
 * other; spill() does not.
 *
 * expect: spill stale-value page.used
 */
#include <pthread.h>
#include <stdlib.h>

enum { PAGES = 4, SLOTS = 8 };

struct page {
	pthread_mutex_t lock;
	long used, limit;
	long slots[SLOTS];
};

static struct page pages[PAGES];

/* Large enough for nobody to inline it. */
static long checksum(const long *slots, long seed)
{
	long a = seed, b = seed;

	a += slots[0] * 3;
	b ^= slots[1] * 5;
	a += slots[2] * 7 - b;
	b ^= slots[3] * 9 + a;
	a += slots[4] * 11 - b;
	b ^= slots[5] * 13 + a;
	a += slots[6] * 15 - b;
	b ^= slots[7] * 17 + a;
	return a ^ b;
}

static int begin(struct page *p, long size, long *at)
{
	long seed;

	pthread_mutex_lock(&p->lock);
	seed = checksum(p->slots, size) + p->slots[0] + 2 * p->slots[1] + 3 * p->slots[2] + 4 * p->slots[3] +
	       5 * p->slots[4] + 6 * p->slots[5] + 7 * p->slots[6] + 8 * p->slots[7];
	p->slots[0] = seed + 1;
	p->slots[1] = seed + 2;
	p->slots[2] = seed + 3;
	p->slots[3] = seed + 4;
	p->slots[4] = seed + 5;
	p->slots[5] = seed + 6;
	if (p->used + size > p->limit) {
		pthread_mutex_unlock(&p->lock);
		return -1;
	}
	*at = p->used;
	return 0;
}

static void end(struct page *p, long at, long size)
{
	long seed = checksum(p->slots, size) + p->slots[0] + 2 * p->slots[1] + 3 * p->slots[2] +
		    4 * p->slots[3] + 5 * p->slots[4] + 6 * p->slots[5] + 7 * p->slots[6] + 8 * p->slots[7];

	p->slots[0] = seed + 1;
	p->slots[1] = seed + 2;
	p->slots[2] = seed + 3;
	p->slots[3] = seed + 4;
	p->slots[4] = seed + 5;
	p->slots[5] = seed + 6;
	p->used = at + size;
	pthread_mutex_unlock(&p->lock);
}

static long used(struct page *p)
{
	long n;

	pthread_mutex_lock(&p->lock);
	n = p->used;
	pthread_mutex_unlock(&p->lock);
	return n;
}

static void set_used(struct page *p, long n)
{
	pthread_mutex_lock(&p->lock);
	p->used = n;
	pthread_mutex_unlock(&p->lock);
}

static void reserve(struct page *p, long size)
{
	long at;

	if (begin(p, size, &at) == 0)
		end(p, at, size);
}

static void spill(struct page *p)
{
	set_used(p, used(p) / 2);
}

static pthread_mutex_t *try_page(struct page *p)
{
	return pthread_mutex_trylock(&p->lock) ? NULL : &p->lock;
}

/* The first page that is not in use at the moment. */
static long grow_any(void)
{
	pthread_mutex_t *mine = NULL;
	struct page *found = NULL;
	long was = 0;

	for (int i = 0; i < PAGES && !found; i++) {
		mine = try_page(&pages[i]);
		if (!mine)
			continue;
		was = pages[i].limit;
		pages[i].limit = was + 1;
		if (was % 2) {
			found = &pages[i];
			break;
		}
		pthread_mutex_unlock(mine);
		mine = NULL;
	}
	if (found)
		pthread_mutex_unlock(mine);
	return was;
}

/* Under the lock of its caller, which grow_any() does not give up. */
static void keep(struct page *p)
{
	long before = p->used;

	if (grow_any() < 1000)
		p->used = before + 1;
}

static void *work(void *unused)
{
	for (int i = 0; i < 100; i++) {
		reserve(&pages[i % PAGES], i);
		spill(&pages[i % PAGES]);
		pthread_mutex_lock(&pages[0].lock);
		keep(&pages[0]);
		pthread_mutex_unlock(&pages[0].lock);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < PAGES; i++)
		pthread_mutex_init(&pages[i].lock, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
