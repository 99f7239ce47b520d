/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: publication. A configuration is filled
 * without any lock and then made known by one atomic store; readers take the
 * pointer by one atomic load. A newer one replaces it, as a whole.
 *
 * Why it looks wrong: the members are written without a lock, and read without
 * one. Why it is right: they are written before anybody can see them, and
 * never after.
 *
 * Exit status 1 if a reader sees half a configuration.
 *
 * usage: publication
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../../stage.h"

enum { READERS = 3, VERSIONS = 10, ROUNDS = 50 };

struct config {
	int width, height, area;
};

static struct config versions[VERSIONS];
static struct config *_Atomic current;

static void fill(struct config *config, int size)
{
	config->width = size;
	config->height = size + 1;
	config->area = config->width * config->height;
}

static void publish(int version)
{
	struct config *config = &versions[version];

	fill(config, version + 1);
	atomic_store(&current, config);
}

static int consistent(const struct config *config)
{
	return config->width * config->height == config->area;
}

static void *reader(void *wrong)
{
	for (int i = 0; i < ROUNDS; i++) {
		*(int *)wrong += !consistent(atomic_load(&current));
		STAGE(1);
		AWAIT(2);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[READERS];
	int wrong[READERS] = {0}, sum = 0;

	publish(0);
	for (int i = 0; i < READERS; i++)
		if (pthread_create(&threads[i], NULL, reader, &wrong[i]))
			return 2;
	for (int i = 1; i < VERSIONS; i++) {
		AWAIT(1);
		publish(i);
		STAGE(2);
	}
	for (int i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		sum += wrong[i];
	}
	printf("%d configurations were not whole\n", sum);
	return sum != 0;
}
