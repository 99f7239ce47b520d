/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The same as owned.cc in C: structs that own what malloc() gave, and what
 * realloc() makes of it. compiled.py looks for the lines in the trace: "seen" must
 * be there, "written" as a write, "private" must not.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
/* Others look at what was published, and what they see must have been written. */
#define LOOK() __asm__ volatile("" : : : "memory")

struct numbers {
	long *items;
	size_t used, room;
};

struct node {
	struct node *next;
	long value;
};

static volatile long sum;
struct numbers shared;
struct numbers *published;
long *published_items;
uintptr_t published_number;
struct node *published_list;
int published_halves[2];

static void must(const void *p)
{
	if (!p)
		abort();
}

static inline void add(struct numbers *to, long item)
{
	if (to->used == to->room) {
		to->room = to->room ? 2 * to->room : 4;
		to->items = realloc(to->items, to->room * sizeof(*to->items));
		must(to->items);
	}
	to->items[to->used++] = item;
}

/* ---- one's own ---- */

NOINLINE static void own_array(size_t n)
{
	struct numbers own = {malloc(n * sizeof(long)), n, n};
	struct numbers *volatile hidden = NULL;
	long all = 0;

	must(own.items);
	memset(own.items, 0, n * sizeof(long));
	for (size_t i = 0; i < n; i++)
		own.items[i * 7 % n] += (long)i; /* private */
	for (size_t i = 0; i < own.used; i++)
		all += own.items[i] * (long)i; /* private */
	free(own.items);
	sum = sum + all + (hidden != NULL);
}

/* The local is in memory, as it is given to a function. */
NOINLINE static void append(struct numbers *to, long from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(to, from + (long)i);
}

NOINLINE static void own_growing(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	long all = 0;

	append(&own, 3, n);
	append(&own, 4, n);
	for (size_t i = 0; i < own.used; i++)
		all += own.items[i] * (long)i; /* private */
	free(own.items);
	sum = sum + all;
}

/* Each node of a list is owned by the one in front of it. */
NOINLINE static void own_list(long n)
{
	struct node *first = NULL, *next;
	long all = 0;

	for (long i = 0; i < n; i++) {
		struct node *node = malloc(sizeof(*node));

		must(node);
		node->value = i * n; /* private */
		node->next = first;  /* private */
		first = node;
	}
	for (const struct node *node = first; node; node = node->next) /* private */
		all += node->value;                                    /* private */
	for (; first; first = next) {
		next = first->next; /* private */
		free(first);
	}
	sum = sum + all;
}

NOINLINE static void own_rows(size_t n)
{
	long **rows = calloc(n, sizeof(*rows)), all = 0;

	must(rows);
	for (size_t i = 0; i < n; i++) {
		rows[i] = calloc(n, sizeof(**rows)); /* private */
		must(rows[i]);
		rows[i][i] = (long)i; /* private */
	}
	for (size_t i = 0; i < n; i++)
		all += rows[i][n - 1 - i] + rows[i][i]; /* private */
	for (size_t i = 0; i < n; i++)
		free(rows[i]); /* private */
	free(rows);
	sum = sum + all;
}

/* ---- handed on ---- */

NOINLINE static void items_in_a_global(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	published_items = own.items;
	own.items[n / 2] = (long)n; /* written: items_in_a_global */
	LOOK();
	published_items = NULL;
	free(own.items);
}

NOINLINE static void a_node_in_a_global(long n)
{
	struct node *first = NULL, *next;

	for (long i = 0; i < n; i++) {
		struct node *node = malloc(sizeof(*node));

		must(node);
		node->value = i * n; /* written: a_node_in_a_global */
		node->next = first;  /* written: a_node_in_a_global */
		first = node;
	}
	published_list = first->next->next;
	LOOK();
	published_list = NULL;
	for (; first; first = next) {
		next = first->next; /* seen: a_node_in_a_global */
		free(first);
	}
}

/* The last one of the list leads to another's. */
struct node others = {NULL, 0};

