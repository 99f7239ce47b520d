/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan dump` and `atomsan convert` as a user runs them; argument 1 is the executable. */
#include "helper.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *atomsan;

/* Exit status of atomsan with these words after it; what it printed, errors
 * included, is in *text. */
static int run(char **text, const char *format, ...)
{
	char arguments[2000], *command;
	va_list args;
	FILE *pipe;
	size_t size = 0;
	int c;
	FILE *out = open_memstream(text, &size);

	va_start(args, format);
	vsnprintf(arguments, sizeof arguments, format, args);
	va_end(args);
	command = mem_textf("{ '%s' %s; } 2>&1", atomsan, arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while ((c = getc(pipe)) != EOF)
		putc(c, out);
	fclose(out);
	free(command);
	return WEXITSTATUS(pclose(pipe));
}

static void dump_text(void **state)
{
	char *text;

	helper_sample(helper_path("sample"));
	assert_int_equal(run(&text, "dump %s", helper_path("sample")), 0);
	assert_contains(text, "       6* T1  lock  0x7fff12345678  [try]  in copy  bank.c:41\n");
	assert_int_equal(strncmp(text, "       1* T0  start", 18), 0);
	free(text);
	assert_int_equal(run(&text, "dump --thread=T1.1 --limit=1 %s", helper_path("sample")), 0);
	assert_string_equal(text, "      13* T1.1  start  0x0\n");
	free(text);
	assert_int_equal(run(&text, "dump --thread=T4 %s", helper_path("sample")), 1);
	assert_contains(text, "there is no thread 'T4'");
	free(text);
	assert_int_equal(run(&text, "dump --limit=x %s", helper_path("sample")), 1);
	assert_contains(text, "not a number");
	free(text);
	assert_int_equal(run(&text, "dump --sites --limit=1 %s", helper_path("sample")), 0);
	assert_string_equal(text, "       1  read  8  account.balance  in get  bank.c:12:9  (/bin/bank)\n");
	free(text);
	assert_int_equal(run(&text, "dump"), 1);
	assert_contains(text, "usage");
	free(text);
}

static void dump_json(void **state)
{
	static const char *const forms[] = {"--json", "--json --stats", "--json --sites",
					    "--json --thread=T1"};
	json_t *root;
	char *text;
	unsigned count = helper_sample(helper_path("sample"));

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(run(&text, "dump %s %s", forms[i], helper_path("sample")), 0);
		root = json_loads(text, 0, NULL);
		if (!root)
			fail_msg("not JSON: %s", text);
		assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
		assert_string_equal(json_string_value(json_object_get(root, "program")), "./bank");
		assert_string_equal(json_string_value(json_object_get(root, "seed")), "42");
		assert_true(json_is_array(json_object_get(root, "blind_spots")));
		if (i == 0) {
			assert_int_equal(json_array_size(json_object_get(root, "events")), count);
			assert_int_equal(json_integer_value(
						 json_object_get(json_object_get(root, "counts"), "events")),
					 count);
		}
		if (i == 2)
			assert_int_equal(json_array_size(json_object_get(root, "sites")), 5);
		json_decref(root);
		free(text);
	}
}

/* Half of a file still gives a document, which says what went wrong. */
static void dump_damaged(void **state)
{
	json_t *root;
	char *text, *data;
	size_t size;

	helper_sample(helper_path("sample"));
	data = helper_read(helper_path("sample"), &size);
	for (size_t at = TRACE_PAGE; at < size; at += TRACE_PAGE) {
		struct trace_block *b = (struct trace_block *)(data + at);

		if (b->kind == TRACE_BLOCK_EVENTS && b->owner == 9)
			memset(data + at + sizeof *b + 16, 0xff, 8);
	}
	helper_write(helper_path("bad"), data, size);
	free(data);
	assert_int_equal(run(&text, "dump --json %s 2>/dev/null", helper_path("bad")), 1);
	assert_contains(text, "\"error\":");
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_contains(json_string_value(json_object_get(root, "error")), "is damaged");
	json_decref(root);
	free(text);
}

static void dump_unfinished(void **state)
{
	char *text, *data;
	size_t size;

	helper_sample(helper_path("sample"));
	data = helper_read(helper_path("sample"), &size);
	((struct trace_header *)data)->state = TRACE_RUNNING;
	((struct trace_header *)data)->counters[TRACE_COUNT_ASM] = 3;
	helper_write(helper_path("running"), data, size);
	free(data);
	assert_int_equal(run(&text, "dump %s", helper_path("running")), 0);
	assert_int_equal(strncmp(text, "# trace not finished: ", 22), 0);
	assert_contains(text, "\n# not seen: 3 inline assembly blocks");
	free(text);
	assert_int_equal(run(&text, "dump --stats %s", helper_path("running")), 0);
	assert_contains(text, "\nevents 23, ");
	assert_contains(text, "\nthread T1.1 3\n");
	free(text);
}

static void dump_full_disk(void **state)
{
	char *text;

	helper_sample(helper_path("sample"));
	assert_int_equal(run(&text, "dump %s >/dev/full", helper_path("sample")), 1);
	assert_contains(text, "cannot write the output: No space left");
	free(text);
}

static void convert(void **state)
{
	static const char std[] = "A|fork(B)|1\nB|w(x)|2\nA|r(x)|3\nA|join(B)|4\n";
	char *text;

	helper_write(helper_path("in"), std, strlen(std));
	assert_int_equal(run(&text, "convert -o %s %s", helper_path("t"), helper_path("in")), 0);
	free(text);
	assert_int_equal(run(&text, "convert %s", helper_path("t")), 0);
	assert_string_equal(text, std);
	free(text);
	assert_int_equal(run(&text, "convert --to=packed -o %s %s", helper_path("p"), helper_path("in")), 0);
	free(text);
	assert_int_equal(run(&text, "convert --to=atr -o %s %s", helper_path("u"), helper_path("p")), 0);
	free(text);
	assert_int_equal(run(&text, "convert --to=std -o %s %s", helper_path("out"), helper_path("u")), 0);
	free(text);
	text = helper_read(helper_path("out"), NULL);
	assert_string_equal(text, std);
	free(text);
}

static void convert_refuses(void **state)
{
	static const struct {
		const char *arguments, *part;
	} cases[] = {
		{"--to=xml -o x /dev/null", "not a regular file"},
		{"-o /tmp /etc/hostname", "directory"},
		{"-o /proc/none /etc/hostname", "cannot create the file"},
		{"/etc/hostname", "add -o FILE"},
		{"--to=std /etc/hostname", "not a trace"},
		{"--to=xml /etc/hostname", "std, atr or packed"},
		{"--units=all /etc/hostname", "marked or functions"},
		{"/nowhere", "/nowhere: cannot open the file: No such file"},
	};
	char *text;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(run(&text, "convert %s", cases[i].arguments), 1);
		assert_contains(text, cases[i].part);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_text),       cmocka_unit_test(dump_json),
		cmocka_unit_test(dump_damaged),    cmocka_unit_test(dump_unfinished),
		cmocka_unit_test(dump_full_disk),  cmocka_unit_test(convert),
		cmocka_unit_test(convert_refuses),
	};

	if (argc != 2)
		return 2;
	atomsan = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
