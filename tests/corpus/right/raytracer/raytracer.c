/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/raytracer: the checksum has a lock of its own.
 *
 * Exit status 1 if the checksum is not that of the whole image.
 *
 * usage: raytracer [THREADS [HEIGHT]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 20 };

struct scene {
	int from, to; /* rows */
};

static int height = 60;
static long checksum;
static pthread_mutex_t checksum_lock = PTHREAD_MUTEX_INITIALIZER;

static long pixel(int x, int y)
{
	long dx = x - WIDTH / 2, dy = y - height / 2;

	return dx * dx + dy * dy < 64 ? 255 - dx * dx : (x * 31 + y * 17) % 64;
}

static void add_checksum(long part)
{
	pthread_mutex_lock(&checksum_lock);
	checksum += part;
	pthread_mutex_unlock(&checksum_lock);
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
	add_checksum(render(scene));
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
