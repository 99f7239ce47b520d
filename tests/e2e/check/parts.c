/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Static functions that call themselves, or get memory, are parts of what calls
 * them, if that is a unit for what they work on anyway: functions on the tree. (The
 * leaves are told of by themselves. They come as parameters, which shows no owner.)
 * Who works on something else and puts two items into a queue means each by itself.
 */
#include "stage.h"

struct leaf {
	struct leaf *left, *right;
	int key;
};
struct tree {
	pthread_mutex_t lock;
	struct leaf *root;
	int count;
};
struct item {
	struct item *next;
	int value;
};
struct queue {
	pthread_mutex_t lock;
	struct item *first;
	int count;
};
struct order {
	int one, two;
};

static struct tree tree = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int is_below(const struct leaf *leaf, int key)
{
	return leaf && (leaf->key == key || is_below(leaf->left, key) || is_below(leaf->right, key));
}

static struct leaf *put_below(struct tree *t, struct leaf *leaf, int key)
{
	if (!leaf) {
		leaf = calloc(1, sizeof(*leaf));
		leaf->key = key;
		t->count++;
	} else if (key < leaf->key) {
		leaf->left = put_below(t, leaf->left, key);
	} else {
		leaf->right = put_below(t, leaf->right, key);
	}
	return leaf;
}

void put(struct tree *t, int key)
{
	pthread_mutex_lock(&t->lock);
	t->root = put_below(t, t->root, key);
	pthread_mutex_unlock(&t->lock);
}

/* Not atomic. */
void put_once(struct tree *t, int key)
{
	int there;

	pthread_mutex_lock(&t->lock);
	there = is_below(t->root, key);
	pthread_mutex_unlock(&t->lock);
	STAGE(0);
	STAGE(3);
	if (!there)
		put(t, key);
}

static void push(struct queue *q, int value)
{
	struct item *item = malloc(sizeof(*item));

	item->value = value;
	item->next = q->first;
	q->first = item;
	q->count++;
}

/* Right. */
void push_two(const struct order *order)
{
	pthread_mutex_lock(&queue.lock);
	push(&queue, order->one);
	pthread_mutex_unlock(&queue.lock);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&queue.lock);
	push(&queue, order->two);
	pthread_mutex_unlock(&queue.lock);
}

static void *first(void *unused)
{
	struct order order = {1, 2};

	put_once(&tree, 3);
	push_two(&order);
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	put(&tree, 3);
	STAGE(2);
	STAGE(5);
	pthread_mutex_lock(&queue.lock);
	push(&queue, 3);
	pthread_mutex_unlock(&queue.lock);
	STAGE(6);
	return unused;
}

int main(void)
{
	put(&tree, 2);
	put(&tree, 1);
	TOGETHER(first, second);
	use(tree.count + queue.count);
	return 0;
}
