/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opening traces: what is sound is found again, what is not is said. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *sample;
static size_t sample_size;

static int make_sample(void **state)
{
	helper_sample(helper_path("sample"));
	sample = helper_read(helper_path("sample"), &sample_size);
	return 0;
}

static int drop_sample(void **state)
{
	free(sample);
	return 0;
}

/* Opening the bytes fails, and the sentence has this in it. */
static void refuse(const void *data, size_t size, const char *part)
{
	struct err err;

	helper_write(helper_path("bad"), data, size);
	assert_null(trace_open(helper_path("bad"), &err));
	assert_contains(err.text, part);
	assert_contains(err.text, helper_path("bad"));
	assert_null(trace_open_memory(data, size, "memory", &err));
	assert_contains(err.text, part);
}

static char *copy(void)
{
	char *data = mem_alloc(sample_size);

	memcpy(data, sample, sample_size);
	return data;
}

/* Offset of the n-th block of a kind. */
static size_t block(unsigned kind, unsigned n)
{
	for (size_t at = TRACE_PAGE; at < sample_size; at += TRACE_PAGE) {
		struct trace_block b;

		memcpy(&b, sample + at, sizeof b);
		if (b.magic == TRACE_BLOCK_MAGIC && b.kind == kind && !n--)
			return at;
	}
	fail_msg("the sample has too few blocks");
	return 0;
}

static void not_traces(void **state)
{
	struct err err;

	refuse("", 0, "empty");
	refuse("#!/bin/sh\necho\n", 15, "not a trace");
	refuse(sample, 7, "ends inside the header");
	refuse(sample, sizeof(struct trace_header) - 1, "ends inside the header");
	refuse(sample, sizeof(struct trace_header), "ends before the first event");
	refuse(sample, TRACE_PAGE, "ends before the first event");
	refuse(sample, block(TRACE_BLOCK_EVENTS, 0), "ends before the first event");
	refuse(sample, block(TRACE_BLOCK_EVENTS, 0) + sizeof(struct trace_block),
	       "ends before the first event");
	assert_null(trace_open("/", &err));
	assert_string_equal(err.text, "/: this is a directory, not a trace");
	assert_null(trace_open("/dev/null", &err));
	assert_contains(err.text, "not a regular file");
	assert_null(trace_open(helper_path("missing"), &err));
	assert_contains(err.text, "No such file");
}

static void other_versions(void **state)
{
	char *data = copy();

	((struct trace_header *)data)->version = TRACE_VERSION + 6;
	refuse(data, sample_size, "format version 10, but this atomsan reads version 4; use a newer one");
	((struct trace_header *)data)->version = TRACE_VERSION - 1;
	refuse(data, sample_size,
	       "format version 3, but this atomsan reads version 4; record the program again");
	free(data);
}

static void damaged_header(void **state)
{
	static const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {{offsetof(struct trace_header, version), 0},
		     {offsetof(struct trace_header, header_size), 12},
		     {offsetof(struct trace_header, header_size), 5000},
		     {offsetof(struct trace_header, state), 9},
		     {offsetof(struct trace_header, state), 0},
		     {offsetof(struct trace_header, next_page), 0},
		     {offsetof(struct trace_header, regions), 1u << 30}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *data = copy();

		memcpy(data + cases[i].offset, &cases[i].value, 4);
		refuse(data, sample_size, "header of the trace is damaged");
		free(data);
	}
}

static void damaged_blocks(void **state)
{
	size_t at = block(TRACE_BLOCK_EVENTS, 1), before = block(TRACE_BLOCK_EVENTS, 0);
	struct trace_block *b;
	char *data;

#define CASE(change, part)                     \
	data = copy();                         \
	b = (struct trace_block *)(data + at); \
	change;                                \
	refuse(data, sample_size, part);       \
	free(data)

	CASE(b->length = 0, "length is impossible");
	CASE(b->length = TRACE_PAGE + 8, "length is impossible");
	CASE(b->length = 0xfffff000, "length is impossible");
	CASE(b->kind = 3, "kind is not known");
	CASE(b->flags = 16, "flags are not known");
	CASE(b->payload = TRACE_PAGE, "more than its length");
	CASE(b->flags = TRACE_BLOCK_ZSTD, "unpacked length is impossible");
	CASE((b->flags = TRACE_BLOCK_ZSTD, b->unpacked = TRACE_MAX_UNPACKED + 1),
	     "unpacked length is impossible");
	CASE(memcpy(&b->owner, sample + before + offsetof(struct trace_block, owner), 4),
	     "both claim to be number 0");
#undef CASE
}

