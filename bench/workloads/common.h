/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What every workload needs: its arguments, memory that is there or a clear
 * end, numbers that look random and are the same in every run, threads that
 * are all joined, and one line of result that no schedule can change.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bugs.h"

#define MAX_THREADS 64

struct options {
	int threads;
	long size;
};

static inline void die(const char *what)
{
	fprintf(stderr, "workload: %s\n", what);
	exit(1);
}

/* -t THREADS and -n SIZE; what a size means, each workload says. */
static inline struct options options_read(int argc, char **argv, int threads, long size)
{
	struct options options = {threads, size};
	int c;

	while ((c = getopt(argc, argv, "t:n:")) != -1) {
		if (c == 't')
			options.threads = atoi(optarg);
		else if (c == 'n')
			options.size = atol(optarg);
		else
			die("usage: [-t threads] [-n size]");
	}
	if (options.threads < 1 || options.threads > MAX_THREADS || options.size < 1)
		die("threads must be 1 to 64, and the size at least 1");
#ifdef BUGS
	bugs_begin();
#endif
	return options;
}

static inline void *must_alloc(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		die("out of memory");
	return p;
}

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 29;
	x *= 0x9fb21c651e98df25u;
	return x ^ (x >> 32);
}

static inline uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return mix(*state);
}

/* Runs `body` in `count` threads, each with its own element of `arguments`. */
static inline void threads_run(int count, void *(*body)(void *), void *arguments, size_t argument_size)
{
	pthread_t threads[MAX_THREADS];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (char *)arguments + i * argument_size))
			die("cannot start a thread");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static inline void result_print(const char *name, long items, uint64_t checksum)
{
	printf("%s: %ld items, checksum %016llx\n", name, items, (unsigned long long)checksum);
#ifdef BUGS
	bugs_report();
#endif
}

#endif
