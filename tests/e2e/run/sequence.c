/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sums up the order of a trace's events, so that two orders that a checker could
 * tell apart have different sums: those in which two conflicting accesses, or two
 * operations on one object that do not commute, stand the other way round.
 *
 *   sequence FILE            of a trace, by its cursor
 *   sequence run --follow    as the checker of a running program; into a file $SEQUENCE/PROCESS.N that
 * appears when all is read. It claims to have found $FINDINGS violations, if that is set; with DIE set, it
 * dies after so many events; with HALT, it ends the program then.
 *
 * What it prints is two numbers: how many events, and the sum.
 */
#include "abi/live.h"
#include "trace/live.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The past of one byte of memory, or of one object of operations. */
struct place {
	uint64_t name;  /* 0: unused */
	uint64_t chain; /* writes, each with the reads before it, in order */
	uint64_t reads; /* since the last write, in any order */
};

static struct place *places;
static uint64_t place_count, place_room;
static uint64_t *next_event; /* per thread number: events so far */
static uint32_t threads;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 32) * 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

static struct place *find(uint64_t name)
{
	uint64_t i;

	if (place_count * 2 >= place_room) {
		struct place *old = places;
		uint64_t room = place_room;

		place_room = room ? room * 2 : 1 << 16;
		places = mem_zalloc(place_room, sizeof *places);
		place_count = 0;
		for (i = 0; i < room; i++)
			if (old[i].name)
				*find(old[i].name) = old[i];
		free(old);
	}
	for (i = mix(name) & (place_room - 1); places[i].name && places[i].name != name;)
		i = (i + 1) & (place_room - 1);
	if (!places[i].name) {
		places[i].name = name;
		place_count++;
	}
	return &places[i];
}

static void touch(uint64_t name, uint64_t event, bool write)
{
	struct place *place = find(name);

	if (!write) {
		place->reads += mix(event);
		return;
	}
	place->chain = mix(mix(place->chain ^ mix(place->reads)) + event);
	place->reads = 0;
}

/* Operations that let each other pass count as reads. */
static bool commutes(const struct trace_event *e)
{
	switch (e->op) {
	case TRACE_OP_RDLOCK:
	case TRACE_OP_LOCK_FAILED:
	case TRACE_OP_SEM_POST:
	case TRACE_OP_SEM_WAIT:
	case TRACE_OP_SEM_FAILED:
	case TRACE_OP_BARRIER_ENTER:
	case TRACE_OP_BARRIER_LEAVE:
	case TRACE_OP_ONCE_SEEN:
	case TRACE_OP_SIGNAL:
	case TRACE_OP_BROADCAST:
	case TRACE_OP_WAIT:
	case TRACE_OP_WAKE:
	case TRACE_OP_ATOMIC_LOAD:
	case TRACE_OP_ATOMIC_FAILED:
		return true;
	case TRACE_OP_UNLOCK:
		return e->flags & TRACE_LOCK_RW;
	default:
		return false;
	}
}

static void add(const struct trace *trace, const struct trace_event *e)
{
	uint32_t thread = trace->threads[e->thread].number;
	uint64_t event;

	if (thread >= threads) {
		next_event = mem_resize(next_event, thread + 1, sizeof *next_event);
		while (threads <= thread)
			next_event[threads++] = 0;
	}
	event = mix((uint64_t)thread << 40 | next_event[thread]++) ^ mix(e->key);
	if (e->kind == TRACE_ACCESS && e->access != ATOMSAN_OBJECT)
		for (uint64_t i = 0; i < e->value && i < 256; i++)
			touch(e->address + i, event,
			      e->access == ATOMSAN_WRITE || e->access == ATOMSAN_UPDATE ||
				      e->access == ATOMSAN_ATOMIC_STORE || e->access == ATOMSAN_ATOMIC_RMW);
	else if (e->kind == TRACE_OP && e->address)
		touch(e->address | 1ull << 63, event, !commutes(e));
	/* A thread's own order, and what it does, in the order of nobody else. */
	touch((uint64_t)thread + 1,
	      event ^ mix(e->kind + ((uint64_t)e->op << 8) + ((uint64_t)e->site << 16)) ^
		      mix(e->address + e->function),
	      true);
}

static uint64_t number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : 0;
}

static int sum_up(struct trace_cursor *cursor, const struct trace *trace, FILE *out, struct trace_live *live)
{
	uint64_t die = live ? number("DIE") : 0, halt = live ? number("HALT") : 0;
	struct trace_event e;
	uint64_t events = 0, sum = 0;
	int got;

	while ((got = trace_next(cursor, &e)) > 0) {
		add(trace, &e);
		events++;
		if (events == die)
			raise(SIGKILL);
		if (events == halt)
			trace_live_halt(live);
	}
	if (got < 0) {
		fprintf(stderr, "sequence: %s\n", trace_cursor_error(cursor)->text);
		return 1;
	}
	if (live && getenv("DIE") && !strcmp(getenv("DIE"), "end"))
		raise(SIGKILL);
	for (uint64_t i = 0; i < place_room; i++)
		sum += mix(places[i].chain ^ mix(places[i].reads) ^ places[i].name);
	fprintf(out, "%" PRIu64 " %" PRIx64 "\n", events, sum);
	return 0;
}

/* Long enough for the program to do something. */
static void a_moment(void)
{
	usleep(20);
}

static int follow(void)
{
	struct err err;
	struct trace_live *live =
		trace_live_open(LIVE_FD_MEMORY, fcntl(LIVE_FD_TRACE, F_GETFD) < 0 ? -1 : LIVE_FD_TRACE, &err);
	const char *folder = getenv("SEQUENCE");
	char *unfinished, *path;
	FILE *out;
	int failed;

	if (!live || !folder) {
		fprintf(stderr, "sequence: %s\n", live ? "SEQUENCE is not set" : err.text);
		return 1;
	}
	/* An exec keeps the process's number: the checker's tells them apart. */
	path = mem_textf("%s/%u.%d", folder, trace_live_trace(live)->header.pid, (int)getpid());
	unfinished = mem_textf("%s/unfinished.%d", folder, (int)getpid());
	out = fopen(unfinished, "w");
	if (!out || write(LIVE_FD_READY, "", 1) != 1)
		return 1;
	close(LIVE_FD_READY);
	close(LIVE_FD_MEMORY);
	if (getenv("SLOWLY"))
		trace_live_between(live, a_moment);
	failed = sum_up(trace_live_cursor(live), trace_live_trace(live), out, live);
	if (trace_live_finish(live, &err)) {
		fprintf(stderr, "sequence: %s\n", err.text);
		failed = 1;
	}
	fclose(out);
	if (rename(unfinished, path))
		failed = 1;
	trace_live_verdict(live, (uint32_t)number("FINDINGS"));
	trace_live_close(live);
	free(unfinished);
	free(path);
	return failed;
}

int main(int argc, char **argv)
{
	struct err err;
	struct trace *trace;
	struct trace_cursor *cursor;
	int failed;

	if (argc == 3 && !strcmp(argv[1], "run") && !strcmp(argv[2], "--follow"))
		return follow();
	trace = argc == 2 ? trace_open(argv[1], &err) : NULL;
	if (!trace) {
		fprintf(stderr, "sequence: %s\n", argc == 2 ? err.text : "which trace?");
		return 1;
	}
	cursor = trace_cursor_open(trace);
	failed = sum_up(cursor, trace, stdout, NULL);
	trace_cursor_close(cursor);
	trace_close(trace);
	free(places);
	free(next_event);
	return failed;
}
