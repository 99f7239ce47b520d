/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "helper.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	(void)type;
	(void)at;
	return remove(path);
}

/* With what tests made in it, folders included. */
static void remove_folder(void)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *helper_path(const char *name)
{
	static char paths[4][400];
	static unsigned next;
	char *path = paths[next++ % 4];

	if (!*folder) {
		strcpy(folder, "/tmp/atomsan-unit-XXXXXX");
		assert_non_null(mkdtemp(folder));
		atexit(remove_folder);
	}
	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

char *helper_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *data;
	long length;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	length = ftell(file);
	rewind(file);
	data = mem_alloc((size_t)length + 1);
	assert_int_equal(fread(data, 1, (size_t)length, file), length);
	data[length] = 0;
	fclose(file);
	if (size)
		*size = (size_t)length;
	return data;
}

void helper_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	fclose(file);
}

uint64_t helper_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void helper_access(struct trace_writer *writer, uint32_t thread, uint32_t site, uint64_t address,
		   uint64_t stamp)
{
	struct trace_event e = {.kind = TRACE_ACCESS,
				.thread = thread,
				.site = site,
				.address = address,
				.stamped = stamp != 0,
				.key = stamp};

	trace_writer_event(writer, &e);
}

void helper_op(struct trace_writer *writer, uint32_t thread, enum trace_op op, uint64_t object,
	       uint64_t value)
{
	struct trace_event e = {
		.kind = TRACE_OP, .thread = thread, .op = (uint8_t)op, .address = object, .value = value};

	trace_writer_event(writer, &e);
}