static void items(void **state)
{
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);

	assert_non_null(trace);
	assert_int_equal(trace->header.seed, 42);
	assert_int_equal(trace->thread_count, 4);
	assert_int_equal(trace->note_count, 0);
	assert_string_equal(trace_program(trace), "./bank");
	assert_int_equal(trace->cwd.length, 5);
	assert_memory_equal(trace->cwd.data, "/home", 5);
	assert_int_equal(trace->module_count, 2);
	assert_string_equal(trace->modules[0].path, "/bin/bank");
	assert_int_equal(trace->modules[0].build_id_length, 3);
	assert_memory_equal(trace->modules[0].build_id, "\1\2\3", 3);
	assert_int_equal(trace_thread_index(trace, 7), 2);
	assert_int_equal(trace_thread_index(trace, 4), -1);
	trace_close(trace);
}

static void places(void **state)
{
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct trace_site site;
	struct trace_function function;

	assert_non_null(trace);
	assert_int_equal(trace_site(trace, 2, &site, &err), 0);
	assert_string_equal(site.function, "set");
	assert_string_equal(site.file, "bank.c");
	assert_string_equal(site.type, "account");
	assert_string_equal(site.member, "balance");
	assert_null(site.base);
	assert_int_equal(site.line, 12);
	assert_int_equal(site.column, 9);
	assert_int_equal(site.kind, ATOMSAN_WRITE);
	assert_int_equal(site.offset, 16);
	assert_int_equal(site.type_size, 24);
	assert_int_equal(trace_site(trace, 4, &site, &err), 0);
	assert_string_equal(site.module->path, "/lib/far.so");
	assert_int_equal(trace_function(trace, 2, &function, &err), 0);
	assert_string_equal(function.name, "deposit");
	assert_string_equal(function.receiver_type, "account");
	assert_string_equal(function.module->path, "/lib/far.so");
	assert_int_equal(trace_site(trace, 0, &site, &err), -1);
	assert_int_equal(trace_site(trace, 6, &site, &err), -1);
	assert_contains(err.text, "no site 6");
	assert_int_equal(trace_function(trace, 0, &function, &err), -1);
	assert_int_equal(trace_function(trace, 3, &function, &err), -1);
	trace_close(trace);
}

/* Every byte in and around the variables is asked for. */
static void variables(void **state)
{
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct trace_variable v;

	assert_non_null(trace);
	assert_int_equal(trace->variable_count, 2);
	for (uint64_t at = 0x555500002fe0; at < 0x555500003080; at++) {
		bool in_lock = at >= 0x555500002ff0 && at < 0x555500003000;
		bool in_table = at >= 0x555500003000 && at < 0x555500003060;

		assert_int_equal(trace_variable_at(trace, at, &v), in_lock || in_table);
		if (in_lock || in_table)
			assert_string_equal(v.name, in_lock ? "table_lock" : "table");
	}
	assert_false(trace_variable_at(trace, 0, &v));
	assert_false(trace_variable_at(trace, UINT64_MAX, &v));
	trace_variable(trace, 1, &v);
	assert_string_equal(v.file, "bank.c");
	assert_string_equal(v.type, "account");
	assert_int_equal(v.line, 7);
	assert_int_equal(v.element_size, 24);
	assert_int_equal(v.flags, ATOMSAN_VARIABLE_ARRAY);
	assert_string_equal(v.module->path, "/bin/bank");
	assert_int_equal(v.module->spec.length, 22);
	assert_memory_equal(v.module->spec.data, "unit function deposit\n", 22);
	trace_variable(trace, 0, &v);
	assert_null(v.type);
	trace_close(trace);
}

