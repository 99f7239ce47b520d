/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file appears whole or not at all, and what was there stays until then. */
#include "helper.h"

#include "trace/output.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void assert_holds(const char *path, const char *expected)
{
	char *text = helper_read(path, NULL);

	assert_string_equal(text, expected);
	free(text);
}

static void commit(void **state)
{
	struct output output;
	struct err err;

	helper_write(helper_path("target"), "old", 3);
	assert_int_equal(output_open(&output, helper_path("target"), &err), 0);
	fputs("new", output.file);
	fflush(output.file);
	assert_holds(helper_path("target"), "old");
	assert_int_equal(output_commit(&output, &err), 0);
	assert_holds(helper_path("target"), "new");
}

static void abandon(void **state)
{
	struct output output;
	struct err err;
	char temporary[500];

	helper_write(helper_path("target"), "old", 3);
	assert_int_equal(output_open(&output, helper_path("target"), &err), 0);
	snprintf(temporary, sizeof temporary, "%s", output.temporary);
	assert_int_equal(access(temporary, F_OK), 0);
	output_abandon(&output);
	assert_int_equal(access(temporary, F_OK), -1);
	assert_holds(helper_path("target"), "old");
}

/* A limit on file sizes stands for a disk that is full. */
static void full(void **state)
{
	struct rlimit before, limit;
	struct output output;
	struct err err;
	char temporary[500], *zeros = mem_zalloc(1, 1 << 20);

	helper_write(helper_path("target"), "old", 3);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(output_open(&output, helper_path("target"), &err), 0);
	snprintf(temporary, sizeof temporary, "%s", output.temporary);
	fwrite(zeros, 1, 1 << 20, output.file);
	assert_int_equal(output_commit(&output, &err), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_contains(err.text, "cannot write the file: File too large");
	assert_int_equal(access(temporary, F_OK), -1);
	assert_holds(helper_path("target"), "old");
	free(zeros);
}

static void impossible(void **state)
{
	struct output output;
	struct err err;

	assert_int_equal(output_open(&output, "/nowhere/at/all", &err), -1);
	assert_contains(err.text, "/nowhere/at/all: cannot create the file: No such file");
	assert_int_equal(output_open(&output, "/", &err), -1);
	assert_contains(err.text, "directory");
	assert_int_equal(output_open(&output, "/dev/null", &err), -1);
	assert_contains(err.text, "not a regular file");
}

static void through_link(void **state)
{
	struct output output;
	struct err err;
	struct stat st;

	helper_write(helper_path("target"), "old", 3);
	assert_int_equal(symlink(helper_path("target"), helper_path("link")), 0);
	assert_int_equal(output_open(&output, helper_path("link"), &err), 0);
	fputs("new", output.file);
	assert_int_equal(output_commit(&output, &err), 0);
	assert_int_equal(lstat(helper_path("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_holds(helper_path("target"), "new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commit),     cmocka_unit_test(abandon),      cmocka_unit_test(full),
		cmocka_unit_test(impossible), cmocka_unit_test(through_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
