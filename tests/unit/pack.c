/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packing and unpacking keep every event, the header and the metadata. */
#include "helper.h"

#include "trace/pack.h"
#include "trace/word_inl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace *open_sound(const char *path)
{
	struct err err = {""};
	struct trace *trace = trace_open(path, &err);

	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

static void assert_same_traces(const char *a, const char *b)
{
	struct trace *left = open_sound(a), *right = open_sound(b);
	struct trace_event *l, *r;
	uint64_t n, m;

	l = helper_events(left, &n);
	r = helper_events(right, &m);
	assert_int_equal(n, m);
	assert_true(n > 0);
	for (uint64_t i = 0; i < n; i++)
		helper_assert_same(&l[i], &r[i]);
	assert_int_equal(left->header.seed, right->header.seed);
	assert_int_equal(left->header.exit_status, right->header.exit_status);
	assert_int_equal(left->module_count, right->module_count);
	assert_string_equal(trace_program(left) == left->path ? "" : trace_program(left),
			    trace_program(right) == right->path ? "" : trace_program(right));
	free(l);
	free(r);
	trace_close(left);
	trace_close(right);
}

static void there_and_back(const char *name)
{
	struct err err;
	struct trace *trace = open_sound(helper_path(name));

	assert_int_equal(trace_repack(trace, helper_path("packed"), true, &err), 0);
	trace_close(trace);
	assert_same_traces(helper_path(name), helper_path("packed"));
	trace = open_sound(helper_path("packed"));
	assert_int_equal(trace_repack(trace, helper_path("back"), false, &err), 0);
	trace_close(trace);
	assert_same_traces(helper_path(name), helper_path("back"));
	trace = open_sound(helper_path("back"));
	assert_false(trace->header.flags & TRACE_PACKED);
	for (uint64_t i = 0; i < trace->extent_count; i++)
		assert_int_equal(trace->extents[i].unpacked, 0);
	trace_close(trace);
}

static void small(void **state)
{
	helper_sample(helper_path("sample"));
	there_and_back("sample");
}

static void many_blocks(void **state)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("many"), 0, &err);
	struct trace *trace, *plain;
	uint64_t seed = 5;

	assert_non_null(w);
	for (int i = 0; i < 3000; i++)
		trace_writer_site(
			w, &(struct trace_site){.file = "some/file.c", .line = (uint32_t)i, .size = 8});
	for (int i = 0; i < 300000; i++) {
		uint32_t t = (uint32_t)(helper_random(&seed) % 5);

		helper_access(w, t, 1 + (uint32_t)i % 3000, 0x1000 + helper_random(&seed) % 4096 * 8,
			      helper_random(&seed) % 10 ? 0 : trace_writer_stamp(w));
	}
	assert_int_equal(trace_writer_finish(w, &err), 0);
	there_and_back("many");
	trace = open_sound(helper_path("packed"));
	assert_true(trace->header.flags & TRACE_PACKED);
	plain = open_sound(helper_path("many"));
	assert_true(trace->size < plain->size);
	trace_close(plain);
	/* Blocks of a thread were joined. */
	for (uint32_t i = 0; i < trace->thread_count; i++)
		assert_true(trace->threads[i].count <= 3);
	trace_close(trace);
}

/* A block longer than a packed one may be is split, without tearing an event. */
static void long_block(void **state)
{
	enum { EVENTS = 300000 };
	uint64_t *words = mem_alloc(EVENTS * 16);
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("long"), 0, &err);
	struct trace_block block = {.kind = TRACE_BLOCK_EVENTS, .owner = 0};
	struct trace_header *header;
	char *data;
	size_t size;
	FILE *file;

	assert_non_null(w);
	trace_writer_site(w, &(struct trace_site){.size = 8});
	trace_writer_header(w)->next_stamp = EVENTS + 1;
	assert_int_equal(trace_writer_finish(w, &err), 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		words[2 * i] = word_make(TRACE_STAMPED, 1, 0x1000 + 8 * (i % 777));
		words[2 * i + 1] = (i + 1) << TRACE_STAMP_SHIFT;
	}
	data = helper_read(helper_path("long"), &size);
	header = (struct trace_header *)data;
	header->next_page += (EVENTS * 16 + sizeof block + TRACE_PAGE - 1) / TRACE_PAGE;
	file = fopen(helper_path("long"), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	trace_write_block(file, block, words, EVENTS * 16);
	fclose(file);
	free(data);
	free(words);
	there_and_back("long");
}

static void damaged(void **state)
{
	struct err err;
	struct trace *trace;
	struct trace_cursor *cursor;
	struct trace_event e;
	char *data;
	size_t size;

	many_blocks(state);
	data = helper_read(helper_path("packed"), &size);
	trace = trace_open_memory(data, size, "memory", &err);
	assert_non_null(trace);
	memset(data + trace->threads[0].first->offset + sizeof(struct trace_block) + 40, 0xaa, 100);
	cursor = trace_cursor_open(trace);
	assert_int_equal(trace_next(cursor, &e), -1);
	assert_contains(trace_cursor_error(cursor)->text, "packed block");
	trace_cursor_close(cursor);
	assert_int_equal(trace_repack(trace, helper_path("never"), false, &err), -1);
	assert_contains(err.text, "packed block");
	assert_null(fopen(helper_path("never"), "r"));
	trace_close(trace);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small),
		cmocka_unit_test(many_blocks),
		cmocka_unit_test(long_block),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
