/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A key-value cache with least-recently-used eviction in front of a costly
 * computation, in shards with a mutex each. What is evicted depends on the
 * schedule, but a value never does: a miss computes what a hit would have
 * found. -n: lookups in all.
 */
#include "common.h"

enum { SHARDS = 8, BUCKETS = 1024, CAPACITY = 1200, KEY = 32, KEYS = 12000 };

struct item {
	struct item *chain; /* next in its bucket */
	struct item *newer;
	struct item *older;
	uint32_t hash;
	uint32_t uses;
	uint16_t key_length;
	uint16_t value_length;
	char *value;
	char key[KEY];
};

struct shard {
	pthread_mutex_t lock;
	struct item *buckets[BUCKETS];
	struct item *newest;
	struct item *oldest;
	int count;
	long hits;
	long misses;
	long evictions;
} __attribute__((aligned(64)));

struct cache {
	struct shard shards[SHARDS];
};

struct worker {
	struct cache *cache;
	int number;
	long lookups;
	uint64_t sum;
};

struct text {
	int length;
	char bytes[128];
};

static uint32_t hash_text(const char *text, size_t length)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

static void list_unlink(struct shard *shard, struct item *item)
{
	if (item->newer)
		item->newer->older = item->older;
	else
		shard->newest = item->older;
	if (item->older)
		item->older->newer = item->newer;
	else
		shard->oldest = item->newer;
}

static void list_push(struct shard *shard, struct item *item)
{
	item->newer = NULL;
	item->older = shard->newest;
	if (shard->newest)
		shard->newest->newer = item;
	else
		shard->oldest = item;
	shard->newest = item;
}

static struct item **bucket_find(struct shard *shard, uint32_t hash, const char *key, size_t length)
{
	struct item **link = &shard->buckets[hash / SHARDS % BUCKETS];

	for (; *link; link = &(*link)->chain) {
		struct item *item = *link;

		if (item->hash == hash && item->key_length == length && !memcmp(item->key, key, length))
			break;
	}
	return link;
}

static void item_free(struct item *item)
{
	free(item->value);
	free(item);
}

static void shard_evict(struct shard *shard)
{
	struct item *item = shard->oldest;
	struct item **link = bucket_find(shard, item->hash, item->key, item->key_length);

	*link = item->chain;
	list_unlink(shard, item);
	shard->count--;
	shard->evictions++;
	item_free(item);
}

/* Copies the value to `value` and returns 1, or returns 0. */
static int cache_get(struct cache *cache, const char *key, size_t length, struct text *value)
{
	uint32_t hash = hash_text(key, length);
	struct shard *shard = &cache->shards[hash % SHARDS];
	struct item *item;

	pthread_mutex_lock(&shard->lock);
	item = *bucket_find(shard, hash, key, length);
	if (item) {
		shard->hits++;
		item->uses++;
		value->length = item->value_length;
		memcpy(value->bytes, item->value, item->value_length);
		list_unlink(shard, item);
		list_push(shard, item);
	} else {
		shard->misses++;
	}
	pthread_mutex_unlock(&shard->lock);
	return item != NULL;
}

/* Another thread may have been faster: then its item stays. */
static void cache_put(struct cache *cache, const char *key, size_t length, const struct text *value)
{
	uint32_t hash = hash_text(key, length);
	struct shard *shard = &cache->shards[hash % SHARDS];
	struct item *item = must_alloc(1, sizeof(*item)), **link;

	item->hash = hash;
	item->key_length = length;
	memcpy(item->key, key, length);
	item->value_length = value->length;
	item->value = must_alloc(1, value->length);
	memcpy(item->value, value->bytes, value->length);

	pthread_mutex_lock(&shard->lock);
	link = bucket_find(shard, hash, key, length);
	if (*link) {
		item_free(item);
	} else {
		*link = item;
		list_push(shard, item);
		if (++shard->count > CAPACITY)
			shard_evict(shard);
	}
	pthread_mutex_unlock(&shard->lock);
}

static size_t key_make(char *key, uint64_t id)
{
	char *p = key;

	memcpy(p, "user:", 5);
	p += 5;
	do
		*p++ = "0123456789abcdef"[id & 15];
	while (id >>= 4);
	memcpy(p, ":profile", 8);
	return p + 8 - key;
}

/* Stands for the question to a database. */
static void value_compute(uint64_t id, struct text *value)
{
	uint64_t state = id;

	value->length = 40 + mix(id) % 80;
	for (int i = 0; i < value->length; i++)
		value->bytes[i] = ' ' + next_random(&state) % 90;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = mix(worker->number + 9);
	struct text value;
	char key[KEY];

	for (long i = 0; i < worker->lookups; i++) {
		uint64_t r = next_random(&random);
		uint64_t id = (r % KEYS) * (r >> 32 & 0xffff) >> 16;
		size_t length = key_make(key, id);

		if (!cache_get(worker->cache, key, length, &value)) {
			value_compute(id, &value);
			cache_put(worker->cache, key, length, &value);
		}
		REQUEST(48);
		worker->sum += mix(hash_text(value.bytes, value.length) + id);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 1600000);
	struct cache *cache = aligned_alloc(64, sizeof(*cache));
	struct worker workers[MAX_THREADS] = {0};
	long lookups = 0;
	uint64_t sum = 0;

	if (!cache)
		die("out of memory");
	memset(cache, 0, sizeof(*cache));
	for (int i = 0; i < SHARDS; i++)
		pthread_mutex_init(&cache->shards[i].lock, NULL);
	for (int i = 0; i < options.threads; i++) {
		workers[i].cache = cache;
		workers[i].number = i;
		workers[i].lookups = options.size / options.threads;
	}
	threads_run(options.threads, work, workers, sizeof(*workers));

	for (int i = 0; i < options.threads; i++)
		sum += workers[i].sum;
	for (int i = 0; i < SHARDS; i++) {
		struct shard *shard = &cache->shards[i];
		int count = 0;

		lookups += shard->hits + shard->misses;
		for (struct item *item = shard->newest, *next; item; item = next, count++) {
			next = item->older;
			item_free(item);
		}
		if (count != shard->count || count > CAPACITY)
			die("a shard lost count of its items");
		pthread_mutex_destroy(&shard->lock);
	}
	result_print("cache", lookups, sum);
	free(cache);
	return 0;
}
