/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/airline_tickets: a sale is one critical section.
 *
 * Exit status 1 if the tickets sold are not those given away, or more than
 * were on sale.
 *
 * usage: airline_tickets [ISSUED]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int sold;
static int most;
static bool stop_sales;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool sell(void)
{
	bool done = false;

	pthread_mutex_lock(&lock);
	if (!stop_sales) {
		sold++;
		stop_sales = sold >= most;
		done = true;
	}
	pthread_mutex_unlock(&lock);
	return done;
}

static void *seller(void *ticket)
{
	*(bool *)ticket = sell();
	return NULL;
}

int main(int argc, char **argv)
{
	int issued = argc > 1 ? atoi(argv[1]) : 100;
	pthread_t *threads = calloc(issued, sizeof(*threads));
	bool *tickets = calloc(issued, sizeof(*tickets));
	int given = 0;

	if (!threads || !tickets)
		return 2;
	most = issued - issued / 10;
	for (int i = 0; i < issued; i++)
		if (pthread_create(&threads[i], NULL, seller, &tickets[i]))
			return 2;
	for (int i = 0; i < issued; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < issued; i++)
		given += tickets[i];
	printf("%d tickets on sale, %d sold, %d given away\n", most, sold, given);
	free(tickets);
	free(threads);
	return sold != given || sold > most;
}
