/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* STD text: lines are taken apart, come back as they were, or are refused by number. */
#include "helper.h"

#include "trace/std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *export(const char *path, bool functions)
{
	struct err err = {""};
	struct trace *trace = trace_open(path, &err);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!trace)
		fail_msg("%s", err.text);
	if (std_export(trace, out, &(struct std_options){.functions = functions}, &err))
		fail_msg("%s", err.text);
	fclose(out);
	trace_close(trace);
	return text;
}

static void lines(void **state)
{
	struct std_line line;

	assert_null(std_parse("T1|acq(m.lock)|a|b", 18, &line));
	assert_int_equal(line.op, STD_ACQ);
	assert_int_equal(line.thread_length, 2);
	assert_memory_equal(line.name, "m.lock", 6);
	assert_int_equal(line.name_length, 6);
	assert_memory_equal(line.place, "a|b", 3);
	assert_int_equal(line.place_length, 3);
	assert_null(std_parse("T|r(f(x))|", 10, &line));
	assert_int_equal(line.name_length, 4);
	assert_int_equal(line.place_length, 0);
	assert_null(std_parse("T|begin|1", 9, &line));
	assert_true(line.bare);
	assert_null(std_parse("T|end()|1", 9, &line));
	assert_false(line.bare);
	assert_int_equal(line.name_length, 0);
}

static void same_lines(void **state)
{
	static const char text[] = "main|fork(child one)|1\n"
				   "main|begin|x\n"
				   "child one|begin()|\n"
				   "main|acq(l)|007\n"
				   "main|acq(l)|007\n"
				   "main|r(l)|7\n"
				   "main|rel(l)|8\n"
				   "child one|w(l)|a|b (c)\r\n"
				   "child one|w(main)|7\n"
				   "main|rel(l)|8\n"
				   "child one|rel(l)|8\n"
				   "child one|end(\xff)|9\n"
				   "main|join(child one)|10\n"
				   "main|join(never seen)|10\n"
				   "main|end|11\n";
	struct err err;
	char *back;

	assert_int_equal(std_import(text, strlen(text), "text", helper_path("std"), &err), 0);
	back = export(helper_path("std"), false);
	assert_string_equal(back, text);
	free(back);
	/* Without the last newline, and with empty lines in between, the events are the same. */
	assert_int_equal(std_import("T|r(x)|1\n\n\nT|w(x)|2", 19, "text", helper_path("std"), &err), 0);
	back = export(helper_path("std"), false);
	assert_string_equal(back, "T|r(x)|1\nT|w(x)|2\n");
	free(back);
}

static void many_lines(void **state)
{
	static const char *const ops[] = {"r", "w", "acq", "rel", "fork", "join", "begin", "end"};
	enum { LINES = 60000 };
	char *text = mem_alloc(LINES * 40), *back;
	size_t length = 0;
	uint64_t seed = 3;
	struct err err;

	for (int i = 0; i < LINES; i++)
		length += (size_t)sprintf(
			text + length, "T%u|%s(N%u)|%u\n", (unsigned)(helper_random(&seed) % 300),
			ops[helper_random(&seed) % 8], (unsigned)(helper_random(&seed) % 5000),
			(unsigned)(helper_random(&seed) % 9000));
	assert_int_equal(std_import(text, length, "text", helper_path("std"), &err), 0);
	back = export(helper_path("std"), false);
	assert_string_equal(back, text);
	free(back);
	free(text);
}

static void bad_lines(void **state)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{"T|r(x)|1\nT|r(x)\n", "line 2 is not of the form"},
		{"T|r(x)|1\n|r(x)|1\n", "line 2 has no thread"},
		{"T|r(x)|1\n\nT|read(x)|1\n", "line 3 has an operation other than"},
		{"T|r(x)|1\nT|r(x|1\n", "line 2 has no closing parenthesis"},
		{"T|r(x)|1\nT|w()|1\n", "line 2 has no name"},
		{"T|r(x)|1\nT|join|1\n", "line 2 has no name"},
		{"T|r(x)|1\nT|(|1\n", "line 2 has an operation"},
		{"hello\n", "neither a trace nor STD text"},
		{"\n\n", "no events"},
		{"", "no events"},
	};
	struct err err;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(
			std_import(cases[i].text, strlen(cases[i].text), "text", helper_path("bad"), &err),
			-1);
		assert_contains(err.text, cases[i].part);
		assert_contains(err.text, "text: ");
		assert_null(fopen(helper_path("bad"), "r"));
	}
	assert_int_equal(std_import("T|r(x)|1\nT|r(\0)|1\n", 19, "text", helper_path("bad"), &err), -1);
	assert_contains(err.text, "line 2 has a NUL byte");
}