NOINLINE static void ends_in_a_global(long n)
{
	struct node *first = &others, *next;

	for (long i = 0; i < n; i++) {
		struct node *node = malloc(sizeof(*node));

		must(node);
		node->value = i * n;
		node->next = first;
		first = node;
	}
	for (struct node *node = first; node; node = node->next)
		node->value++; /* written: ends_in_a_global */
	for (; first != &others; first = next) {
		next = first->next;
		free(first);
	}
}

NOINLINE static void as_a_number(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	published_number = (uintptr_t)own.items + 1;
	own.items[n / 2] = (long)n; /* written: as_a_number */
	LOOK();
	published_number = 0;
	free(own.items);
}

/* How far it is from null is where it is. */
NOINLINE static void as_a_distance(size_t n)
{
	struct {
		struct numbers own, none;
	} both = {{NULL, 0, 0}, {NULL, 0, 0}};

	append(&both.own, 3, n);
	append(&both.none, 3, n & 1 ? n : 0);
	published_number = (uintptr_t)both.own.items - (uintptr_t)both.none.items;
	both.own.items[n / 2] = (long)n; /* written: as_a_distance */
	LOOK();
	published_number = 0;
	free(both.own.items);
	free(both.none.items);
}

/* What is measured is no address. */
NOINLINE static void own_measured(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	long *end;

	append(&own, 3, n);
	for (end = own.items + own.used; end > own.items && end[-1] > 5;) /* private */
		end--;
	sum = sum + (end - own.items);
	own.items[n / 2] = (long)n; /* private */
	sum = sum + own.items[(n + 1) / 2];
	free(own.items);
}

NOINLINE static void in_halves(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	int half[2];

	append(&own, 3, n);
	memcpy(&half[0], &own, sizeof(int));
	memcpy(&half[1], (char *)&own + sizeof(int), sizeof(int));
	published_halves[0] = half[0];
	published_halves[1] = half[1];
	own.items[n / 2] = (long)n; /* written: in_halves */
	LOOK();
	free(own.items);
}

NOINLINE static void as_a_whole(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	own.items[n / 2] = (long)n; /* written: as_a_whole */
	free(shared.items);
	shared = own;
}

NOINLINE static void another_as_a_whole(size_t n)
{
	struct numbers own = shared;

	append(&own, 3, n);
	own.items[n / 2] = (long)n; /* written: another_as_a_whole */
	shared = own;
}

/* Exchanged atomically. */
NOINLINE static void exchanged(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	long *other;

	append(&own, 3, n);
	other = __atomic_exchange_n(&shared.items, own.items, __ATOMIC_SEQ_CST);
	other[n & 1] = 3; /* written: exchanged */
	own.items[1] = 4; /* written: exchanged */
}

/* What is in a local may be set from outside by who was given where it stands. */
long **published_place;

NOINLINE static void place_in_a_global(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	published_place = &own.items;
	LOOK();
	own.items[n / 2] = (long)n; /* written: place_in_a_global */
	LOOK();
	published_place = NULL;
	free(own.items);
}

/* A function that is not known is given the local, or only the memory. */
NOINLINE static void by_pointer(struct numbers *own)
{
	published = own;
}
static void (*volatile way)(struct numbers *) = by_pointer;

NOINLINE static void given(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	way(&own);
	own.items[n / 2] = (long)n; /* written: given */
	LOOK();
	published = NULL;
	free(own.items);
}

static void *start(void *p)
{
	((struct numbers *)p)->items[0]++; /* written: start */
	return NULL;
}

static void *start_items(void *p)
{
	((long *)p)[0]++; /* written: start_items */
	return NULL;
}

NOINLINE static void to_threads(size_t n)
{
	struct numbers own = {NULL, 0, 0}, second = {NULL, 0, 0};
	pthread_t thread;

	append(&own, 3, n);
	append(&second, 3, n);
	if (pthread_create(&thread, NULL, start, &own))
		abort();
	own.items[n / 2] = (long)n; /* written: to_threads */
	pthread_join(thread, NULL);
	if (pthread_create(&thread, NULL, start_items, second.items))
		abort();
	second.items[n / 2] = (long)n; /* written: to_threads */
	pthread_join(thread, NULL);
	free(own.items);
	free(second.items);
}

