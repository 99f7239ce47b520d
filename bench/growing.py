# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of a given size, to see how the time of an analysis goes with it.

A program is a server of many modules. Each has a table with a lock of its own, items on the heap, counters that all
modules share, and handlers that threads reach through a table of function pointers; handlers call other modules
directly and by the table, so nearly all functions call each other. Every tenth module looks in one critical section
and acts in another.

There are three kinds, by what grows with the program: "modules", with their types and locks, while there are four equal
threads; "threads", the same, and every fourth module has a thread of its own; "users", functions that use the same eight
tables, with four locks, through the same types.
"""

HEAD = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct request { int module, kind; long key, value, answer; struct request *next; };
struct ops { const char *name; long (*handle)(struct request *); long (*report)(long); };
struct shared { pthread_mutex_t lock; long requests, hits, misses, bytes; };
extern struct shared shared;
extern const struct ops *modules[];
extern int module_count;
long submit(int module, int kind, long key, long value);
void account(long hits, long misses, long bytes);
"""

MODULE = """
struct item@ { struct item@ *next; long key, value, uses; char name[16]; };
struct table@ { pthread_mutex_t lock; pthread_cond_t room; struct item@ *buckets[64]; long count, limit, version; int busy; };
static struct table@ table@ = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 1000, 0, 0 };

static unsigned hash@(long key) { return (unsigned)(key * 2654435761u >> 7) % 64; }

static struct item@ *find@(struct table@ *t, long key)
{
	struct item@ *i = t->buckets[hash@(key)];

	while (i && i->key != key)
		i = i->next;
	return i;
}

static struct item@ *make@(long key, long value)
{
	struct item@ *i = calloc(1, sizeof(*i));

	if (!i)
		abort();
	i->key = key;
	i->value = value;
	strcpy(i->name, "item");
	return i;
}

static int insert@(struct table@ *t, long key, long value)
{
	struct item@ *i;
	int made = 0;

	pthread_mutex_lock(&t->lock);
	while (t->busy)
		pthread_cond_wait(&t->room, &t->lock);
	i = find@(t, key);
	if (!i && t->count < t->limit) {
		i = make@(key, value);
		i->next = t->buckets[hash@(key)];
		t->buckets[hash@(key)] = i;
		t->count++;
		t->version++;
		made = 1;
	} else if (i) {
		i->value = value;
		i->uses++;
	}
	pthread_mutex_unlock(&t->lock);
	account(!made, made, made ? (long)sizeof(*i) : 0);
	return made;
}

static long lookup@(struct table@ *t, long key)
{
	struct item@ *i;
	long value = -1;

	pthread_mutex_lock(&t->lock);
	i = find@(t, key);
	if (i) {
		i->uses++;
		value = i->value;
	}
	pthread_mutex_unlock(&t->lock);
	account(value >= 0, value < 0, 0);
	return value;
}

static void drop@(struct table@ *t, long key)
{
	struct item@ **at, *i;

	pthread_mutex_lock(&t->lock);
	at = &t->buckets[hash@(key)];
	while ((i = *at) && i->key != key)
		at = &i->next;
	if (i) {
		*at = i->next;
		t->count--;
		t->version++;
	}
	pthread_mutex_unlock(&t->lock);
	free(i);
}

static long count@(struct table@ *t)
{
	long n;

	pthread_mutex_lock(&t->lock);
	n = t->count;
	pthread_mutex_unlock(&t->lock);
	return n;
}

static void limit@(struct table@ *t, long limit)
{
	pthread_mutex_lock(&t->lock);
	t->limit = limit;
	t->busy = 0;
	pthread_cond_broadcast(&t->room);
	pthread_mutex_unlock(&t->lock);
}

long sum@(long least)
{
	long sum = 0;

	pthread_mutex_lock(&table@.lock);
	for (int b = 0; b < 64; b++)
		for (struct item@ *i = table@.buckets[b]; i; i = i->next)
			if (i->value >= least)
				sum += i->value * i->uses;
	pthread_mutex_unlock(&table@.lock);
	return sum;
}

static long handle@(struct request *r)
{
	switch (r->kind) {
	case 0:
		r->answer = insert@(&table@, r->key, r->value);
		break;
	case 1:
		r->answer = lookup@(&table@, r->key);
		break;
	case 2:
		drop@(&table@, r->key);
		break;
	case 3:
		r->answer = submit(r->module - 1, 1, r->key, NEAR(0));
		break;
	default:
		r->answer = FAR(r->key);
		ACT
	}
	return r->answer;
}

const struct ops ops@ = { "module @", handle@, sum@ };
"""

# A thread of a module's own, which makes room from time to time; and none.
TENDER = """
void *tend@(void *unused)
{
	for (int i = 0; i < 100; i++) {
		long n = count@(&table@);

		if (n > 800)
			limit@(&table@, n / 2);
		account(0, 0, n);
	}
	return unused;
}
"""

# What uses common tables.
USERS_HEAD = """
struct item { struct item *next; long key, value, uses; char name[16]; };
struct table { struct item *buckets[64]; long count, limit, version; };
struct guarded { pthread_mutex_t lock; struct table first, second; };
static struct guarded guarded[4];
static unsigned hash(long key) { return (unsigned)(key * 2654435761u >> 7) % 64; }

static struct item *find(struct table *t, long key)
{
	struct item *i = t->buckets[hash(key)];

	while (i && i->key != key)
		i = i->next;
	return i;
}
"""

