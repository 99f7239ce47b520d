/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Ten thousand threads alive at once (or as many as the machine lets live),
 * then thousands made and joined, or made and detached, one after the other.
 * The program prints how many operations of each kind it did.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ALIVE = 10000, CYCLES = 3000 };

static pthread_t threads[ALIVE];
static int gate[2];

static void *wait_at_gate(void *unused)
{
	char byte;

	if (read(gate[0], &byte, 1) < 0)
		abort();
	return unused;
}

static void *nothing(void *unused)
{
	return unused;
}

int main(void)
{
	pthread_attr_t small;
	int alive = 0;

	if (pipe(gate))
		abort();
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	while (alive < ALIVE && !pthread_create(&threads[alive], &small, wait_at_gate, NULL))
		alive++;
	close(gate[1]);
	for (int i = 0; i < alive; i++)
		if (pthread_join(threads[i], NULL))
			abort();
	for (int i = 0; i < CYCLES; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
			abort();
	}
	for (int i = 0; i < CYCLES; i++) {
		pthread_t thread;

		/* Those before may not be gone yet. */
		while (pthread_create(&thread, NULL, nothing, NULL))
			usleep(1000);
		if (pthread_detach(thread))
			abort();
	}
	printf("join %d\ndetach %d\n", alive + CYCLES, CYCLES);
	return 0;
}
