/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each thread creates the next, so that their names are long: T1.1.1 and so on. Right in every interleaving.
 */
#include <pthread.h>

enum { DEPTH = 40 };
static int sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *argument)
{
	long depth = (long)argument;
	pthread_t thread;

	if (depth < DEPTH)
		pthread_create(&thread, NULL, work, (void *)(depth + 1));
	pthread_mutex_lock(&lock);
	sum++;
	pthread_mutex_unlock(&lock);
	if (depth < DEPTH)
		pthread_join(thread, NULL);
	return NULL;
}

int main(void)
{
	work(NULL);
	return sum != DEPTH + 1;
}