USER = """
static long put@(struct guarded *g, long key, long value)
{
	struct item *i;

	pthread_mutex_lock(&g->lock);
	i = find(&g->first, key);
	if (!i && g->first.count < g->first.limit && (i = calloc(1, sizeof(*i)))) {
		i->key = key;
		i->next = g->first.buckets[hash(key)];
		g->first.buckets[hash(key)] = i;
		g->first.count++;
		g->first.version++;
	}
	if (i)
		i->value = value;
	pthread_mutex_unlock(&g->lock);
	return i != 0;
}

static long move@(struct guarded *g, long key)
{
	struct item **at, *i;

	pthread_mutex_lock(&g->lock);
	at = &g->first.buckets[hash(key)];
	while ((i = *at) && i->key != key)
		at = &i->next;
	if (i) {
		*at = i->next;
		i->next = g->second.buckets[hash(key)];
		g->second.buckets[hash(key)] = i;
		g->first.count--;
		g->second.count++;
	}
	pthread_mutex_unlock(&g->lock);
	return i ? i->value : -1;
}

static long room@(struct guarded *g)
{
	long n;

	pthread_mutex_lock(&g->lock);
	n = g->first.limit - g->first.count;
	pthread_mutex_unlock(&g->lock);
	return n;
}

long sum@(long least)
{
	struct guarded *g = &guarded[(least + @) % 4];
	long sum = 0;

	pthread_mutex_lock(&g->lock);
	for (int b = 0; b < 64; b++)
		for (struct item *i = g->second.buckets[b]; i; i = i->next)
			if (i->value >= least)
				sum += i->value * i->uses;
	pthread_mutex_unlock(&g->lock);
	return sum;
}

static long handle@(struct request *r)
{
	struct guarded *g = &guarded[(r->key + @) % 4];

	switch (r->kind) {
	case 0:
		r->answer = ACT put@(g, r->key, r->value);
		break;
	case 1:
		r->answer = move@(g, r->key);
		break;
	case 2:
		r->answer = submit(r->module - 1, 1, r->key, NEAR(0));
		break;
	default:
		r->answer = FAR(r->key);
	}
	return r->answer;
}

const struct ops ops@ = { "user @", handle@, sum@ };
"""

# To look in one section and act in another; and not to.
SPLIT = "if (count@(&table@) > 900)\n\t\t\tlimit@(&table@, count@(&table@) * 2);"
WHOLE = "if (r->value > 900)\n\t\t\tlimit@(&table@, r->value);"

TAIL = """
struct shared shared = { PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0 };
static struct { pthread_mutex_t lock; pthread_cond_t work; struct request *first; int over; } queue =
	{ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };

void account(long hits, long misses, long bytes)
{
	pthread_mutex_lock(&shared.lock);
	shared.requests++;
	shared.hits += hits;
	shared.misses += misses;
	shared.bytes += bytes;
	pthread_mutex_unlock(&shared.lock);
}

static long dispatch(struct request *r)
{
	if (r->module < 0 || r->module >= module_count)
		return -1;
	return modules[r->module]->handle(r);
}

long submit(int module, int kind, long key, long value)
{
	struct request r = { module, kind, key, value, 0, 0 };

	return dispatch(&r) + (module >= 0 ? modules[module]->report(value) : 0);
}

static void *work(void *unused)
{
	for (;;) {
		struct request *r;

		pthread_mutex_lock(&queue.lock);
		while (!queue.first && !queue.over)
			pthread_cond_wait(&queue.work, &queue.lock);
		r = queue.first;
		if (r)
			queue.first = r->next;
		pthread_mutex_unlock(&queue.lock);
		if (!r)
			return unused;
		dispatch(r);
		free(r);
	}
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 1000; i++) {
		struct request *r = calloc(1, sizeof(*r));

		if (!r)
			abort();
		*r = (struct request){ i % module_count, i % 5, i, i, 0, 0 };
		pthread_mutex_lock(&queue.lock);
		r->next = queue.first;
		queue.first = r;
		pthread_cond_signal(&queue.work);
		pthread_mutex_unlock(&queue.lock);
	}
	pthread_mutex_lock(&queue.lock);
	queue.over = 1;
	pthread_cond_broadcast(&queue.work);
	pthread_mutex_unlock(&queue.lock);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], 0);
	return 0;
}
"""


def program(lines, kind="modules"):
    """The text of a C program with about so many lines."""
    head, module = (HEAD + USERS_HEAD, USER) if kind == "users" else (HEAD, MODULE)
    split, whole = ("room@(g) > 0 &&", "") if kind == "users" else (SPLIT, WHOLE)
    each = module.count("\n") + 3 + (TENDER.count("\n") // 4 if kind == "threads" else 0)
    count = max(2, (lines - head.count("\n") - TAIL.count("\n")) // each)
    tended = range(0, count, 4) if kind == "threads" else []
    near = [f"sum{max(0, k - 1)}" for k in range(count)]
    far = [f"sum{k * 7 % count}" for k in range(count)]
    parts = [head, *(f"long sum{k}(long least);" for k in range(count))]
    for k in range(count):
        text = module + (TENDER if k in tended else "")
        text = text.replace("NEAR", near[k]).replace("FAR", far[k]).replace("ACT", split if k % 10 == 3 else whole)
        parts.append(text.replace("@", str(k)))
    parts.append("const struct ops *modules[] = {")
    parts += [f"\t&ops{k}," for k in range(count)]
    begin = "".join(f"\tpthread_t tender{k};\n\tpthread_create(&tender{k}, 0, tend{k}, 0);\n" for k in tended)
    end = "".join(f"\tpthread_join(tender{k}, 0);\n" for k in tended)
    tail = TAIL.replace("\tpthread_t threads[4];\n", f"\tpthread_t threads[4];\n{begin}")
    tail = tail.replace("\treturn 0;\n}\n", f"{end}\treturn 0;\n}}\n")
    parts += ["};", f"int module_count = {count};", tail]
    return "\n".join(parts)