/* A function that calls itself hands on what it was given, and in the end lets it get away. */
NOINLINE static void pass_down(struct numbers *own, int depth)
{
	if (depth)
		pass_down(own, depth - 1);
	else
		published_items = own->items;
	LOOK();
}

NOINLINE static void given_deep(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	pass_down(&own, 3);
	own.items[n / 2] = (long)n; /* written: given_deep */
	LOOK();
	published_items = NULL;
	free(own.items);
}

/* A function gives it back, and that gets away. */
NOINLINE static long *items_of(struct numbers *own)
{
	LOOK();
	return own->items;
}

NOINLINE static void given_back(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	published_items = items_of(&own);
	own.items[n / 2] = (long)n; /* written: given_back */
	LOOK();
	published_items = NULL;
	free(own.items);
}

/* ---- one's own, or another's ---- */

/* Put where only sometimes one's own lies. */
NOINLINE static void put_in_either(size_t n)
{
	struct numbers own = {NULL, 0, 0}, second = {NULL, 0, 0}, *to = n & 1 ? &shared : &second;

	append(&own, 3, n);
	append(&second, 3, n);
	free(to->items);
	to->items = own.items;
	own.items[n / 2] = (long)n; /* written: put_in_either */
	LOOK();
	to->items = NULL;
	shared.used = shared.room = 0;
	append(&shared, 3, n);
	free(second.items == own.items ? NULL : second.items);
	free(own.items);
}

/* Taken from where only sometimes one's own lies. */
NOINLINE static void taken_from_either(size_t n)
{
	struct numbers own = {NULL, 0, 0}, *from = n & 1 ? &shared : &own;

	append(&own, 3, n);
	from->items[n / 2] += (long)n; /* written: taken_from_either */
	free(own.items);
}

/* Others may have another function of that name, which keeps no pointer to what it is given, but to what that
 * leads to. */
__attribute__((weak, noinline)) void keep_items(const struct numbers *own __attribute__((noescape)))
{
	published_items = own->items;
}

NOINLINE static void given_to_a_weak_one(size_t n)
{
	long *items = malloc(n * sizeof(*items));
	struct numbers own = {items, 0, 0};

	must(items);
	keep_items(&own);
	items[n / 2] = (long)n; /* written: given_to_a_weak_one */
	LOOK();
	published_items = NULL;
	free(items);
}

__attribute__((weak, noinline)) void set_items(struct numbers *own __attribute__((noescape)))
{
	own->items = shared.items;
}

NOINLINE static void set_by_a_weak_one(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	set_items(&own);
	if (n & 1) {
		own.items = NULL;
		append(&own, 3, n);
	}
	own.items[1] = (long)n; /* written: set_by_a_weak_one */
	if (n & 1)
		free(own.items);
}

NOINLINE static void copied_in(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	if (n & 1)
		append(&own, 3, n);
	else
		memcpy(&own, &shared, sizeof(own));
	own.items[1] = (long)n; /* written: copied_in */
	if (n & 1)
		free(own.items);
}

NOINLINE static void exchanged_out(size_t n)
{
	long *items = malloc(n * sizeof(*items));
	struct numbers own = {items, 0, 0};

	must(items);
	published_items = __atomic_exchange_n(&own.items, NULL, __ATOMIC_SEQ_CST);
	LOOK();
	items[n / 2] = (long)n; /* written: exchanged_out */
	LOOK();
	published_items = NULL;
	free(items);
}

NOINLINE static void exchanged_in(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	long *items;

	append(&own, 3, n);
	items = __atomic_exchange_n(&own.items, shared.items, __ATOMIC_SEQ_CST);
	own.items[1] = (long)n; /* written: exchanged_in */
	free(items);
}