unsigned helper_sample(const char *path)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(path, 0, &err);
	struct trace_site read = {.function = "get",
				  .file = "bank.c",
				  .type = "account",
				  .member = "balance",
				  .line = 12,
				  .column = 9,
				  .size = 8,
				  .kind = ATOMSAN_READ,
				  .offset = 16,
				  .type_size = 24};
	struct trace_site write = read, range = {.function = "copy",
						 .file = "bank.c",
						 .base = "table",
						 .line = 40,
						 .kind = ATOMSAN_WRITE,
						 .flags = ATOMSAN_SITE_RANGE,
						 .base_kind = ATOMSAN_BASE_GLOBAL};
	struct trace_site call = {.function = "copy", .file = "bank.c", .line = 41, .kind = ATOMSAN_CALL};
	struct trace_function function = {.name = "deposit",
					  .file = "bank.c",
					  .line = 10,
					  .receiver_type = "account",
					  .receiver = 0,
					  .flags = ATOMSAN_FN_EXTERNAL};
	struct trace_variable table = {.name = "table",
				       .file = "bank.c",
				       .type = "account",
				       .address = 0x555500003000,
				       .size = 96,
				       .element_size = 24,
				       .line = 7,
				       .flags = ATOMSAN_VARIABLE_ARRAY};
	struct trace_variable lock = {.name = "table_lock",
				      .address = 0x555500002ff0,
				      .size = 16,
				      .element_size = 16,
				      .flags = ATOMSAN_VARIABLE_LOCK};
	uint32_t r, wr, rg, cl, fn, far_site, far_fn;
	unsigned n = 0;

	assert_non_null(w);
	trace_writer_header(w)->seed = 42;
	trace_writer_header(w)->exit_status = 3 << 8;
	trace_writer_header(w)->regions[5] = 5;
	trace_writer_header(w)->regions[15] = 7;
	trace_writer_meta(w, TRACE_META_ARGV, 0, "./bank\0-x", 10);
	trace_writer_meta(w, TRACE_META_CWD, 0, "/home", 5);
	trace_writer_module(w, "/bin/bank", "\1\2\3", 3);
	write.kind = ATOMSAN_WRITE;
	write.function = "set";
	r = trace_writer_site(w, &read);
	wr = trace_writer_site(w, &write);
	rg = trace_writer_site(w, &range);
	fn = trace_writer_function(w, &function);
	trace_writer_variable(w, &table);
	trace_writer_variable(w, &lock);
	trace_writer_variable(w, &table);
	trace_writer_spec(w, "unit function deposit\n");
	trace_writer_module(w, "/lib/far.so", NULL, 0);
	cl = trace_writer_site(w, &call);
	far_site = trace_writer_site(w, &read);
	far_fn = trace_writer_function(w, &function);

	helper_op(w, 7, TRACE_OP_START, 0x7ffff0000000, 0x800000), n++;
	helper_access(w, 7, r, 0x555500001000, 0), n++;
	helper_op(w, 7, TRACE_OP_CREATE, 0, 3), n++;
	helper_op(w, 7, TRACE_OP_CREATE, 0, 5), n++;
	helper_op(w, 3, TRACE_OP_START, 0x7fff00000000, 0x10000), n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER,
						    .thread = 3,
						    .function = fn,
						    .address = 0x555500001000}),
		n++;
	helper_access(w, 3, r, 0x555500001000, trace_writer_stamp(w)), n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_OP,
						    .op = TRACE_OP_LOCK,
						    .thread = 3,
						    .address = 0x7fff12345678,
						    .site = cl,
						    .flags = TRACE_LOCK_TRY}),
		n++;
	helper_access(w, 3, wr, 0x555500001000, 0), n++;
	helper_op(w, 3, TRACE_OP_WAIT, 0x555500002000, 0x7fff12345678), n++;
	helper_op(w, 5, TRACE_OP_START, 0x7ffe00000000, 0x10000), n++;
	helper_access(w, 5, wr, 0x555500001000, trace_writer_stamp(w)), n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ACCESS,
						    .thread = 5,
						    .site = rg,
						    .address = 0x10,
						    .value = 100,
						    .prefixes = 1 << TRACE_PREFIX_VALUE}),
		n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ACCESS,
						    .thread = 5,
						    .site = cl,
						    .address = 0x123456789abcdef0,
						    .value = 7,
						    .other = 1,
						    .prefixes = 1 << TRACE_PREFIX_VALUE}),
		n++;
	helper_op(w, 5, TRACE_OP_SIGNAL, 0x555500002000, 0), n++;
	helper_op(w, 3, TRACE_OP_WAKE, 0x555500002000, 0x7fff12345678), n++;
	helper_op(w, 3, TRACE_OP_CREATE, 0, 9), n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_EXIT, .thread = 3, .frames = 1}), n++;
	helper_op(w, 9, TRACE_OP_START, 0, 0), n++;
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER, .thread = 9, .function = far_fn}),
		n++;
	helper_access(w, 9, far_site, 0x2000, 0), n++;
	helper_op(w, 7, TRACE_OP_JOIN, 0, 3), n++;
	helper_op(w, 7, TRACE_OP_END, 0, 0), n++;
	assert_int_equal(trace_writer_finish(w, &err), 0);
	return n;
}

struct trace_event *helper_events(struct trace *trace, uint64_t *count)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event *events = NULL, e;
	uint64_t room = 0;
	int got;

	*count = 0;
	while ((got = trace_next(cursor, &e)) > 0) {
		if (*count == room) {
			room = room * 2 + 64;
			events = mem_resize(events, room, sizeof e);
		}
		events[(*count)++] = e;
	}
	if (got)
		fail_msg("%s", trace_cursor_error(cursor)->text);
	trace_cursor_close(cursor);
	return events;
}

void helper_assert_same(const struct trace_event *a, const struct trace_event *b)
{
	assert_int_equal(a->key, b->key);
	assert_int_equal(a->address, b->address);
	assert_int_equal(a->value, b->value);
	assert_int_equal(a->other, b->other);
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->site, b->site);
	assert_int_equal(a->function, b->function);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->op, b->op);
	assert_int_equal(a->access, b->access);
	assert_int_equal(a->stamped, b->stamped);
	assert_int_equal(a->prefixes, b->prefixes);
}
