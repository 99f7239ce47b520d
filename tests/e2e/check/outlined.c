/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The body of a parallel region of OpenMP, by the name that clang gives it: each thread of the team begins
 * there, so it is no unit, as little as what pthread_create is given. What it calls is.
 */
#include "stage.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void add(void)
{
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
}

void region(int first, int last) __asm__("main.omp_outlined");
__attribute__((noinline)) void region(int first, int last)
{
	add();
	STAGE(first);
	STAGE(last);
	add();
}

__attribute__((noinline)) void twice(int first, int last)
{
	add();
	STAGE(first);
	STAGE(last);
	add();
}

static void *one(void *unused)
{
	region(0, 3);
	twice(4, 7);
	return unused;
}

__attribute__((noinline)) void once(void)
{
	add();
}

static void *other(void *unused)
{
	STAGE(1);
	once();
	STAGE(2);
	STAGE(5);
	once();
	STAGE(6);
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return count != 6;
}