NOINLINE static long *returned(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	own.items[n / 2] = (long)n; /* written: returned */
	return own.items;
}

/* It calls itself with its own, and was called with another's. */
NOINLINE static void nested(struct numbers *before, long depth)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, depth, 8);
	if (depth)
		nested(&own, depth - 1);
	before->items[1] += depth; /* written: nested */
	LOOK();
	free(own.items);
}

/* The last one puts another's into it. */
NOINLINE static void put_down(struct numbers *own, long *items, int depth)
{
	if (depth)
		put_down(own, shared.items, depth - 1);
	else
		own->items = items;
	LOOK();
}

NOINLINE static void put_deep(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	long *items = malloc(n * sizeof(*items));

	must(items);
	put_down(&own, items, 3);
	own.items[1] = (long)n; /* written: put_deep */
	free(items);
}

NOINLINE static long *either_of(struct numbers *own, size_t n)
{
	LOOK();
	return n & 1 ? shared.items : own->items;
}

NOINLINE static void either_given_back(size_t n)
{
	struct numbers own = {NULL, 0, 0};

	append(&own, 3, n);
	either_of(&own, n)[1] += (long)n; /* written: either_given_back */
	free(own.items);
}

/* Made another number of, from which it can be made again. */
NOINLINE static void as_another_number(size_t n)
{
	struct numbers own = {NULL, 0, 0};
	uintptr_t number;

	append(&own, 3, n);
	memcpy(&number, &own.items, sizeof(number));
	published_number = number ^ 0x5555;
	own.items[n / 2] = (long)n; /* written: as_another_number */
	LOOK();
	published_number = 0;
	free(own.items);
}

/* Two words at once, the second of which is a pointer. */
typedef uint64_t two_words __attribute__((vector_size(16), may_alias));
two_words published_two;

struct behind {
	uint64_t number;
	long *items;
};

NOINLINE static void make_behind(struct behind *own, size_t n)
{
	own->number = n;
	own->items = calloc(n, sizeof(long));
	must(own->items);
	LOOK();
}

NOINLINE static void in_two_words(size_t n)
{
	struct behind own __attribute__((aligned(16)));

	make_behind(&own, n);
	published_two = *(two_words *)&own;
	own.items[n / 2] = (long)n; /* written: in_two_words */
	LOOK();
	published_two = published_two ^ published_two;
	free(own.items);
}

/* What was another's is made larger, and what it leads to stays the other's. */
NOINLINE static void enlarged(long n)
{
	struct node *mine = malloc(sizeof(*mine)), *larger;

	must(mine);
	mine->next = &others;
	LOOK();
	published_list = mine;
	LOOK();
	larger = realloc(published_list, 64 * sizeof(*mine));
	must(larger);
	if (n & 1) {
		larger->next = malloc(sizeof(*mine));
		must(larger->next);
		larger->next->value = 1;
	}
	larger->next->value += n; /* written: enlarged */
	if (n & 1)
		free(larger->next);
	free(larger);
}

int main(void)
{
	append(&shared, 3, 9);
	for (size_t n = 10; n < 14; n++) {
		own_array(n);
		own_growing(n);
		own_list((long)n);
		own_rows(n);
		items_in_a_global(n);
		a_node_in_a_global((long)n);
		ends_in_a_global((long)n);
		as_a_number(n);
		as_a_distance(n);
		own_measured(n);
		in_halves(n);
		as_a_whole(n);
		another_as_a_whole(n);
		exchanged(n);
		place_in_a_global(n);
		given(n);
		to_threads(n);
		given_deep(n);
		given_back(n);
		put_in_either(n);
		taken_from_either(n);
		given_to_a_weak_one(n);
		set_by_a_weak_one(n);
		copied_in(n);
		exchanged_out(n);
		exchanged_in(n);
		free(returned(n));
		nested(&shared, 2);
		put_deep(n);
		either_given_back(n);
		as_another_number(n);
		in_two_words(n);
		enlarged((long)n);
	}
	printf("%ld\n", sum);
	return 0;
}
