/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The report for people, and what all reports share. */
#include "helper.h"

#include "report/block.h"
#include "report/source.h"
#include "report/text.h"
#include "samples.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *text_of(const struct finding_list *list, const struct report_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_text(out, list, options);
	fclose(out);
	return text;
}

/* A folder with a bank.c of 60 lines, each of which says its number. */
static const char *sources(void)
{
	const char *path = helper_path("bank.c");
	FILE *out = fopen(path, "w");
	static char folder[4096];

	for (int i = 1; i <= 60; i++)
		fprintf(out, "\t  line %d of the bank\r\n", i);
	fclose(out);
	snprintf(folder, sizeof folder, "%s", path);
	*strrchr(folder, '/') = 0;
	return folder;
}

static void bank(void **state)
{
	struct finding_list *list = samples_bank(sources());
	char *text = text_of(list, &(struct report_options){0});

	assert_contains(text, "deposit is not atomic over struct account\n");
	assert_contains(text, "observed by check, pattern RWW, confidence 1.00, seen 770 times\n");
	assert_contains(text, "a unit for struct account: its first parameter is a struct account\n");
	assert_contains(text, "\n       T2                                            T1\n");
	assert_contains(text, "\n    1  reads account.balance\n");
	assert_contains(text,
			"\n    3                                                writes account.balance\n");
	assert_contains(text, "       | line 29 of the bank\n");
	assert_contains(text, "       holds account.lock\n       stale from step 3 on\n");
	assert_contains(text, "       undoes the deposit of T1\n");
	assert_contains(text, "step 1 reads account.balance before step 3 writes it\n");
	assert_contains(text, "  stack of step 1, 2\n    #0  balance  ");
	assert_contains(text, "to mend it: Hold account.lock");
	assert_contains(text, "atomsan replay '.atomsan/schedules/bank 1.sched' -- ./bank 1000\n");
	assert_contains(text, "\nSUMMARY: atomsan: 1 finding (1 observed) in ./bank\n");
	assert_null(strchr(text, '\033'));
	free(text);
	finding_list_free(list);
}

static void all(void **state)
{
	struct finding_list *list = samples_all("examples");
	char *text = text_of(list, &(struct report_options){.color = true, .suppressed = 4});

	/* What was not seen is said first. */
	assert_int_equal(strncmp(text, "\033[33mnot seen: ", 15), 0);
	assert_contains(text, "19 of 20 runs failed");
	assert_contains(text,
			"\nSUMMARY: atomsan: 6 findings (1 healed, 1 reproduced, 1 observed, 1 predicted, "
			"2 suspected, 4 suppressed) in ./bank\n");
	/* A finding that names no threads has columns as well. */
	assert_contains(text,
			"\033[1munit 2\033[m                                        \033[1munit 1\033[m\n");
	assert_contains(text, "the same thread, one after the other\n");
	free(text);
	finding_list_free(list);
	list = finding_list_new("check");
	text = text_of(list, &(struct report_options){0});
	assert_string_equal(text, "SUMMARY: atomsan: no findings\n");
	free(text);
	finding_list_free(list);
}

/* Columns keep to the width; too narrow a page has one column. */
static void widths(void **state)
{
	for (unsigned width = 40; width < 200; width += 7) {
		struct finding_list *list = samples_all("examples");
		struct report_options options = {.width = width};
		char *text = text_of(list, &options);

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			unsigned indent = (unsigned)strspn(line, " 0123456789");

			/* The steps: deep lines, or numbers at the margin. */
			if (indent >= 7 && strlen(line) > width)
				fail_msg("%zu columns of %u: %s", strlen(line), width, line);
		}
		free(text);
		finding_list_free(list);
	}
	struct finding_list *list = samples_bank("x");
	char *text = text_of(list, &(struct report_options){.width = 40});

	assert_contains(text, "\n    1  T2: reads account.balance\n");
	free(text);
	finding_list_free(list);
}

static void paths(void **state)
{
	struct finding_list *list = samples_bank("/home/u/project/src");
	char *text = text_of(list, &(struct report_options){.strip_path_prefix = "/project"});

	assert_contains(text, "deposit  src/bank.c:41");
	assert_null(strstr(text, "/home"));
	free(text);
	finding_list_free(list);
}

/* Control characters come out as their codes, colours or not. */
static void hostile(void **state)
{
	struct finding_list *list = samples_hostile();
	char *text = text_of(list, &(struct report_options){0});

	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if ((*p < ' ' && *p != '\n') || *p == 0x7f || *p == 0xff || (*p == 0xc2 && p[1] < 0xa0))
			fail_msg("a byte 0x%02x came through", *p);
	assert_contains(text, "\\x1b[31m");
	/* No line of the report can be forged. */
	assert_null(strstr(text, "\n::error"));
	free(text);
	finding_list_free(list);
}

static void stale(void **state)
{
	struct finding_list *list = samples_bank("x");
	struct finding *f = &list->findings[0];

	assert_int_equal(report_stale_at(f, 0), 2);
	assert_int_equal(report_stale_at(f, 1), FINDING_NO_ACCESS);
	assert_int_equal(report_stale_at(f, 3), FINDING_NO_ACCESS);
	/* The unit ends before it could use the old value. */
	f->access_count = 3;
	f->edge_count = 1;
	assert_int_equal(report_stale_at(f, 0), FINDING_NO_ACCESS);
	finding_list_free(list);
}

