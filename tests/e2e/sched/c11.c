/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same primitives by their C11 names, and threads that have children. */
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag flag = ONCE_FLAG_INIT;
static int turn, made, sum;

static void make(void)
{
	made++;
}

static int child(void *argument)
{
	mtx_lock(&lock);
	sum += *(int *)argument;
	mtx_unlock(&lock);
	return 1;
}

static int player(void *argument)
{
	int mine = *(int *)argument, result = 0;
	thrd_t thread;

	call_once(&flag, make);
	for (int i = 0; i < 3; i++) {
		mtx_lock(&lock);
		while (turn % 2 != mine)
			cnd_wait(&changed, &lock);
		turn++;
		cnd_broadcast(&changed);
		mtx_unlock(&lock);
		thrd_yield();
	}
	thrd_create(&thread, child, argument);
	thrd_join(thread, &result);
	return result;
}

int main(void)
{
	int names[2] = {0, 1}, results[2];
	thrd_t threads[2];

	mtx_init(&lock, mtx_plain);
	cnd_init(&changed);
	for (int i = 0; i < 2; i++)
		thrd_create(&threads[i], player, &names[i]);
	for (int i = 0; i < 2; i++)
		thrd_join(threads[i], &results[i]);
	return turn != 6 || made != 1 || sum != 1 || results[0] + results[1] != 2;
}
