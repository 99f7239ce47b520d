/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * raytracer, in PENELOPE's Table 1 (Java Grande). Threads render parts of an
 * image, each with a scene of its own, and add what they have drawn to one
 * checksum.
 *
 * What breaks: add_checksum locks the scene, and each thread has another one;
 * the checksum has no lock at all.
 *
 * How it shows: the checksum must be that of the whole image; exit status 1
 * otherwise.
 *
 * usage: raytracer [THREADS [HEIGHT]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { WIDTH = 20 };

struct scene {
	pthread_mutex_t lock;
	int from, to; /* rows */
};

static int height = 60;
static long checksum;

static long pixel(int x, int y)
{
	long dx = x - WIDTH / 2, dy = y - height / 2;

	return dx * dx + dy * dy < 64 ? 255 - dx * dx : (x * 31 + y * 17) % 64;
}

static void add_checksum(struct scene *scene, long part)
{
	long before;

	pthread_mutex_lock(&scene->lock);
	before = checksum;
	MEET(2);
	checksum = before + part;
	pthread_mutex_unlock(&scene->lock);
}

static long render(struct scene *scene)
{
	long part = 0;

	for (int y = scene->from; y < scene->to; y++)
		for (int x = 0; x < WIDTH; x++)
			part += pixel(x, y);
	return part;
}

static void *runner(void *scene)
{
	add_checksum(scene, render(scene));
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	pthread_t *threads = calloc(count, sizeof(*threads));
	struct scene *scenes = calloc(count, sizeof(*scenes));
	struct scene whole = {.from = 0};
	long expected;

	if (argc > 2)
		height = atoi(argv[2]);
	whole.to = height;
	expected = render(&whole);
	if (!threads || !scenes)
		return 2;
	for (int i = 0; i < count; i++) {
		pthread_mutex_init(&scenes[i].lock, NULL);
		scenes[i].from = i * height / count;
		scenes[i].to = (i + 1) * height / count;
		if (pthread_create(&threads[i], NULL, runner, &scenes[i]))
			return 2;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("expected %ld, got %ld\n", expected, checksum);
	free(scenes);
	free(threads);
	return checksum != expected;
}
