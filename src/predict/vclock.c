/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/vclock.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_WORDS (1u << 16)
#define MEMORY_LIMIT (384ull << 20)

struct vclock_chunk {
	struct vclock_chunk *next;
	uint32_t used, room;
	uint32_t words[];
};

void vclock_init(struct vclock *v, uint32_t threads)
{
	*v = (struct vclock){.thread_count = threads};
	v->threads = mem_zalloc(threads + 1ull, sizeof(*v->threads));
}

void vclock_release(struct vclock *v)
{
	for (uint32_t t = 0; t < v->thread_count; t++)
		free(v->threads[t].versions);
	free(v->threads);
	while (v->chunks) {
		struct vclock_chunk *next = v->chunks->next;

		free(v->chunks);
		v->chunks = next;
	}
	*v = (struct vclock){0};
}

/* The version in force once the thread executed its events below the limit; NULL: none yet. */
static const struct vclock_version *version_at(const struct vclock *v, uint32_t thread, uint32_t limit)
{
	const struct vclock_thread *t = &v->threads[thread];
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->versions[middle].event < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &t->versions[low - 1] : NULL;
}

uint32_t vclock_needs(const struct vclock *v, uint32_t thread, uint32_t limit, uint32_t other)
{
	const struct vclock_version *version = version_at(v, thread, limit);

	return version && other < version->length ? version->limits[other] : 0;
}

uint32_t vclock_first(const struct vclock *v, uint32_t thread, uint32_t other, uint32_t need)
{
	const struct vclock_thread *t = &v->threads[thread];
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct vclock_version *version = &t->versions[middle];

		if (other < version->length && version->limits[other] >= need)
			high = middle;
		else
			low = middle + 1;
	}
	return low < t->count ? t->versions[low].event : UINT32_MAX;
}

static void sum_length(struct vclock_sum *sum, uint32_t length)
{
	if (length > sum->room) {
		sum->room = length * 2;
		sum->limits = mem_resize(sum->limits, sum->room, sizeof(*sum->limits));
	}
	if (length > sum->length) {
		memset(sum->limits + sum->length, 0, (length - sum->length) * sizeof(*sum->limits));
		sum->length = length;
	}
}

static void sum_version(struct vclock_sum *sum, const struct vclock_version *version)
{
	if (!version)
		return;
	sum_length(sum, version->length);
	for (uint32_t i = 0; i < version->length; i++)
		if (version->limits[i] > sum->limits[i])
			sum->limits[i] = version->limits[i];
}

void vclock_sum_add(const struct vclock *v, struct vclock_sum *sum, uint32_t from, uint32_t from_event)
{
	sum_version(sum, version_at(v, from, from_event + 1));
	sum_length(sum, from + 1);
	if (sum->limits[from] < from_event + 1)
		sum->limits[from] = from_event + 1;
	sum->shared = NULL;
}

static uint32_t *words(struct vclock *v, uint32_t count)
{
	struct vclock_chunk *chunk = v->chunks;

	if (!chunk || chunk->room - chunk->used < count) {
		uint32_t room = count > CHUNK_WORDS ? count : CHUNK_WORDS;

		chunk = mem_alloc(sizeof(*chunk) + (uint64_t)room * sizeof(uint32_t));
		chunk->next = v->chunks;
		chunk->used = 0;
		chunk->room = room;
		v->chunks = chunk;
		v->memory += (uint64_t)room * sizeof(uint32_t);
	}
	chunk->used += count;
	return chunk->words + chunk->used - count;
}

static void add_version(struct vclock_thread *t, struct vclock_version version)
{
	if (t->count && t->versions[t->count - 1].event == version.event) {
		t->versions[t->count - 1] = version;
		return;
	}
	if (t->count == t->room) {
		t->room = t->room ? t->room * 2 : 4;
		t->versions = mem_resize(t->versions, t->room, sizeof(*t->versions));
	}
	t->versions[t->count++] = version;
}

void vclock_sum_use(struct vclock *v, struct vclock_sum *sum, uint32_t to, uint32_t to_event)
{
	struct vclock_thread *t = &v->threads[to];
	const struct vclock_version *last = t->count ? &t->versions[t->count - 1] : NULL;
	bool news = !last, all = true; /* does the sum add something; has it all that was there? */

	for (uint32_t i = 0; last && i < sum->length; i++)
		news |= i != to && sum->limits[i] > (i < last->length ? last->limits[i] : 0);
	if (!news)
		return;
	for (uint32_t i = 0; last && i < last->length; i++)
		all &= i < sum->length && sum->limits[i] >= last->limits[i];
	if (v->memory > MEMORY_LIMIT) {
		v->dropped++;
		return;
	}
	if (!all) { /* for this thread alone */
		struct vclock_sum own = {0};

		sum_version(&own, &(struct vclock_version){0, sum->length, sum->limits});
		sum_version(&own, last);
		add_version(t, (struct vclock_version){to_event, own.length,
						       memcpy(words(v, own.length), own.limits,
							      own.length * sizeof(uint32_t))});
		vclock_sum_release(&own);
		return;
	}
	if (!sum->shared)
		sum->shared = memcpy(words(v, sum->length), sum->limits, sum->length * sizeof(uint32_t));
	add_version(t, (struct vclock_version){to_event, sum->length, sum->shared});
}

void vclock_edge(struct vclock *v, uint32_t from, uint32_t from_event, uint32_t to, uint32_t to_event)
{
	struct vclock_sum sum = {0};

	if (vclock_needs(v, to, to_event + 1, from) >= from_event + 1)
		return;
	vclock_sum_add(v, &sum, from, from_event);
	vclock_sum_use(v, &sum, to, to_event);
	vclock_sum_release(&sum);
}

void vclock_sum_release(struct vclock_sum *sum)
{
	free(sum->limits);
	*sum = (struct vclock_sum){0};
}