/* A reference that leaves the strings is no string; one into their last, unfinished part neither. */
static void wild_strings(void **state)
{
	static const int32_t wild[] = {INT32_MAX, INT32_MIN, 1, -1, 4};
	size_t module = block(TRACE_BLOCK_META, 2) + sizeof(struct trace_block);
	struct trace_module *m = (struct trace_module *)(sample + module);
	size_t site = module + sizeof *m + m->path_length + m->build_id_length;
	struct trace_site got;
	struct trace *trace;
	struct err err;
	char *data;

	for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
		data = copy();
		memcpy(data + site, &wild[i], 4);
		trace = trace_open_memory(data, sample_size, "memory", &err);
		assert_non_null(trace);
		assert_int_equal(trace_site(trace, 1, &got, &err), 0);
		assert_null(got.function);
		assert_string_equal(got.file, "bank.c");
		trace_close(trace);
		free(data);
	}
	data = copy();
	memset(data + site + m->sites_length + m->functions_length, 'x', m->strings_length);
	trace = trace_open_memory(data, sample_size, "memory", &err);
	assert_non_null(trace);
	assert_int_equal(trace_site(trace, 1, &got, &err), 0);
	assert_null(got.file);
	trace_close(trace);
	free(data);
}

static void damaged_modules(void **state)
{
	size_t at = block(TRACE_BLOCK_META, 2) + sizeof(struct trace_block);
	struct trace_module *m;
	char *data;

#define CASE(change, part)                      \
	data = copy();                          \
	m = (struct trace_module *)(data + at); \
	change;                                 \
	refuse(data, sample_size, part);        \
	free(data)

	CASE(m->sites_length++, "damaged");
	CASE((m->sites_length += 8, m->functions_length -= 8), "ends inside an entry");
	CASE((m->variables_length -= 8, m->spec_length += 8), "ends inside an entry");
	CASE(m->variables_length = UINT64_MAX, "shorter than their header says");
	CASE(m->spec_length += 4096, "shorter than their header says");
	CASE(m->strings_length = UINT64_MAX, "shorter than their header says");
	CASE(m->path_length = UINT32_MAX, "shorter than their header says");
	CASE(m->first_site = 0, "site numbers are impossible");
	CASE(m->first_site = UINT64_MAX, "site numbers are impossible");
	CASE(m->first_site = 4, "the same site numbers");
	CASE(m->first_function = 2, "the same function numbers");
	CASE(m->first_function = UINT64_MAX, "function numbers are impossible");
#undef CASE
}

/* Pages that were handed out and never begun, and a file grown ahead, change nothing. */
static void holes(void **state)
{
	size_t at = block(TRACE_BLOCK_EVENTS, 1), hole = 3 * TRACE_PAGE, size = sample_size + hole;
	char *data = mem_zalloc(size, 1);
	struct trace_event *a, *b;
	struct trace *trace;
	uint64_t n, m;
	struct err err;

	memcpy(data, sample, at);
	memset(data + at + TRACE_PAGE, 0x55, 64); /* words of no block */
	memcpy(data + at + hole, sample + at, sample_size - at);
	((struct trace_header *)data)->next_page += 3;
	((struct trace_header *)data)->state = TRACE_RUNNING;
	helper_write(helper_path("holes"), data, size);
	assert_int_equal(truncate(helper_path("holes"), 1l << 40), 0);
	trace = trace_open(helper_path("holes"), &err);
	assert_non_null(trace);
	a = helper_events(trace, &n);
	assert_int_equal(trace->note_count, 0);
	trace_close(trace);
	trace = trace_open_memory(sample, sample_size, "sample", &err);
	assert_non_null(trace);
	b = helper_events(trace, &m);
	trace_close(trace);
	assert_int_equal(n, m);
	for (uint64_t i = 0; i < n; i++)
		helper_assert_same(&a[i], &b[i]);
	/* Everything handed out, nothing begun: a tebibyte of hole is no work. */
	((struct trace_header *)data)->next_page = (1ull << 40) / TRACE_PAGE;
	helper_write(helper_path("holes"), data, size);
	assert_int_equal(truncate(helper_path("holes"), 1l << 40), 0);
	trace = trace_open(helper_path("holes"), &err);
	assert_non_null(trace);
	assert_int_equal(trace->thread_count, 4);
	trace_close(trace);
	free(a);
	free(b);
	free(data);
}

