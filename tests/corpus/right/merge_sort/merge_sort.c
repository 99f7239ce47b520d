/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/merge_sort: a thread is granted and counted in one
 * critical section. The parts of the array change hands by create and join
 * alone.
 *
 * Exit status 1 if more threads were alive than allowed, or the array is not
 * sorted.
 *
 * usage: merge_sort [LIMIT [SIZE]]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct crew {
	pthread_mutex_t lock;
	int alive, most_alive, limit;
};

struct part {
	struct crew *crew;
	int *item;
	int count;
};

static bool take_thread(struct crew *crew)
{
	bool may;

	pthread_mutex_lock(&crew->lock);
	may = crew->alive < crew->limit;
	if (may) {
		crew->alive++;
		if (crew->alive > crew->most_alive)
			crew->most_alive = crew->alive;
	}
	pthread_mutex_unlock(&crew->lock);
	return may;
}

static void give_thread(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->alive--;
	pthread_mutex_unlock(&crew->lock);
}

static void merge(int *item, int middle, int count)
{
	int *merged = malloc(count * sizeof(*merged));
	int left = 0, right = middle;

	if (!merged)
		abort();
	for (int i = 0; i < count; i++)
		if (right == count || (left < middle && item[left] <= item[right]))
			merged[i] = item[left++];
		else
			merged[i] = item[right++];
	memcpy(item, merged, count * sizeof(*item));
	free(merged);
}

static void *sort(void *argument)
{
	struct part *part = argument;
	int middle = part->count / 2;
	struct part left = {part->crew, part->item, middle};
	struct part right = {part->crew, part->item + middle, part->count - middle};
	pthread_t thread;

	if (part->count < 2)
		return NULL;
	if (take_thread(part->crew)) {
		if (pthread_create(&thread, NULL, sort, &left))
			abort();
		sort(&right);
		pthread_join(thread, NULL);
		give_thread(part->crew);
	} else {
		sort(&left);
		sort(&right);
	}
	merge(part->item, middle, part->count);
	return NULL;
}

int main(int argc, char **argv)
{
	struct crew crew = {.lock = PTHREAD_MUTEX_INITIALIZER, .alive = 1, .most_alive = 1};
	struct part all = {&crew, NULL, argc > 2 ? atoi(argv[2]) : 64};
	int wrong = 0;

	crew.limit = argc > 1 ? atoi(argv[1]) : 3;
	all.item = calloc(all.count, sizeof(*all.item));
	if (!all.item)
		return 2;
	for (int i = 0; i < all.count; i++)
		all.item[i] = i * 37 % all.count;
	sort(&all);
	for (int i = 1; i < all.count; i++)
		wrong += all.item[i - 1] > all.item[i];
	printf("%d threads of %d, %d neighbours out of order\n", crew.most_alive, crew.limit, wrong);
	free(all.item);
	return wrong || crew.most_alive > crew.limit;
}
