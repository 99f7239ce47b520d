/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The shared object of dlopen.c. */
#include <pthread.h>

pthread_mutex_t in_plugin = PTHREAD_MUTEX_INITIALIZER;
extern pthread_mutex_t in_program;

static void *run(void *unused)
{
	pthread_mutex_lock(&in_plugin);
	pthread_mutex_unlock(&in_plugin);
	return unused;
}

void plugin_work(void);
void plugin_work(void)
{
	pthread_t thread;

	pthread_mutex_lock(&in_program);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	pthread_mutex_unlock(&in_program);
}
