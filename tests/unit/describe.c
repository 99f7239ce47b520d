/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events in words and as JSON, and the counts over them. */
#include "helper.h"

#include "trace/describe.h"
#include "trace/stats.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void each_line(void **state)
{
	static const char *const expected[] = {
		"       1* T0  start  0x7ffff0000000  stack size 8388608",
		"       1  T0  read  0x555500001000+8  account.balance  in get  bank.c:12:9",
		"       2* T0  create  child T1",
		"       3* T0  create  child T2",
		"       4* T1  start  0x7fff00000000  stack size 65536",
		"       4  T1  enter  0x555500001000  in deposit  bank.c:10",
		"       5* T1  read  0x555500001000+8  account.balance  in get  bank.c:12:9",
		"       6* T1  lock  0x7fff12345678  [try]  in copy  bank.c:41",
		"       6  T1  write  0x555500001000+8  account.balance  in set  bank.c:12:9",
		"       7* T1  wait  0x555500002000  mutex 0x7fff12345678",
		"       8* T2  start  0x7ffe00000000  stack size 65536",
		"       9* T2  write  0x555500001000+8  account.balance  in set  bank.c:12:9",
		"       9  T2  write  0x10+100  table  in copy  bank.c:40",
		"       9  T2  write  0x123456789abcdef0+7  in copy  bank.c:41",
		"      10* T2  signal  0x555500002000",
		"      11* T1  wake  0x555500002000  mutex 0x7fff12345678",
		"      12* T1  create  child T1.1",
		"      12  T1  exit  frames 1",
		"      13* T1.1  start  0x0",
		"      13  T1.1  enter  in deposit  bank.c:10",
		"      13  T1.1  read  0x2000+8  account.balance  in get  bank.c:12:9",
		"      14* T0  join  child T1",
		"      15* T0  end",
	};
	unsigned count = helper_sample(helper_path("sample")), n = 0;
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct trace_cursor *cursor;
	struct trace_event e;

	assert_non_null(trace);
	assert_int_equal(count, sizeof expected / sizeof *expected);
	cursor = trace_cursor_open(trace);
	while (trace_next(cursor, &e) > 0) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		json_t *parsed;

		describe_event(trace, &e, out);
		fclose(out);
		assert_string_equal(text, expected[n]);
		free(text);
		out = open_memstream(&text, &size);
		describe_event_json(trace, &e, out);
		fclose(out);
		parsed = json_loads(text, 0, NULL);
		assert_non_null(parsed);
		assert_int_equal(json_integer_value(json_object_get(parsed, "key")), e.key);
		assert_string_equal(json_string_value(json_object_get(parsed, "thread")),
				    trace_thread_name(trace, e.thread));
		json_decref(parsed);
		free(text);
		n++;
	}
	assert_int_equal(n, count);
	trace_cursor_close(cursor);
	trace_close(trace);
}

static void counts(void **state)
{
	unsigned count = helper_sample(helper_path("sample"));
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct trace_stats stats;
	struct trace_event *events;
	uint64_t n, by_thread = 0;
	char *text = NULL;
	size_t size;
	FILE *out;

	assert_non_null(trace);
	trace->header.counters[TRACE_COUNT_DROPPED] = 17;
	stats_init(&stats, trace);
	events = helper_events(trace, &n);
	for (uint64_t i = 0; i < n; i++)
		stats_count(&stats, &events[i]);
	free(events);
	assert_int_equal(stats.events, count);
	assert_int_equal(stats.accesses[ATOMSAN_READ], 3);
	assert_int_equal(stats.accesses[ATOMSAN_WRITE], 4);
	assert_int_equal(stats.ops[TRACE_OP_CREATE], 3);
	assert_int_equal(stats.enters, 2);
	assert_int_equal(stats.exits, 1);
	for (uint32_t i = 0; i < trace->thread_count; i++)
		by_thread += stats.by_thread[i];
	assert_int_equal(by_thread, count);
	out = open_memstream(&text, &size);
	stats_blind_spots(trace, "# ", out);
	fclose(out);
	assert_string_equal(text, "# not seen: 17 events dropped because the trace could not grow\n");
	free(text);
	/* What the words of the events take is what lies in the blocks. */
	n = 0;
	for (uint64_t i = 0; i < trace->extent_count; i++)
		n += trace->extents[i].meta ? 0 : trace->extents[i].payload;
	assert_int_equal(stats.bytes, n);
	stats_release(&stats);
	trace_close(trace);
}

static void states(void **state)
{
	static const struct {
		uint32_t state;
		int32_t status;
		const char *text;
	} cases[] = {{TRACE_FINISHED, 3 << 8, "finished: exit status 3"},
		     {TRACE_FINISHED, 9, "finished: killed by signal 9"},
		     {TRACE_RUNNING, 0, "not finished"},
		     {TRACE_STOPPED, 0, "recording was given up"}};
	char text[96];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace trace = {.header = {.state = cases[i].state, .exit_status = cases[i].status}};

		describe_state(&trace, text, sizeof text);
		assert_contains(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line),
		cmocka_unit_test(counts),
		cmocka_unit_test(states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
