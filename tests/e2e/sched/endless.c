/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that never ends: it computes, or, with an argument, is killed by a watchdog of its own. */
#include <pthread.h>
#include <unistd.h>

static volatile unsigned long steps;

static void *work(void *unused)
{
	for (;;)
		steps++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		alarm(1);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
