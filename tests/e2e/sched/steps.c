/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops of which nobody knows beforehand where they end. A free run tells of
 * them when they are over, as ranges; the scheduler sees every step. Texts are
 * read whole, in parts and again, and each word is written by one thread and looked
 * at by the other. In a ledger steps have gaps, and some iterations do more than
 * others: what they do stands in its place among the steps, in both.
 */
#include <pthread.h>
#include <stdio.h>

enum { WORDS = 12, ROOM = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char words[WORDS][ROOM];
static int numbers[64];
static struct entry {
	int key, uses;
	long amount;
} ledger[20];
static long sum, spreads[8];

__attribute__((noinline)) long length(const char *word)
{
	const char *p = word;

	while (*p)
		p++;
	return p - word;
}

/* Some of it is known by then, some is not. */
__attribute__((noinline)) long twice(const char *word)
{
	const char *p = word + 3, *q = word;

	while (*p > 'c')
		p++;
	while (*q)
		q++;
	return (p - word) + (q - word);
}

__attribute__((noinline)) int *find(int *from, int what)
{
	while (*from != what)
		from++;
	return from;
}

__attribute__((noinline)) void fill(char *word, const char *end, unsigned seed)
{
	do {
		seed = seed * 1103515245 + 12345;
		*word++ = (char)('a' + (seed >> 16) % 13);
	} while (seed >> 28 && word < end);
	*word = 0;
}

__attribute__((noinline)) long tally(const struct entry *from, long count, int what)
{
	long all = 0;

	for (long i = 0; i < count; i++)
		if (from[i].key % 7 == what)
			all += from[i].amount;
	return all;
}

/* What is written is a step behind it, or before it, or none. */
__attribute__((noinline)) void use(struct entry *from, int what)
{
	for (; from->key; from++) {
		if (from->key % 4 == 1)
			from[1].key ^= 64;
		else if (from->key % 4 == 3)
			from->uses++;
		if (from->key == what)
			break;
	}
}

/* A text has no gaps, and is told in parts. */
__attribute__((noinline)) long spread(const char *word, long *to)
{
	long at = 0;

	for (; *word; word++)
		if (*word > 'h')
			to[at++ & 7] = *word;
	return at;
}

static void *work(void *argument)
{
	long self = (long)argument;

	for (long i = self; i < WORDS; i += 2) {
		pthread_mutex_lock(&lock);
		fill(words[i], words[i] + ROOM - 1, (unsigned)i);
		pthread_mutex_unlock(&lock);
	}
	for (long i = 0; i < WORDS; i++) {
		pthread_mutex_lock(&lock);
		sum += length(words[i]) + length(words[i]);
		if (length(words[i]) > 3)
			sum += twice(words[i]);
		sum += find(numbers, (int)i * 5) - numbers;
		sum += tally(ledger, 3 + i, (int)i % 7);
		use(ledger, (int)i * 3);
		sum += spread(words[i], spreads);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 64; i++)
		numbers[i] = i;
	for (int i = 0; i < 19; i++)
		ledger[i] = (struct entry){i * 3 + 1, 0, i};
	pthread_create(&thread, NULL, work, (void *)1);
	work((void *)0);
	pthread_join(thread, NULL);
	return sum == 0;
}
