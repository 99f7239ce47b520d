/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Structs that are copied whole, at the beginning of a section, at its end, and
 * by others who must not come in between. whole.py says where sections begin
 * and end, by the words in the comments: mode, kind of access, variable.
 *
 * Each mode counts what it has done in the data itself, and fails if some of it
 * is lost.
 *
 * usage: whole MODE
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 40 };

struct triple {
	long first, second, third;
};
struct small {
	int left, right;
};
struct holder {
	char name[16];
	struct triple inside;
};
struct large {
	long items[1000];
};

static struct triple global;
struct triple spare;
void changes_member(long round); /* elsewhere, see whole.py */
static struct triple *pointed;
static struct small *small;
static struct holder *holder;
static struct large *large, *other_large;
static long *numbers;
static long broken;

static void breathe(void)
{
	usleep(50);
}

static void through_global(void)
{
	struct triple mine = global; /* entry through_global R global */

	breathe();
	mine.first++;
	mine.third++;
	global = mine; /* end through_global W global */
}

static void through_pointer(struct triple *p)
{
	struct triple mine = *p; /* entry through_pointer R triple.first */

	breathe();
	mine.first++;
	mine.third++;
	*p = mine; /* end through_pointer W triple.first */
}

/* Eight bytes: the optimiser makes one load of them, and one store. */
static void through_small(struct small *p)
{
	struct small mine = *p; /* entry through_small R small.left */

	breathe();
	mine.left++;
	mine.right++;
	*p = mine; /* end through_small W small.left */
}

static void through_member(struct holder *p)
{
	struct triple mine = p->inside; /* entry through_member R holder.inside */

	breathe();
	mine.first++;
	mine.third++;
	p->inside = mine; /* end through_member W holder.inside */
}

static __attribute__((noinline)) long sum(int unused, struct triple value, const struct triple *same)
{
	breathe();
	return value.first + value.second + value.third + 0 * same->first + unused;
}

/* The struct that is handed over by value is read where the function is called. */
static void by_value(struct triple *p)
{
	long value = sum(0, *p, p); /* entry by_value R triple.first */

	p->first = value + 1; /* end by_value W triple.first */
}

static void by_memory(size_t count)
{
	long mine[4];

	memcpy(mine, numbers, count * sizeof *mine); /* entry by_memory R numbers */
	breathe();
	for (size_t i = 0; i < count; i++)
		mine[i]++;
	memmove(numbers, mine, count * sizeof *mine); /* end by_memory W numbers */
}

/* Both sides are shared: what is read ends one section, and what is written the other. */
static void both_sides(struct triple *from, struct triple *to)
{
	long before = from->first; /* entry both_sides R triple.first */
	long second = to->second;  /* entry both_too R triple.second */

	breathe();
	*to = *from; /* end both_sides R triple.first, end both_too W triple.second */
	__asm__ volatile("" ::: "memory");
	if (before != to->first || second > 4 * ROUNDS)
		__atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

/*
 * As above, of more than is kept on the stack. That takes a while, and who loses its
 * processor in the middle of writing it goes on when the section has begun: the last
 * items may then be of another round than the first.
 */
static void large_sides(struct large *from, struct large *to)
{
	long before = from->items[0]; /* entry large_sides R large.items[] */

	breathe();
	*to = *from; /* end large_sides R large.items[] */
	__asm__ volatile(
		"" ::
			: "memory"); /* what was copied is looked at, and not once more what it was made of */
	if (before != to->items[0])
		__atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

/* What is tested by one member is changed by a copy elsewhere. */
static void stands_by(struct triple *p)
{
	long before = p->first; /* entry stands_by R triple.first */

	breathe();
	if (p->first != before) /* end stands_by R triple.first */
		__atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

static void cleared(struct triple *p)
{
	long before = p->first; /* entry cleared R triple.first */

	breathe();
	if (p->first != before) /* end cleared R triple.first */
		__atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

/* A section on a whole struct, and others who change one member. */
static void members(struct triple *p)
{
	struct triple before = *p, after; /* entry members R spare */

	breathe();
	after = *p; /* end members R spare */
	if (before.second != after.second)
		__atomic_fetch_add(&broken, 1, __ATOMIC_RELAXED);
}

/* ---- others ---- */

static void copies_over(long round)
{
	struct triple mine = {round, round, round};

	*pointed = mine;
}

static void clears(long round)
{
	pointed->first = round;
	breathe();
	memset(pointed, 0, sizeof *pointed);
}

static void copies_large(long round)
{
	static _Thread_local struct large mine; /* two do this at the same time */

	mine.items[0] = round;
	*large = mine;
}

/* ---- running ---- */

static void run_pointer(void)
{
	through_pointer(pointed);
}

static void run_small(void)
{
	through_small(small);
}

static void run_member(void)
{
	through_member(holder);
}

static void run_value(void)
{
	by_value(pointed);
}

static void run_memory(void)
{
	by_memory(3);
}

static void run_both(void)
{
	both_sides(pointed, &global);
}

static void run_large(void)
{
	large_sides(large, other_large);
}

static void run_stands_by(void)
{
	stands_by(pointed);
}

static void run_cleared(void)
{
	cleared(pointed);
}

static void run_members(void)
{
	members(&spare);
}

static const struct mode {
	const char *name;
	void (*unit)(void);
	void (*disturb)(long round); /* NULL: all do the same, and count */
} modes[] = {
	{"through_global", through_global, NULL},
	{"through_pointer", run_pointer, NULL},
	{"through_small", run_small, NULL},
	{"through_member", run_member, NULL},
	{"by_value", run_value, NULL},
	{"by_memory", run_memory, NULL},
	{"both_sides", run_both, copies_over},
	{"large_sides", run_large, copies_large},
	{"stands_by", run_stands_by, copies_over},
	{"cleared", run_cleared, clears},
	{"members", run_members, changes_member},
};
static const struct mode *mode;

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		mode->unit();
	return unused;
}

static void *disturb(void *unused)
{
	for (long i = 1; i <= 4 * ROUNDS; i++) {
		mode->disturb(i);
		usleep(20);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long counted;

	for (unsigned i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name))
			mode = &modes[i];
	if (!mode)
		return 2;
	pointed = calloc(1, sizeof *pointed);
	small = calloc(1, sizeof *small);
	holder = calloc(1, sizeof *holder);
	large = calloc(1, sizeof *large);
	other_large = calloc(1, sizeof *other_large);
	numbers = calloc(4, sizeof *numbers);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, i && mode->disturb ? disturb : work, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* One of them is what the mode has counted by. */
	counted = global.third + pointed->third + small->right + holder->inside.third + numbers[2];
	if (mode->unit == run_value)
		counted = pointed->first;
	if (!mode->disturb)
		broken = THREADS * ROUNDS - counted;
	printf("%ld lost or broken\n", broken);
	return broken != 0;
}
