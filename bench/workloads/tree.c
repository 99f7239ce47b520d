/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An index of balanced search trees (AVL), each with a range of the keys and a
 * reader-writer lock. Each thread inserts, looks up and removes entries of its
 * own and reads everybody's, so the contents at the end are known whatever the
 * shape of the trees. -n: operations in all.
 */
#include "common.h"

enum { TREES = 32, KEYS = 40000 };

struct entry {
	uint64_t key;
	uint64_t value;
	uint32_t version;
};

struct node {
	struct node *left;
	struct node *right;
	int height;
	struct entry entry;
};

struct tree {
	pthread_rwlock_t lock;
	struct node *root;
	struct node *spare;
	long count;
} __attribute__((aligned(64)));

struct index {
	struct tree trees[TREES];
};

struct worker {
	struct index *index;
	int number;
	int threads;
	long operations;
	long range; /* of own keys */
	uint64_t seen;
	long hits;
};

static int height(const struct node *node)
{
	return node ? node->height : 0;
}

static void node_update(struct node *node)
{
	int left = height(node->left), right = height(node->right);

	node->height = 1 + (left > right ? left : right);
}

static struct node *rotate_right(struct node *node)
{
	struct node *top = node->left;

	node->left = top->right;
	top->right = node;
	node_update(node);
	node_update(top);
	return top;
}

static struct node *rotate_left(struct node *node)
{
	struct node *top = node->right;

	node->right = top->left;
	top->left = node;
	node_update(node);
	node_update(top);
	return top;
}

static struct node *rebalance(struct node *node)
{
	int balance = height(node->left) - height(node->right);

	if (balance > 1) {
		if (height(node->left->left) < height(node->left->right))
			node->left = rotate_left(node->left);
		return rotate_right(node);
	}
	if (balance < -1) {
		if (height(node->right->right) < height(node->right->left))
			node->right = rotate_right(node->right);
		return rotate_left(node);
	}
	node_update(node);
	return node;
}

static struct node *node_take(struct tree *tree, const struct entry *entry)
{
	struct node *node = tree->spare;

	if (node)
		tree->spare = node->right;
	else
		node = must_alloc(1, sizeof(*node));
	*node = (struct node){.height = 1, .entry = *entry};
	tree->count++;
	return node;
}

static struct node *insert_below(struct tree *tree, struct node *node, const struct entry *entry)
{
	if (!node)
		return node_take(tree, entry);
	if (entry->key == node->entry.key) {
		node->entry.value = entry->value;
		node->entry.version++;
		return node;
	}
	if (entry->key < node->entry.key)
		node->left = insert_below(tree, node->left, entry);
	else
		node->right = insert_below(tree, node->right, entry);
	return rebalance(node);
}

static struct node *detach_least(struct node *node, struct node **least)
{
	if (!node->left) {
		*least = node;
		return node->right;
	}
	node->left = detach_least(node->left, least);
	return rebalance(node);
}

static struct node *remove_below(struct tree *tree, struct node *node, uint64_t key, struct node **removed)
{
	struct node *least;

	if (!node)
		return NULL;
	if (key < node->entry.key) {
		node->left = remove_below(tree, node->left, key, removed);
		return rebalance(node);
	}
	if (key > node->entry.key) {
		node->right = remove_below(tree, node->right, key, removed);
		return rebalance(node);
	}
	*removed = node;
	if (!node->left || !node->right)
		return node->left ? node->left : node->right;
	node->right = detach_least(node->right, &least);
	least->left = node->left;
	least->right = node->right;
	return rebalance(least);
}

static struct tree *tree_of(struct index *index, uint64_t key)
{
	return &index->trees[key * TREES / KEYS];
}

static void index_insert(struct index *index, uint64_t key, uint64_t value)
{
	struct tree *tree = tree_of(index, key);
	struct entry entry = {key, value, 0};

	pthread_rwlock_wrlock(&tree->lock);
	tree->root = insert_below(tree, tree->root, &entry);
	pthread_rwlock_unlock(&tree->lock);
}