static void source_files(void **state)
{
	struct source_files *files;
	char folder[4096];

	snprintf(folder, sizeof folder, "%s", sources());
	helper_write(helper_path("odd.c"), "a\n\nb", 4);
	assert_int_equal(mkfifo(helper_path("pipe.c"), 0600), 0);
	files = source_files_new(folder);
	assert_string_equal(source_line(files, helper_path("bank.c"), 60), "\t  line 60 of the bank");
	assert_null(source_line(files, helper_path("bank.c"), 61));
	assert_null(source_line(files, helper_path("bank.c"), 0));
	assert_string_equal(source_line(files, "odd.c", 3), "b");
	assert_string_equal(source_line(files, "odd.c", 2), "");
	assert_int_equal(source_line_count(files, "odd.c"), 3);
	assert_null(source_line(files, helper_path("pipe.c"), 1));
	assert_null(source_line(files, "none.c", 1));
	assert_null(source_line(files, NULL, 1));
	assert_null(source_line(files, "/", 1));
	helper_write(helper_path("secret"), "password\n", 9);
	assert_null(source_line(files, helper_path("secret"), 1));
	source_files_free(files);
	/* From a folder below, and with the way that a build folder took. */
	char *before = getcwd(NULL, 0);

	assert_int_equal(mkdir(helper_path("below"), 0700), 0);
	assert_int_equal(chdir(helper_path("below")), 0);
	files = source_files_new(NULL);
	assert_string_equal(source_line(files, "odd.c", 3), "b");
	assert_string_equal(source_line(files, "../../odd.c", 3), "b");
	assert_null(source_line(files, "secret", 1));
	source_files_free(files);
	assert_int_equal(chdir(before), 0);
	free(before);
}

/* From the first line of each block to its last. */
static void blocks(void **state)
{
	static const char text[] = "static void plain(int a)\n"               /* 1 */
				   "{\n"                                      /* 2 */
				   "\tif (a) { a = '}'; }\n"                  /* 3 */
				   "\tputs(\"} /* \\\" }\"); // }\n"          /* 4 */
				   "\t/* } over\n"                            /* 5 */
				   "\t} lines */ a++;\n"                      /* 6 */
				   "#define BRACE } \\\n"                     /* 7 */
				   "\t}\n"                                    /* 8 */
				   "}\n"                                      /* 9 */
				   "int total = 0;\n"                         /* 10 */
				   "for (int i = 0; i < n; i++)\n"            /* 11 */
				   "\tsum += i;\n"                            /* 12 */
				   "Account::Account(long b) : balance{b},\n" /* 13 */
				   "\tnames{[] { return 1; }()}\n"            /* 14 */
				   "{\n"                                      /* 15 */
				   "}\n"                                      /* 16 */
				   "void never()\n"                           /* 17 */
				   "{\n";                                     /* 18 */
	static const uint32_t expected[][2] = {{1, 9},   {3, 3},  {10, 10}, {11, 12}, {13, 16},
					       {16, 16}, {17, 0}, {18, 0},  {19, 0},  {0, 0}};
	const char *path = helper_path("block.cc");
	struct source_files *files = source_files_new(NULL);

	helper_write(path, text, sizeof text - 1);
	for (unsigned i = 0; i < sizeof expected / sizeof *expected; i++)
		if (block_end(files, path, expected[i][0]) != expected[i][1])
			fail_msg("the block of line %u ends in line %u, not %u", expected[i][0],
				 block_end(files, path, expected[i][0]), expected[i][1]);
	assert_int_equal(block_end(files, "nowhere.c", 1), 0);
	source_files_free(files);
	/* What is too long, or never ends, is looked at for a while and no longer. */
	char *many = mem_alloc(4000);

	memset(many, '\n', 4000);
	memcpy(many, "{", 1);
	many[3999] = '}';
	helper_write(path, many, 4000);
	files = source_files_new(NULL);
	assert_int_equal(block_end(files, path, 1), 0);
	source_files_free(files);
	free(many);
}

/* A race has no schedule, but a way to see it again once the store knows where it is. */
static void again(void **state)
{
	struct finding_list *list = samples_all("examples");
	struct finding *race = NULL;
	char *command;

	for (uint32_t i = 0; i < list->finding_count; i++)
		if (list->findings[i].kind == FINDING_RACE)
			race = &list->findings[i];
	assert_non_null(race);
	race->schedule = NULL;
	race->runs = 0;
	assert_null(report_replay(list, race));
	race->runs = 1;
	command = report_replay(list, race);
	assert_string_equal(command, "atomsan race --noise=findings:300 -- ./bank 1000");
	free(command);
	/* The words of the run that its schedule is for come before those of the latest one. */
	race->schedule = "a b.schedule";
	race->command = "./bank 'two words'";
	command = report_replay(list, race);
	assert_string_equal(command, "atomsan replay 'a b.schedule' -- ./bank 'two words'");
	free(command);
	finding_list_free(list);
}

static void colors(void **state)
{
	struct report_options options;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal));
	FILE *out = fopen(ptsname(terminal), "w");

	assert_non_null(out);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	report_options_init(&options, out);
	assert_true(options.color);
	assert_true(options.width >= 40);
	setenv("NO_COLOR", "", 1); /* empty is as good as not there */
	report_options_init(&options, out);
	assert_true(options.color);
	setenv("NO_COLOR", "1", 1);
	report_options_init(&options, out);
	assert_false(options.color);
	unsetenv("NO_COLOR");
	fclose(out);
	close(terminal);
	out = fopen("/dev/null", "w");
	report_options_init(&options, out);
	assert_false(options.color);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bank),         cmocka_unit_test(all),     cmocka_unit_test(widths),
		cmocka_unit_test(paths),        cmocka_unit_test(hostile), cmocka_unit_test(stale),
		cmocka_unit_test(source_files), cmocka_unit_test(blocks),  cmocka_unit_test(again),
		cmocka_unit_test(colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
