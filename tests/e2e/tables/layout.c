/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints what offsetof, sizeof and & say of what it accesses; the tables of its
 * trace must say the same. See run.py.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct range {
	short low, high;
};
struct account {
	char kind;
	struct range limits;
	long items[4];
	struct range steps[3];
	unsigned tag : 3, level : 5, rest : 11;
	union {
		double rate;
		int code[2];
	};
	struct account *next;
	struct {
		int inner;
	} deep[2];
};

/* Names and flags that the table must give them. */
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spins[3];
sem_t ready;
struct account accounts[5];
static struct account single;
atomic_int hits;
static volatile int stop;
_Atomic long counts[2];
long plain;
long unused[1000];
static int grid[3][7];
const int never = 4;
static _Thread_local int mine;

int account_low(struct account *a)
{
	return a->limits.low;
}

void account_set(struct account *a, double rate)
{
	a->rate = rate;
}

void account_move(struct account *a)
{
	a->limits.high = a->limits.low;
}

int account_choose(struct account *a)
{
	return a->kind ? a->limits.low : 0;
}

static void work(struct account *a, int i)
{
	static int calls;

	calls++;
	mine++;
	a->kind++;
	a->limits.low++;
	a->limits.high = 4;
	a->items[i] += 2;
	a->steps[i].high += 3;
	a->level += 2;
	a->rate = 1.5;
	a->code[i] += 7;
	a->deep[i].inner += i;
	account_set(a, 2.5);
	a->next = &single;
	account_move(a);
	a->deep[0].inner += account_low(a) + account_choose(a);
}

static void *run(void *argument)
{
	pthread_mutex_lock(&table_lock);
	for (int i = 0; i < 2; i++)
		work(&accounts[i + 1], i);
	single.limits.high += 2;
	single.items[2]++;
	single.next = argument;
	hits++;
	counts[1]++;
	plain += single.items[2];
	stop = 1;
	grid[1][2] += single.limits.high;
	pthread_mutex_unlock(&table_lock);
	sem_post(&ready);
	return NULL;
}

#define MEMBER(name, path) \
	printf("member account %s %zu %zu\n", name, offsetof(struct account, path), sizeof(struct account))
#define VARIABLE(name, type, element, flags)                                                               \
	printf("variable %s %p %zu %s %zu %s\n", #name, (void *)&name, sizeof name, type, sizeof(element), \
	       flags)

int main(void)
{
	struct account *heap = calloc(3, sizeof *heap);
	pthread_t thread;

	sem_init(&ready, 0, 0);
	pthread_spin_init(&spins[1], 0);
	pthread_spin_lock(&spins[1]);
	work(&heap[1], stop);
	pthread_create(&thread, NULL, run, heap);
	pthread_join(thread, NULL);
	pthread_spin_unlock(&spins[1]);

	MEMBER("kind", kind);
	MEMBER("limits.low", limits.low);
	MEMBER("limits.high", limits.high);
	MEMBER("items[]", items[0]);
	MEMBER("steps[].high", steps[0].high);
	MEMBER("rate", rate);
	MEMBER("code[]", code[0]);
	MEMBER("next", next);
	MEMBER("deep[].inner", deep[0].inner);
	/* A bit-field's offset is that of the storage that is accessed. */
	printf("storage account level %zu %zu %zu\n", offsetof(struct account, steps) + sizeof heap->steps,
	       offsetof(struct account, rate), sizeof *heap);
	VARIABLE(table_lock, "pthread_mutex_t", table_lock, "lock");
	VARIABLE(spins, "-", spins[0], "array,lock,static,volatile");
	VARIABLE(ready, "sem_t", ready, "lock");
	VARIABLE(accounts, "account", accounts[0], "array");
	VARIABLE(single, "account", single, "static");
	VARIABLE(hits, "-", hits, "atomic");
	VARIABLE(stop, "-", stop, "static,volatile");
	VARIABLE(counts, "-", counts[0], "array,atomic");
	VARIABLE(plain, "-", plain, "-");
	VARIABLE(grid, "-", grid[0][0], "array,static");
	puts("absent never");
	puts("absent mine");
	puts("dropped unused");
	puts("accessor account_low");
	puts("accessor account_set");
	puts("other account_move");
	puts("other account_choose");
	puts("locked spins[1]");
	puts("locked table_lock");
	free(heap);
	return 0;
}