static int index_remove(struct index *index, uint64_t key)
{
	struct tree *tree = tree_of(index, key);
	struct node *removed = NULL;

	pthread_rwlock_wrlock(&tree->lock);
	tree->root = remove_below(tree, tree->root, key, &removed);
	if (removed) {
		removed->right = tree->spare;
		tree->spare = removed;
		tree->count--;
	}
	pthread_rwlock_unlock(&tree->lock);
	return removed != NULL;
}

static int index_find(struct index *index, uint64_t key, struct entry *found)
{
	struct tree *tree = tree_of(index, key);
	struct node *node;

	pthread_rwlock_rdlock(&tree->lock);
	node = tree->root;
	while (node && node->entry.key != key)
		node = key < node->entry.key ? node->left : node->right;
	if (node)
		*found = node->entry;
	pthread_rwlock_unlock(&tree->lock);
	return node != NULL;
}

static uint64_t value_of(uint64_t key)
{
	return mix(key * 3 + 1);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	uint64_t random = mix(worker->number + 5);
	struct entry entry;

	for (long i = 0; i < worker->operations; i++) {
		uint64_t r = next_random(&random);
		uint64_t own = (r >> 8) % worker->range * worker->threads + worker->number;
		uint64_t any = (r >> 20) % (worker->range * worker->threads);

		REQUEST(80);
		switch (r % 8) {
		case 0:
			index_insert(worker->index, own, value_of(own));
			break;
		case 1:
			if (r & 1024)
				worker->hits += index_remove(worker->index, own);
			break;
		case 2:
		case 3:
			if (index_find(worker->index, own, &entry)) {
				worker->hits++;
				worker->seen += entry.value + entry.version;
			}
			break;
		default:
			if (index_find(worker->index, any, &entry) && entry.value != value_of(any))
				die("an entry has another key's value");
		}
	}
	return NULL;
}

/* In key order; also tells whether the tree is still what it should be. */
static uint64_t node_checksum(const struct node *node, uint64_t sum)
{
	int balance;

	if (!node)
		return sum;
	balance = height(node->left) - height(node->right);
	if (balance < -1 || balance > 1 || (node->left && node->left->entry.key >= node->entry.key) ||
	    (node->right && node->right->entry.key <= node->entry.key))
		die("the tree is out of order or out of balance");
	sum = node_checksum(node->left, sum);
	sum = sum * 31 + node->entry.value + node->entry.version;
	return node_checksum(node->right, sum);
}

static void node_free(struct node *node)
{
	if (!node)
		return;
	node_free(node->left);
	node_free(node->right);
	free(node);
}

int main(int argc, char **argv)
{
	struct options options = options_read(argc, argv, 2, 2500000);
	struct worker workers[MAX_THREADS] = {0};
	static struct index index;
	uint64_t sum = 0;
	long count = 0;

	for (int i = 0; i < TREES; i++)
		pthread_rwlock_init(&index.trees[i].lock, NULL);
	for (int i = 0; i < options.threads; i++) {
		workers[i] = (struct worker){.index = &index,
					     .number = i,
					     .threads = options.threads,
					     .operations = options.size / options.threads,
					     .range = KEYS / options.threads};
	}
	threads_run(options.threads, work, workers, sizeof(*workers));

	for (int i = 0; i < options.threads; i++)
		sum += mix(workers[i].seen + workers[i].hits);
	for (int i = 0; i < TREES; i++) {
		struct tree *tree = &index.trees[i];

		sum = node_checksum(tree->root, sum);
		count += tree->count;
		node_free(tree->root);
		for (struct node *node = tree->spare, *next; node; node = next) {
			next = node->right;
			free(node);
		}
		pthread_rwlock_destroy(&tree->lock);
	}
	result_print("tree", count, sum);
	return 0;
}
