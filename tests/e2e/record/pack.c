/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fills several windows, in main and in a thread that leaves one half full, with what always is the same:
 * walks, jumps, calls, locks. With an argument it kills itself, in the middle of a window. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

enum { ITEMS = 3000, ROUNDS = 4 };

static struct item {
	uint32_t key;
	uint64_t value;
	char text[12];
} items[ITEMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum;

static __attribute__((noinline)) void visit(struct item *item, uint32_t i)
{
	item->key += i;
	item->text[i % 12] = (char)i;
	if (i % 7 == 0) {
		pthread_mutex_lock(&lock);
		sum += item->value;
		pthread_mutex_unlock(&lock);
	}
}

static void *work(void *rounds)
{
	uint32_t at = 1;

	for (uintptr_t round = 0; round < (uintptr_t)rounds; round++)
		for (uint32_t i = 0; i < ITEMS; i++) {
			at = (at * 1103515245u + 12345) % (1u << 20);
			visit(&items[round % 2 ? at % ITEMS : i], i);
			items[i].value += round;
		}
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	work((void *)(uintptr_t)ROUNDS);
	if (pthread_create(&thread, 0, work, (void *)(uintptr_t)(ROUNDS / 2)) || pthread_join(thread, 0))
		return 1;
	if (argc > 1)
		raise(SIGKILL);
	return sum == 1;
}
