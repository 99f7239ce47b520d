/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two threads that take turns: what the second does comes exactly where the first lets it. */
#ifndef MODES_H
#define MODES_H

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static sem_t go, back;
static void (*other)(void);

static void *second(void *unused)
{
	(void)unused;
	for (;;) {
		sem_wait(&go);
		if (!other)
			return NULL;
		other();
		sem_post(&back);
	}
}

/* The other thread does this, all of it, now. */
static void let(void (*what)(void))
{
	other = what;
	sem_post(&go);
	if (what)
		sem_wait(&back);
}

struct mode {
	const char *name;
	void (*run)(void);
};

static int run_mode(const struct mode *modes, const char *name)
{
	pthread_t thread;

	for (; modes->name; modes++)
		if (!strcmp(modes->name, name)) {
			sem_init(&go, 0, 0);
			sem_init(&back, 0, 0);
			pthread_create(&thread, NULL, second, NULL);
			modes->run();
			let(NULL);
			pthread_join(thread, NULL);
			return 0;
		}
	return 2;
}

#endif
