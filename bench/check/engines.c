/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How many accesses a second the two engines take, alone: the events are made
 * beforehand and played from memory. Threads take turns at random, each in units
 * of 5 to 20 accesses on 1000 locations, three accesses in ten writes.
 *
 *   locked   100 sets of 10 locations; a unit has its set to itself
 *   phased   one set, 100 locks; a unit takes locks as it goes and lets go of
 *            them before it ends, so that others follow it while it is open.
 *            Serializable, and the hardest of such cases for an engine
 *   long     phased, after a unit that wrote to all locations and stays open to
 *            the end, so that no unit can be forgotten
 *   wild     one set, no locks: the more threads, the more violations
 *   unary    locked, with one access in four outside any unit
 *
 * Of long, a million accesses at most are made, since memory grows with it.
 * Each figure comes from a process of its own, so that memory can be told: the
 * most that was resident beyond the events.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "check/engine.h"

#define LOCATIONS 1000
#define GROUPS 100
#define THREADS_AT_MOST 64

enum op { BEGIN, END, READ, WRITE, UNARY_READ, UNARY_WRITE };

struct event {
	uint16_t thread, location;
	uint8_t op;
	uint8_t set;
};

enum mix { LOCKED, PHASED, LONG, WILD, UNARY, MIXES };
static const char *const mix_names[] = {"locked", "phased", "long", "wild", "unary"};

struct stream {
	struct event *events;
	uint64_t count, accesses, capacity;
};

/* What a thread is at while the events are made. */
struct thread {
	bool open;
	uint32_t set, left;
	uint32_t locks[3], lock_count, released;
};

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

static void add(struct stream *stream, uint32_t thread, enum op op, uint32_t set, uint32_t location)
{
	if (stream->count == stream->capacity) {
		stream->capacity = stream->capacity ? stream->capacity * 2 : 1 << 16;
		stream->events = mem_resize(stream->events, stream->capacity, sizeof(*stream->events));
	}
	stream->events[stream->count++] =
		(struct event){(uint16_t)thread, (uint16_t)location, op, (uint8_t)set};
	stream->accesses += op != BEGIN && op != END;
}

static void make_locked(struct stream *stream, struct thread *self, uint32_t t, bool *held, bool unary,
			uint64_t *random)
{
	uint32_t set = (uint32_t)(draw(random) % GROUPS);
	bool write = draw(random) % 10 < 3;
	uint32_t within = (uint32_t)(draw(random) % (LOCATIONS / GROUPS));

	if (!self->open) {
		if (held[set])
			return;
		if (unary && draw(random) % 4) {
			add(stream, t, write ? UNARY_WRITE : UNARY_READ, set, set + within * GROUPS);
			return;
		}
		held[set] = true;
		*self = (struct thread){.open = true, .set = set, .left = 5 + (uint32_t)(draw(random) % 16)};
		add(stream, t, BEGIN, set, 0);
	} else if (self->left--) {
		add(stream, t, write ? WRITE : READ, self->set, self->set + within * GROUPS);
	} else {
		add(stream, t, END, self->set, 0);
		held[self->set] = self->open = false;
	}
}

/* Two-phase locking: takes up to three locks, then lets go of one after the other while it goes on. */
static void make_phased(struct stream *stream, struct thread *self, uint32_t t, bool *held, uint64_t *random)
{
	uint32_t group = (uint32_t)(draw(random) % GROUPS);
	bool write = draw(random) % 10 < 3;

	if (!self->open) {
		*self = (struct thread){.open = true, .left = 5 + (uint32_t)(draw(random) % 16)};
		add(stream, t, BEGIN, 0, 0);
		return;
	}
	if (!self->left || (self->lock_count && self->released == self->lock_count)) {
		add(stream, t, END, 0, 0);
		for (; self->released < self->lock_count; self->released++)
			held[self->locks[self->released]] = false;
		self->open = false;
		return;
	}
	if (self->lock_count < 3 && !self->released && (!self->lock_count || draw(random) % 3 == 0)) {
		if (held[group])
			return;
		held[group] = true;
		self->locks[self->lock_count++] = group;
	} else if (self->lock_count == 3 && self->left < 6 && draw(random) % 3 == 0) {
		held[self->locks[self->released++]] = false;
		return;
	}
	self->left--;
	group = self->locks[self->released + draw(random) % (self->lock_count - self->released)];
	add(stream, t, write ? WRITE : READ, 0,
	    group + (uint32_t)(draw(random) % (LOCATIONS / GROUPS)) * GROUPS);
}

static void make_wild(struct stream *stream, struct thread *self, uint32_t t, uint64_t *random)
{
	if (!self->open) {
		*self = (struct thread){.open = true, .left = 5 + (uint32_t)(draw(random) % 16)};
		add(stream, t, BEGIN, 0, 0);
	} else if (self->left--) {
		add(stream, t, draw(random) % 10 < 3 ? WRITE : READ, 0, (uint32_t)(draw(random) % LOCATIONS));
	} else {
		add(stream, t, END, 0, 0);
		self->open = false;
	}
}

static struct stream make(enum mix mix, uint32_t threads, uint64_t accesses)
{
	struct stream stream = {0};
	struct thread all[THREADS_AT_MOST] = {0};
	bool held[GROUPS] = {0};
	uint64_t random = 88172645463325252u;
	uint32_t t = 0;

