/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces cut short and traces with bits changed: a sentence, or events, never a crash. */
#include "helper.h"
#include "squeezed.h"

#include "trace/describe.h"
#include "trace/pack.h"
#include "trace/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything there is to read in these bytes, which lie in a block of their own
 * so that a sanitizer sees each step outside. Returns the number of events, -1
 * if a sentence came instead or in the end. */
static int64_t read_all(const char *bytes, size_t size, const struct trace_event *expected, uint64_t most)
{
	char *data = mem_alloc(size);
	struct err err = {""};
	struct trace *trace;
	struct trace_cursor *cursor;
	struct trace_event e;
	struct trace_stats stats;
	FILE *out = fopen("/dev/null", "w");
	int64_t n = 0;
	int got;

	assert_non_null(out);
	if (size)
		memcpy(data, bytes, size);
	trace = trace_open_memory(data, size, "memory", &err);
	if (!trace) {
		assert_int_equal(strncmp(err.text, "memory: ", 8), 0);
		free(data);
		fclose(out);
		return -1;
	}
	for (uint32_t m = 0; m < trace->module_count; m++)
		for (uint64_t i = 0; i < trace->modules[m].sites; i++)
			describe_site_json(trace, trace->modules[m].first_site + i, out);
	stats_init(&stats, trace);
	cursor = trace_cursor_open(trace);
	while ((got = trace_next(cursor, &e)) > 0) {
		if (expected) {
			/* A cut file lacks the end of threads and whole threads, the highest
			 * numbers first, so indexes stay. */
			const struct trace_event *x = &expected[e.thread * most + stats.by_thread[e.thread]];

			if ((uint64_t)n >= most || e.kind != x->kind || e.address != x->address ||
			    e.key != x->key)
				fail_msg("event %d of thread %u differs after %zu bytes",
					 (int)stats.by_thread[e.thread], (unsigned)e.thread, size);
		}
		stats_count(&stats, &e);
		if (!expected && n < 40) {
			describe_event(trace, &e, out);
			describe_event_json(trace, &e, out);
		}
		n++;
	}
	if (got < 0) {
		assert_int_equal(strncmp(trace_cursor_error(cursor)->text, "memory: ", 8), 0);
		n = -1;
	}
	trace_cursor_close(cursor);
	stats_print_json(&stats, trace, out);
	stats_blind_spots_json(trace, out);
	stats_release(&stats);
	trace_close(trace);
	free(data);
	fclose(out);
	return n;
}

/* How the blocks of events are written. */
enum form { PLAIN, PACKED, SQUEEZED };

static char *load(enum form form, size_t *size, uint64_t *count)
{
	struct err err;
	struct trace *trace;

	*count = helper_sample(helper_path("sample"));
	if (form == SQUEEZED) {
		squeezed_copy(helper_path("sample"), helper_path("squeezed"));
		return helper_read(helper_path("squeezed"), size);
	}
	if (form == PACKED) {
		/* Longer, so that blocks are worth packing. */
		struct trace_writer *w = trace_writer_open(helper_path("sample"), 0, &err);

		assert_non_null(w);
		trace_writer_site(w, &(struct trace_site){.file = "a.c", .size = 2});
		for (*count = 0; *count < 1800; ++*count)
			helper_access(w, (uint32_t)(*count / 600), 1, 0x1000 + *count % 8 * 8,
				      *count % 100 ? 0 : 1 + *count);
		assert_int_equal(trace_writer_finish(w, &err), 0);
		trace = trace_open(helper_path("sample"), &err);
		assert_non_null(trace);
		assert_int_equal(trace_repack(trace, helper_path("packed"), true, &err), 0);
		trace_close(trace);
		return helper_read(helper_path("packed"), size);
	}
	return helper_read(helper_path("sample"), size);
}

/* Events of each thread in rows of `most`, as the whole file has them. */
static struct trace_event *rows(const char *data, size_t size, uint64_t most)
{
	struct err err;
	struct trace *trace = trace_open_memory(data, size, "whole", &err);
	struct trace_event *table, *all;
	uint64_t n, *used;

	assert_non_null(trace);
	table = mem_zalloc(trace->thread_count * most, sizeof *table);
	used = mem_zalloc(trace->thread_count, sizeof *used);
	all = helper_events(trace, &n);
	assert_int_equal(n, most);
	for (uint64_t i = 0; i < n; i++)
		table[all[i].thread * most + used[all[i].thread]++] = all[i];
	free(all);
	free(used);
	trace_close(trace);
	return table;
}

/* At every byte the events are a part, from the beginning, of each thread's. */
static void cut(enum form form)
{
	size_t size;
	uint64_t most;
	char *data = load(form, &size, &most);
	struct trace_event *whole = rows(data, size, most);
	int64_t before = -1, n;
	unsigned steps = 0;

	/* Behind the last payload come zeros that no reader looks at. */
	for (size_t length = 0; length <= size; length++) {
		n = read_all(data, length, whole, most);
		assert_true(n >= before || n == -1);
		steps += n > before;
		if (n >= 0)
			before = n;
	}
	assert_int_equal(before, most);
	assert_true(steps >= (form == PLAIN ? 20u : 3u));
	free(whole);
	free(data);
}

static void cut_anywhere(void **state)
{
	cut(PLAIN);
}

static void cut_packed(void **state)
{
	cut(PACKED);
}

static void flip(enum form form, uint64_t seed, unsigned rounds)
{
	size_t size;
	uint64_t most;
	char *data = load(form, &size, &most), *changed = mem_alloc(size);
	unsigned sound = 0, refused = 0;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned flips = 1 + (unsigned)(helper_random(&seed) % 3);

		memcpy(changed, data, size);
		while (flips--) {
			/* Mostly where something is: pages are full of zeros at the end. */
			size_t page = helper_random(&seed) % (size / TRACE_PAGE) * TRACE_PAGE;
			size_t byte =
				page + helper_random(&seed) % (helper_random(&seed) % 4 ? 300 : TRACE_PAGE);

			changed[byte] ^= (char)(1 << helper_random(&seed) % 8);
		}
		if (read_all(changed, size, NULL, 0) < 0)
			refused++;
		else
			sound++;
	}
	assert_true(sound > 0 && refused > 0);
	free(changed);
	free(data);
}

static void flip_bits(void **state)
{
	flip(PLAIN, 1, 30000);
}

static void flip_packed_bits(void **state)
{
	flip(PACKED, 2, 10000);
}

static void cut_squeezed(void **state)
{
	cut(SQUEEZED);
}

static void flip_squeezed_bits(void **state)
{
	flip(SQUEEZED, 3, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere), cmocka_unit_test(cut_packed),
		cmocka_unit_test(flip_bits),    cmocka_unit_test(flip_packed_bits),
		cmocka_unit_test(cut_squeezed), cmocka_unit_test(flip_squeezed_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
