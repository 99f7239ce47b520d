/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hash map with chained nodes and striped locks, used as a table of counters
 * that several threads update at once. Most keys are everybody's; some belong
 * to one thread, which also removes and looks them up, so every answer is
 * known in advance. -n: operations in all.
 */
#include "common.h"

enum { BUCKETS = 1 << 14, STRIPES = 64, SHARED_KEYS = 1 << 15, OWN_KEYS = 1 << 10 };

struct node {
	struct node *next;
	uint64_t key;
	uint32_t updates;
	int64_t total;
	int64_t largest;
};

struct stripe {
	pthread_mutex_t lock;
	long nodes;
	struct node *spare; /* removed nodes wait here for the next insertion */
} __attribute__((aligned(64)));

struct map {
	struct stripe stripes[STRIPES];
	struct node *buckets[BUCKETS];
};

struct worker {
	struct map *map;
	int number;
	long operations;
	long removed;
	int64_t found;
};

static struct stripe *stripe_of(struct map *map, uint64_t hash)
{
	return &map->stripes[hash % STRIPES];
}

static struct map *map_new(void)
{
	struct map *map = must_alloc(1, sizeof(*map));

	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&map->stripes[i].lock, NULL);
	return map;
}

/* The link that points to the key's node, or the null link at the chain's end. */
static struct node **chain_find(struct map *map, uint64_t hash, uint64_t key)
{
	struct node **link = &map->buckets[hash % BUCKETS];

	while (*link && (*link)->key != key)
		link = &(*link)->next;
	return link;
}

static struct node *node_take(struct stripe *stripe)
{
	struct node *node = stripe->spare;

	if (node)
		stripe->spare = node->next;
	else
		node = must_alloc(1, sizeof(*node));
	memset(node, 0, sizeof(*node));
	stripe->nodes++;
	return node;
}

static void map_add(struct map *map, uint64_t key, int64_t amount)
{
	uint64_t hash = mix(key);
	struct stripe *stripe = stripe_of(map, hash);
	struct node **link, *node;

	pthread_mutex_lock(&stripe->lock);
	link = chain_find(map, hash, key);
	node = *link;
	if (!node) {
		node = node_take(stripe);
		node->key = key;
		*link = node;
	}
	node->updates++;
	node->total += amount;
	if (amount > node->largest)
		node->largest = amount;
	pthread_mutex_unlock(&stripe->lock);
}

static int64_t map_total(struct map *map, uint64_t key)
{
	uint64_t hash = mix(key);
	struct stripe *stripe = stripe_of(map, hash);
	struct node *node;
	int64_t total;

	pthread_mutex_lock(&stripe->lock);
	node = *chain_find(map, hash, key);
	total = node ? node->total : 0;
	pthread_mutex_unlock(&stripe->lock);
	return total;
}

static int map_remove(struct map *map, uint64_t key)
{
	uint64_t hash = mix(key);
	struct stripe *stripe = stripe_of(map, hash);
	struct node **link, *node;

	pthread_mutex_lock(&stripe->lock);
	link = chain_find(map, hash, key);
	node = *link;
	if (node) {
		*link = node->next;
		node->next = stripe->spare;
		stripe->spare = node;
		stripe->nodes--;
	}
	pthread_mutex_unlock(&stripe->lock);
	return node != NULL;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = mix(worker->number + 1);

	for (long i = 0; i < worker->operations; i++) {
		uint64_t r = next_random(&random);
		uint64_t own = SHARED_KEYS + (uint64_t)worker->number * OWN_KEYS + (r >> 32) % OWN_KEYS;

		REQUEST(192);
		switch (r % 16) {
		case 0:
		case 1:
			map_add(worker->map, own, r >> 50);
			break;
		case 2:
			worker->found += map_total(worker->map, own);
			break;
		case 3:
			worker->removed += map_remove(worker->map, own);
			break;
		default:
			map_add(worker->map, (r >> 32) % SHARED_KEYS, r >> 50);
		}
	}
	return NULL;
}

static uint64_t map_checksum(const struct map *map, long *nodes)
{
	uint64_t sum = 0;

	*nodes = 0;
	for (int i = 0; i < BUCKETS; i++) {
		for (const struct node *n = map->buckets[i]; n; n = n->next) {
			sum += mix(n->key ^ mix(n->total) ^ ((uint64_t)n->updates << 20) ^ n->largest);
			(*nodes)++;
		}
	}
	return sum;
}

static void map_free(struct map *map)
{
	for (int i = 0; i < BUCKETS; i++) {
		for (struct node *n = map->buckets[i], *next; n; n = next) {
			next = n->next;
			free(n);
		}
	}
	for (int i = 0; i < STRIPES; i++) {
		for (struct node *n = map->stripes[i].spare, *next; n; n = next) {
			next = n->next;
			free(n);
		}
		pthread_mutex_destroy(&map->stripes[i].lock);
	}
	free(map);
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 4, 6000000);
	struct worker workers[MAX_THREADS] = {0};
	struct map *map = map_new();
	long nodes, counted = 0;
	uint64_t sum;

	for (int i = 0; i < options.threads; i++) {
		workers[i].map = map;
		workers[i].number = i;
		workers[i].operations = options.size / options.threads;
	}
	threads_run(options.threads, work, workers, sizeof(*workers));

	sum = map_checksum(map, &nodes);
	for (int i = 0; i < options.threads; i++)
		sum += mix(workers[i].found) + mix(workers[i].removed);
	for (int i = 0; i < STRIPES; i++)
		counted += map->stripes[i].nodes;
	if (counted != nodes)
		die("the stripes count other nodes than the chains hold");
	result_print("hashmap", nodes, sum);
	map_free(map);
	return 0;
}
