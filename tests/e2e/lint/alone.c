/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No threads at all.
 * expect nothing
 * expect blind spot: no thread is created
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value;

static int get(void)
{
	int now;

	pthread_mutex_lock(&lock);
	now = value;
	pthread_mutex_unlock(&lock);
	return now;
}

int main(void)
{
	int now = get();

	pthread_mutex_lock(&lock);
	value = now + 1;
	pthread_mutex_unlock(&lock);
	return value - 1;
}
