/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon, Figures 2 and 3 (from Wang and Stoller): three units, any two of
 * which could be put in order, and all three cannot. x, y and z have a lock
 * each.
 */
#include "stage.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y, z;

static void set(int *variable, int value)
{
	pthread_mutex_lock(&lock);
	*variable = value;
	pthread_mutex_unlock(&lock);
}

static int get(int *variable)
{
	pthread_mutex_lock(&lock);
	int value = *variable;
	pthread_mutex_unlock(&lock);
	return value;
}

void unit1(void)
{
	set(&x, 1);
	STAGE(0);
	STAGE(5);
	use(get(&z));
}

void unit2(void)
{
	STAGE(1);
	use(get(&x));
	set(&y, 1);
	STAGE(2);
}

void unit3(void)
{
	STAGE(3);
	use(get(&y));
	set(&z, 1);
	STAGE(4);
}

static void *first(void *unused)
{
	unit1();
	return unused;
}

static void *second(void *unused)
{
	unit2();
	return unused;
}

static void *third(void *unused)
{
	unit3();
	return unused;
}

int main(void)
{
	TOGETHER(first, second, third);
	return 0;
}