static void assert_sample(const char *data, size_t size)
{
	struct err err = {""};
	struct trace *trace = trace_open_memory(data, size, "memory", &err), *whole;
	struct trace_event *a, *b;
	uint64_t n, m;

	if (!trace)
		fail_msg("%s", err.text);
	whole = trace_open_memory(sample, sample_size, "sample", &err);
	assert_non_null(whole);
	assert_int_equal(trace->note_count, 0);
	a = helper_events(trace, &n);
	b = helper_events(whole, &m);
	assert_int_equal(n, m);
	for (uint64_t i = 0; i < n; i++)
		helper_assert_same(&a[i], &b[i]);
	free(a);
	free(b);
	trace_close(trace);
	trace_close(whole);
}

/* Each step of a window's way into the file gives the same events. */
static void windows(void **state)
{
	size_t at = block(TRACE_BLOCK_EVENTS, 1), size = sample_size + TRACE_PAGE;
	char *data = mem_zalloc(size, 1);
	struct trace_block *window = (struct trace_block *)(data + at);
	struct trace_block *appended = (struct trace_block *)(data + sample_size);

	/* In use. */
	memcpy(data, sample, sample_size);
	window->flags = TRACE_BLOCK_WINDOW;
	window->payload = 0;
	assert_sample(data, size);
	/* The copy has its content, and no header yet. */
	((struct trace_header *)data)->next_page++;
	memcpy(appended + 1, window + 1, TRACE_PAGE - sizeof *window);
	assert_sample(data, size);
	/* Both are whole. */
	*appended = *window;
	appended->flags = 0;
	assert_sample(data, size);
	/* The copy counts, the window is being cleared. */
	window->flags |= TRACE_BLOCK_FLUSHED;
	memset(window + 1, 0, 16);
	assert_sample(data, size);
	/* Used again, still without an event. */
	memset(window + 1, 0, TRACE_PAGE - sizeof *window);
	window->flags = TRACE_BLOCK_WINDOW;
	window->sequence++;
	assert_sample(data, size);
	free(data);
}

/* The content of a block whose header was never written may look like a block. */
static void lost_content(void **state)
{
	size_t size = sample_size + 3 * TRACE_PAGE;
	char *data = mem_zalloc(size, 1);
	struct trace_block *fake = (struct trace_block *)(data + sample_size + TRACE_PAGE);

	memcpy(data, sample, sample_size);
	((struct trace_header *)data)->next_page += 3;
	fake->magic = TRACE_BLOCK_MAGIC;
	fake->kind = 77;
	fake->length = 12345;
	assert_sample(data, size);
	free(data);
}

static void gap(void **state)
{
	char *data = copy();
	size_t at = block(TRACE_BLOCK_EVENTS, 3);
	struct trace *trace;
	struct err err;
	uint64_t n;

	((struct trace_block *)(data + at))->sequence = 1;
	trace = trace_open_memory(data, sample_size, "memory", &err);
	assert_non_null(trace);
	assert_int_equal(trace->note_count, 1);
	assert_contains(trace->notes[0], "block 0 of thread number 9 is missing");
	free(helper_events(trace, &n));
	assert_true(n > 0);
	trace_close(trace);
	free(data);
}

static void shorter_than_said(void **state)
{
	struct err err;
	struct trace *trace = trace_open_memory(sample, sample_size - TRACE_PAGE, "memory", &err);
	uint64_t n;

	assert_non_null(trace);
	assert_int_equal(trace->thread_count, 3);
	assert_int_equal(trace->note_count, 1);
	assert_contains(trace->notes[0], "shorter");
	free(helper_events(trace, &n));
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_traces),
		cmocka_unit_test(other_versions),
		cmocka_unit_test(damaged_header),
		cmocka_unit_test(damaged_blocks),
		cmocka_unit_test(items),
		cmocka_unit_test(places),
		cmocka_unit_test(variables),
		cmocka_unit_test(wild_strings),
		cmocka_unit_test(damaged_modules),
		cmocka_unit_test(holes),
		cmocka_unit_test(gap),
		cmocka_unit_test(shorter_than_said),
		cmocka_unit_test(windows),
		cmocka_unit_test(lost_content),
	};

	return cmocka_run_group_tests(tests, make_sample, drop_sample);
}
