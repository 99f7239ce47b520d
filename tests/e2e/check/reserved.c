/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Address space of terabytes, as pools and garbage collectors reserve it, a page
 * of which is used. When all of it is given back and reserved anew at the same
 * place, what lies in that page is another object; whoever has seen the old one and
 * then the new one has seen nothing torn. Who sees one object twice has.
 */
#include "stage.h"

#include <sys/mman.h>

enum { PAGE = 4096 };
#define LENGTH ((size_t)8 << 40)

struct page {
	pthread_mutex_t lock;
	int value;
};

struct pool {
	struct page page;
};

static char *reserved;

static struct pool *reserve(void *where)
{
	struct pool *pool;

	reserved = mmap(where, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (reserved == MAP_FAILED || (where && reserved != where))
		exit(1);
	pool = (struct pool *)(reserved + LENGTH / 2);
	if (mprotect(pool, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	pthread_mutex_init(&pool->page.lock, NULL);
	return pool;
}

static int get(struct page *p)
{
	int value;

	pthread_mutex_lock(&p->lock);
	value = p->value;
	pthread_mutex_unlock(&p->lock);
	return value;
}

static void put(struct page *p, int value)
{
	pthread_mutex_lock(&p->lock);
	p->value = value;
	pthread_mutex_unlock(&p->lock);
}

int look(struct page *p)
{
	int value = get(p);

	STAGE(0);
	STAGE(3);
	return value + get(p);
}

int torn(struct page *p)
{
	int value = get(p);

	STAGE(4);
	STAGE(7);
	return value + get(p);
}

static struct pool *pool;

static void *first(void *unused)
{
	use(look(&pool->page));
	use(torn(&pool->page));
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	munmap(reserved, LENGTH);
	put(&reserve(reserved)->page, 1);
	STAGE(2);
	STAGE(5);
	put(&pool->page, 2);
	STAGE(6);
	return unused;
}

int main(void)
{
	pool = reserve(NULL);
	TOGETHER(first, second);
	return 0;
}