/* Re-entrant locks once, waiting gives the mutex back, functions as units. */
static void recorded(void **state)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("recorded"), 0, &err);
	struct trace_event rmw = {.kind = TRACE_OP, .op = TRACE_OP_ATOMIC_RMW, .address = 0x2000};
	char *text;

	assert_non_null(w);
	trace_writer_site(w, &(struct trace_site){.size = 8});
	trace_writer_function(w, &(struct trace_function){.name = "outer<int, int>"});
	trace_writer_function(w, &(struct trace_function){.name = "inner"});
	helper_op(w, 0, TRACE_OP_START, 0, 0);
	helper_op(w, 0, TRACE_OP_UNLOCK, 0xabc0, 0);
	helper_op(w, 0, TRACE_OP_CREATE, 0, 1);
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER, .function = 1});
	helper_op(w, 0, TRACE_OP_LOCK, 0xabc0, 0);
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER, .function = 2});
	helper_op(w, 0, TRACE_OP_LOCK, 0xabc0, 0);
	helper_access(w, 0, 1, 0x1000, 0);
	helper_op(w, 0, TRACE_OP_UNLOCK, 0xabc0, 0);
	helper_op(w, 0, TRACE_OP_WAIT, 0xdef0, 0xabc0);
	trace_writer_event(w, &rmw);
	helper_op(w, 0, TRACE_OP_WAKE, 0xdef0, 0xabc0);
	helper_op(w, 0, TRACE_OP_UNLOCK, 0xabc0, 0);
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_EXIT, .frames = 2});
	helper_op(w, 1, TRACE_OP_START, 0, 0);
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER, .thread = 1, .function = 2});
	helper_op(w, 1, TRACE_OP_RDLOCK, 0xeee0, 0);
	helper_op(w, 1, TRACE_OP_UNIT_BEGIN, 0, 0);
	helper_op(w, 1, TRACE_OP_UNIT_END, 0, 0);
	helper_op(w, 1, TRACE_OP_END, 0, 0);
	helper_op(w, 0, TRACE_OP_JOIN, 0, 1);
	assert_int_equal(trace_writer_finish(w, &err), 0);
	text = export(helper_path("recorded"), false);
	assert_string_equal(text,
			    "T0|fork(T1)|0\nT0|acq(Labc0)|0\nT0|r(V1000)|1\nT0|rel(Labc0)|0\nT0|r(V2000)|0\n"
			    "T0|w(V2000)|0\nT0|acq(Labc0)|0\nT0|rel(Labc0)|0\nT1|acq(Leee0)|0\n"
			    "T1|begin(unit)|0\nT1|end(unit)|0\nT0|join(T1)|0\n");
	free(text);
	text = export(helper_path("recorded"), true);
	assert_string_equal(
		text, "T0|fork(T1)|0\nT0|begin(outer<int,_int>)|0\nT0|acq(Labc0)|0\nT0|r(V1000)|1\n"
		      "T0|rel(Labc0)|0\nT0|r(V2000)|0\nT0|w(V2000)|0\nT0|acq(Labc0)|0\nT0|rel(Labc0)|0\n"
		      "T0|end(outer<int,_int>)|0\nT1|begin(inner)|0\nT1|acq(Leee0)|0\n"
		      "T1|begin(unit)|0\nT1|end(unit)|0\nT1|end(inner)|0\nT0|join(T1)|0\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),     cmocka_unit_test(same_lines), cmocka_unit_test(many_lines),
		cmocka_unit_test(bad_lines), cmocka_unit_test(recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