	if (mix == LONG) {
		all[threads].open = true;
		add(&stream, threads, BEGIN, 0, 0);
		for (t = 0; t < LOCATIONS; t++)
			add(&stream, threads, WRITE, 0, t);
		t = 0;
	}
	while (stream.accesses < accesses) {
		/* A thread keeps the processor for a while. */
		if (draw(&random) % 8 == 0)
			t = (uint32_t)(draw(&random) % threads);
		if (mix == WILD)
			make_wild(&stream, &all[t], t, &random);
		else if (mix == PHASED || mix == LONG)
			make_phased(&stream, &all[t], t, held, &random);
		else
			make_locked(&stream, &all[t], t, held, mix == UNARY, &random);
	}
	for (t = 0; t <= threads; t++)
		if (all[t].open)
			add(&stream, t, END, all[t].set, 0);
	return stream;
}

static void count_violation(void *user, const struct check_cycle *cycle)
{
	++*(uint64_t *)user;
}

static void play(struct check *check, const struct stream *stream, const uint32_t *sets,
		 const uint32_t *locations)
{
	uint32_t units[THREADS_AT_MOST] = {0};
	uint64_t i;

	for (i = 0; i < stream->count; i++) {
		const struct event *event = &stream->events[i];
		struct check_access_tag tag = {.site = event->location, .time = i};
		struct check_unit_tag unit = {.thread = event->thread, .set = sets[event->set], .begin = i};
		uint32_t location = locations[event->location];

		switch ((enum op)event->op) {
		case BEGIN:
			units[event->thread] = check_unit_begin(check, &unit);
			break;
		case END:
			check_unit_end(check, units[event->thread]);
			break;
		case READ:
			check_read(check, units[event->thread], location, &tag);
			break;
		case WRITE:
			check_write(check, units[event->thread], location, &tag);
			break;
		case UNARY_READ:
			check_unary_read(check, &unit, location, &tag);
			break;
		case UNARY_WRITE:
			check_unary_write(check, &unit, location, &tag);
			break;
		}
	}
}

static long resident(const char *what)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[128];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, what, strlen(what)))
			kib = strtol(line + strlen(what), NULL, 10);
	if (file)
		fclose(file);
	return kib;
}

static void measure(enum mix mix, uint32_t threads, const struct stream *stream, enum check_kind kind,
		    uint32_t times)
{
	uint64_t violations = 0;
	struct check_config config = {
		.kind = kind, .program_order = true, .violation = count_violation, .user = &violations};
	struct check *check = check_new(&config);
	uint32_t sets[GROUPS], locations[LOCATIONS];
	struct check_stats stats;
	struct timespec start, end;
	double seconds;
	uint32_t i;
	long before;

	for (i = 0; i < GROUPS; i++)
		sets[i] = check_set_new(check);
	for (i = 0; i < LOCATIONS; i++)
		locations[i] = check_location_new(check);
	before = resident("VmRSS:");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (i = 0; i < times; i++)
		play(check, stream, sets, locations);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	check_stats(check, &stats);
	printf("%-7s %7u %-10s %9.0f %9.1f %10llu %10llu %9llu %8ld\n", mix_names[mix], threads,
	       kind == CHECK_AERODROME ? "aerodrome" : "graph", (double)stats.accesses / 1e6,
	       (double)stats.accesses / seconds / 1e6, (unsigned long long)stats.edges,
	       (unsigned long long)violations, (unsigned long long)stats.most_live_units,
	       resident("VmHWM:") - before);
	check_free(check);
}

static void measure_apart(enum mix mix, uint32_t threads, const struct stream *stream, enum check_kind kind,
			  uint32_t times)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		/* The peak so far is the parent's; from here on it is the engine's. */
		FILE *file = fopen("/proc/self/clear_refs", "w");

		if (file) {
			fputs("5", file);
			fclose(file);
		}
		measure(mix, threads, stream, kind, times);
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status)
		printf("%-7s %7u: the measuring process failed\n", mix_names[mix], threads);
}

int main(int argc, char **argv)
{
	static const uint32_t threads[] = {2, 8, 32};
	uint64_t accesses = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint32_t times = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1;
	const char *only = argc > 3 ? argv[3] : NULL;
	enum mix mix;
	uint32_t i;

	for (mix = 0; only && mix < MIXES && strcmp(only, mix_names[mix]);)
		mix++;
	if (!accesses || !times || argc > 4 || (only && mix == MIXES)) {
		fprintf(stderr, "usage: bench-engines [ACCESSES [TIMES [locked|phased|long|wild|unary]]]\n"
				"ACCESSES are made for each mix (10000000) and played TIMES times (1).\n");
		return 1;
	}
	printf("%-7s %7s %-10s %9s %9s %10s %10s %9s %8s\n", "mix", "threads", "engine", "M access", "M/s",
	       "edges", "violations", "most live", "KiB");
	for (mix = 0; mix < MIXES; mix++) {
		if (only && strcmp(only, mix_names[mix]))
			continue;
		for (i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
			uint64_t count = mix == LONG && accesses > 1000000 ? 1000000 : accesses;
			struct stream stream = make(mix, threads[i], count);

			measure_apart(mix, threads[i], &stream, CHECK_CONFLICT_GRAPH, times);
			measure_apart(mix, threads[i], &stream, CHECK_AERODROME, times);
			free(stream.events);
		}
	}
	return 0;
}
