/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A parallel merge sort of records with a comparison function, as qsort takes
 * one. The upper levels of the recursion start threads; short runs are sorted
 * by insertion. The sort is stable, so there is one right order. -n: records.
 */
#include "common.h"

enum { RUN = 12, NAME = 12 };

struct record {
	uint32_t key;
	uint32_t group;
	uint32_t serial; /* place in the input */
	char name[NAME];
	double weight;
};

typedef int compare_fn(const struct record *a, const struct record *b);

struct sorter {
	struct record *records;
	struct record *scratch; /* as long as records */
	compare_fn *compare;
	pthread_mutex_t lock;
	long merges;  /* under lock */
	int threads;  /* under lock: started so far */
	int capacity; /* threads that may be started in all */
};

struct range {
	struct sorter *sorter;
	size_t begin;
	size_t end;
};

static int by_group_name_key(const struct record *a, const struct record *b)
{
	int order;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	order = memcmp(a->name, b->name, NAME);
	if (order)
		return order;
	return a->key < b->key ? -1 : a->key > b->key;
}

static int by_key(const struct record *a, const struct record *b)
{
	return a->key < b->key ? -1 : a->key > b->key;
}

static void insertion_sort(struct sorter *sorter, size_t begin, size_t end)
{
	struct record *records = sorter->records;

	for (size_t i = begin + 1; i < end; i++) {
		struct record moved = records[i];
		size_t j = i;

		for (; j > begin && sorter->compare(&moved, &records[j - 1]) < 0; j--)
			records[j] = records[j - 1];
		records[j] = moved;
	}
}

static void merge(struct sorter *sorter, size_t begin, size_t middle, size_t end)
{
	struct record *records = sorter->records, *scratch = sorter->scratch;
	size_t left = begin, right = middle, out = begin;

	if (sorter->compare(&records[middle - 1], &records[middle]) <= 0)
		return;
	memcpy(scratch + begin, records + begin, (middle - begin) * sizeof(*records));
	while (left < middle && right < end) {
		if (sorter->compare(&records[right], &scratch[left]) < 0)
			records[out++] = records[right++];
		else
			records[out++] = scratch[left++];
	}
	memcpy(records + out, scratch + left, (middle - left) * sizeof(*records));
}

/* Returns the number of merges. */
static long sort_range(struct sorter *sorter, size_t begin, size_t end)
{
	size_t middle = begin + (end - begin) / 2;
	long merges;

	if (end - begin <= RUN) {
		insertion_sort(sorter, begin, end);
		REQUEST(6);
		return 0;
	}
	merges = sort_range(sorter, begin, middle);
	merges += sort_range(sorter, middle, end);
	merge(sorter, begin, middle, end);
	return merges + 1;
}

static int sorter_may_start(struct sorter *sorter)
{
	int may;

	pthread_mutex_lock(&sorter->lock);
	may = sorter->threads < sorter->capacity;
	sorter->threads += may;
	pthread_mutex_unlock(&sorter->lock);
	return may;
}

/* Sorts one range, giving its left half to another thread while it may. */
static void *sort_parallel(void *argument)
{
	struct range *range = argument, left;
	struct sorter *sorter = range->sorter;
	size_t middle = range->begin + (range->end - range->begin) / 2;
	long merges;
	pthread_t thread;

	if (range->end - range->begin > 1024 && sorter_may_start(sorter)) {
		struct range right = {sorter, middle, range->end};

		left = (struct range){sorter, range->begin, middle};
		if (pthread_create(&thread, NULL, sort_parallel, &left))
			die("cannot start a thread");
		sort_parallel(&right);
		pthread_join(thread, NULL);
		merge(sorter, range->begin, middle, range->end);
		merges = 1;
	} else {
		merges = sort_range(sorter, range->begin, range->end);
	}
	pthread_mutex_lock(&sorter->lock);
	sorter->merges += merges;
	pthread_mutex_unlock(&sorter->lock);
	return NULL;
}

static void records_fill(struct record *records, size_t count)
{
	uint64_t random = 7;

	for (size_t i = 0; i < count; i++) {
		uint64_t r = next_random(&random);

		records[i].key = r % (count / 2 + 1);
		records[i].group = (r >> 40) % 100;
		records[i].serial = (uint32_t)i;
		records[i].weight = (double)(r >> 50);
		for (int j = 0; j < NAME - 1; j++)
			records[i].name[j] = 'a' + (next_random(&random) >> 10) % 3;
	}
}

static uint64_t records_check(const struct record *records, size_t count, compare_fn *compare)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (i &&
		    (compare(&records[i - 1], &records[i]) > 0 ||
		     (!compare(&records[i - 1], &records[i]) && records[i - 1].serial > records[i].serial)))
			die("the records are not in order");
		sum = sum * 31 + mix(records[i].serial) + (uint64_t)records[i].weight;
	}
	return sum;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 1000000);
	struct record *records = must_alloc(options.size, sizeof(*records));
	struct record *scratch = must_alloc(options.size, sizeof(*scratch));
	compare_fn *const orders[] = {by_group_name_key, by_key};
	uint64_t sum = 0;

	records_fill(records, options.size);
	for (int i = 0; i < 2; i++) {
		struct sorter sorter = {.records = records,
					.scratch = scratch,
					.compare = orders[i],
					.lock = PTHREAD_MUTEX_INITIALIZER,
					.threads = 1,
					.capacity = options.threads};
		struct range all = {&sorter, 0, options.size};

		/* the second order must meet the input as it was, to be checked as stable */
		if (i)
			records_fill(records, options.size);
		sort_parallel(&all);
		sum = mix(sum) + records_check(records, options.size, orders[i]);
		if (options.size > RUN && !sorter.merges)
			die("nothing was merged");
	}
	result_print("sort", options.size, sum);
	free(scratch);
	free(records);
	return 0;
}
