/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * C11 threads, and a value that an atomic operation reads and another writes.
 * expect: bump stale-value globals.count
 * expect: next stale-value level
 */
#include <stdatomic.h>
#include <threads.h>

static struct globals {
	mtx_t lock;
	int count;
} globals;
static atomic_int level;

static void bump(struct globals *g)
{
	int now;

	mtx_lock(&g->lock);
	now = g->count;
	mtx_unlock(&g->lock);
	mtx_lock(&g->lock);
	g->count = now + 1;
	mtx_unlock(&g->lock);
}

static void next(void)
{
	int now = atomic_load(&level);

	atomic_store(&level, now + 1);
}

/* This one is right. */
static void next_at_once(void)
{
	atomic_fetch_add(&level, 1);
}

static int run(void *unused)
{
	bump(&globals);
	next();
	next_at_once();
	return unused != NULL;
}

int main(void)
{
	thrd_t a, b;

	mtx_init(&globals.lock, mtx_plain);
	thrd_create(&a, run, NULL);
	thrd_create(&b, run, NULL);
	thrd_join(a, NULL);
	thrd_join(b, NULL);
	return 0;
}
