/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * unmet TRACE: are calls that nobody met really on no cycle?
 *
 * The trace is one that `mark_calls=1` left: it has all calls, and a mark behind
 * each that would have been taken back. It is checked twice, as it is and without
 * those calls, with everything in one set, so that nothing depends on what is
 * learned of objects, and as usual. Both times as many pairs of units must have violated their order; and as
 * usual the same must be found. (In one set a pair is on many cycles, and any of them may be shown.) Prints
 * how many calls were marked, how many events they had of how many, and how many violations there were, in
 * one set and as usual.
 */
#include "analysis/serial.h"
#include "trace/cursor.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one thread: its events, counted from 0, of which some are to be left out. */
struct thread {
	uint64_t seen;
	struct range {
		uint64_t from, to;
	} *ranges;
	uint64_t count, room, next;
};

static struct thread *threads;
static uint64_t marks, left_out, events;

static bool next(struct trace_cursor *cursor, struct trace_event *event)
{
	int more = trace_next(cursor, event);

	if (more < 0) {
		fprintf(stderr, "%s\n", trace_cursor_error(cursor)->text);
		exit(1);
	}
	return more > 0;
}

static void find_marks(struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event event;

	while (next(cursor, &event)) {
		struct thread *thread = &threads[event.thread];

		events++;
		if (event.kind == TRACE_OP && event.op == TRACE_OP_UNMET) {
			if (thread->count == thread->room) {
				thread->room = thread->room ? thread->room * 2 : 64;
				thread->ranges =
					mem_resize(thread->ranges, thread->room, sizeof *thread->ranges);
			}
			if (event.value > thread->seen ||
			    (thread->count &&
			     thread->ranges[thread->count - 1].to > thread->seen - event.value)) {
				fprintf(stderr, "a mark goes back beyond the one before it\n");
				exit(1);
			}
			thread->ranges[thread->count++] =
				(struct range){thread->seen - event.value, thread->seen};
			marks++;
			left_out += event.value;
		}
		thread->seen++;
	}
	trace_cursor_close(cursor);
}

static bool is_left_out(struct thread *thread)
{
	uint64_t number = thread->seen++;

	while (thread->next < thread->count && thread->ranges[thread->next].to <= number)
		thread->next++;
	return thread->next < thread->count && thread->ranges[thread->next].from <= number;
}

static uint64_t violations(const struct finding_list *list)
{
	for (uint32_t i = 0; i < list->count_count; i++)
		if (!strcmp(list->counts[i].name, "violations"))
			return (uint64_t)list->counts[i].value;
	return 0;
}

/* The ids of what is found, sorted, one a line. */
static char *check(struct trace *trace, enum model_sets sets, bool all, uint64_t *count)
{
	struct serial_options options = {.model = {.sets = sets}, .every_cycle = true};
	struct finding_list *list = finding_list_new("check");
	struct serial *serial = serial_new(trace, &options, list);
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event event;
	char *text = mem_text("");

	for (uint32_t i = 0; i < trace->thread_count; i++)
		threads[i].seen = threads[i].next = 0;
	while (next(cursor, &event)) {
		/* Memory that comes and goes is told in any case. */
		bool out = is_left_out(&threads[event.thread]) &&
			   !(event.kind == TRACE_OP &&
			     (event.op == TRACE_OP_ALLOC || event.op == TRACE_OP_FREE));

		if ((all || !out) && !(event.kind == TRACE_OP && event.op == TRACE_OP_UNMET))
			serial_event(serial, &event);
	}
	serial_finish(serial);
	for (uint32_t done = 0; done < list->finding_count; done++) {
		const struct finding *least = NULL;

		for (uint32_t i = 0; i < list->finding_count; i++)
			if (!strstr(text, list->findings[i].id) &&
			    (!least || strcmp(list->findings[i].id, least->id) < 0))
				least = &list->findings[i];
		if (least) {
			char *longer = mem_textf("%s%s\n", text, least->id);

			free(text);
			text = longer;
		}
	}
	*count = violations(list);
	serial_free(serial);
	trace_cursor_close(cursor);
	return text;
}

int main(int argc, char **argv)
{
	enum model_sets sets[] = {MODEL_SETS_ONE, MODEL_SETS_OBJECTS};
	uint64_t found[2];
	struct trace *trace;
	struct err err;
	int status = 0;

	if (argc != 2)
		return 1;
	trace = trace_open(argv[1], &err);
	if (!trace) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	threads = mem_zalloc(trace->thread_count, sizeof *threads);
	find_marks(trace);
	for (int i = 0; i < 2; i++) {
		uint64_t fewer;
		char *whole = check(trace, sets[i], true, &found[i]);
		char *without = check(trace, sets[i], false, &fewer);

		if (found[i] != fewer || (i && strcmp(whole, without))) {
			fprintf(stderr,
				"with %s, of all calls: %" PRIu64
				"\n%swithout those that nobody met: %" PRIu64 "\n%s",
				i ? "sets as usual" : "one set", found[i], whole, fewer, without);
			status = 1;
		}
		free(whole);
		free(without);
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", marks, left_out, events,
	       found[0], found[1]);
	return status;
}
