/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * AirlineTickets, of the ConTest programs in Marathon's Table 1. An airline
 * sells through as many threads as there are seats, and nothing is locked: who
 * sells the last seat of the 90 % on sale stops the others.
 *
 * What breaks: sell reads, increments and tests the number of sold tickets as
 * if it were alone, and the test comes too late for the sellers that are
 * already at work.
 *
 * How it shows: as many tickets must be sold as customers went away with one,
 * and no more than were on sale; exit status 1 otherwise.
 *
 * usage: airline_tickets [ISSUED]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

static int sold;
static int most;
static bool stop_sales;

static bool sell(void)
{
	int before = sold;

	if (stop_sales)
		return false;
	MEET(2);
	sold = before + 1;
	if (sold >= most)
		stop_sales = true;
	return true;
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
