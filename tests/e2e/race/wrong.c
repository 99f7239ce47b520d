/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Races, each a MODE, between two threads that do what `bodies` says as often as
 * it takes. Without an argument: the modes, the variable that is to be reported
 * for each, and what the two accesses are.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 2 };

static long plain;
static atomic_long number;
static struct wide {
	long parts[4];
	char tail[8];
} wide, from;
static struct flags {
	unsigned first : 3, second : 5;
} flags;
static volatile long half;
static char text[32] = "a text";
static struct node {
	struct node *next;
	long value;
} *head;
long outside; /* written by outside.c, which is not instrumented */

static void read_plain(void)
{
	static _Thread_local volatile long sink;

	sink = plain;
}

static void write_plain(void)
{
	plain = 5;
}

static void update_plain(void)
{
	plain += 2;
}

static void store_number(void)
{
	atomic_store(&number, 3);
}

static void add_number(void)
{
	atomic_fetch_add(&number, 1);
}

static void read_number(void)
{
	static _Thread_local volatile long sink;

	sink = *(long *)&number;
}

static void copy_wide(void)
{
	wide = from;
}

static void write_part(void)
{
	wide.parts[2] = 4;
}

static void read_byte(void)
{
	static _Thread_local volatile char sink;

	sink = ((char *)&plain)[6];
}

static void write_first(void)
{
	flags.first = 2;
}

static void write_second(void)
{
	flags.second = 9;
}

static void read_half_plainly(void)
{
	static _Thread_local volatile long sink;

	sink = *(long *)&half;
}

static void write_half(void)
{
	half = 1;
}

static void read_text(void)
{
	static _Thread_local volatile size_t sink;

	sink = strlen(text);
}

/* A recording would tell of this loop when it ends. */
static void step_through_text(void)
{
	static _Thread_local volatile long sink;
	const char *p = text;

	while (*p && *p != 'z')
		p++;
	sink = p - text;
}

static void write_text(void)
{
	text[3] = 'T';
}

static void clear_wide(void)
{
	memset(wide.tail, 0, 6);
}

static void read_tail(void)
{
	static _Thread_local volatile char sink;

	sink = wide.tail[5];
}

static void write_node(void)
{
	head->value++;
}

static void read_node(void)
{
	static _Thread_local volatile long sink;

	sink = head->value;
}

void write_outside(void);

static void read_outside(void)
{
	static _Thread_local volatile long sink;

	sink = outside;
}

static const struct {
	const char *name, *variable, *pattern;
	void (*bodies[2])(void);
} modes[] = {
	{"read-write", "plain", "RW", {read_plain, write_plain}},
	{"write-write", "plain", "WW", {write_plain, write_plain}},
	{"update-update", "plain", "UU", {update_plain, update_plain}},
	{"plain-atomic", "number", "RW", {read_number, store_number}},
	{"plain-rmw", "number", "RU", {read_number, add_number}},
	{"struct-member", "wide", "WW", {copy_wide, write_part}},
	{"byte-of-long", "plain", "RW", {read_byte, write_plain}},
	{"bit-fields", "flags", "*", {write_first, write_second}},
	{"plain-volatile", "half", "RW", {read_half_plainly, write_half}},
	{"text", "text", "RW", {read_text, write_text}},
	{"steps", "text", "RW", {step_through_text, write_text}},
	{"memset", "wide", "RW", {clear_wide, read_tail}},
	{"heap", "node", "*", {write_node, read_node}},
	{"outside", "outside", "RW", {read_outside, write_outside}},
};
enum { MODES = sizeof modes / sizeof *modes };
static int mode = -1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *thread_body(void *id)
{
	double end = now() + 0.03;

	do {
		for (int i = 0; i < 50; i++)
			modes[mode].bodies[(long)id]();
	} while (now() < end);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	head = calloc(1, sizeof *head);
	for (int i = 0; i < MODES; i++) {
		if (argc > 1 && !strcmp(argv[1], modes[i].name))
			mode = i;
		if (argc == 1)
			printf("%s %s %s\n", modes[i].name, modes[i].variable, modes[i].pattern);
	}
	if (mode < 0)
		return argc == 1 ? 0 : 2;
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_body, (void *)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	free(head);
	return 0;
}
