/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Three threads, three variables: each copies its neighbour's into its own. All three read before any writes.
 */
#include <pthread.h>

static int value[3] = {1, 2, 3};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *copy(void *argument)
{
	int mine = (int)(long)argument, seen;

	pthread_mutex_lock(&lock);
	seen = value[(mine + 1) % 3];
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	value[mine] = seen;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, copy, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	/* One after the other, in any order, two of them end up alike. */
	return value[0] != value[1] && value[1] != value[2] && value[0] != value[2];
}
