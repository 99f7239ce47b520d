/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Suppressions and baselines. */
#include "helper.h"

#include "finding/baseline.h"
#include "finding/suppress.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Noon of the 15th of June 2026, whatever the time zone. */
static const time_t now = 1781524800;

/* How many findings of all samples the lines leave out. */
static uint32_t left_out(const char *lines)
{
	struct finding_list *list = samples_all("lib/examples");
	struct suppress_list suppressions = {0};
	struct err err;

	if (suppress_parse(&suppressions, lines, "s", now, &err))
		fail_msg("%s", err.text);
	uint32_t n = suppress_apply(&suppressions, list);

	assert_int_equal(list->finding_count, 6 - n);
	suppress_release(&suppressions);
	finding_list_free(list);
	return n;
}

static void matching(void **state)
{
	assert_int_equal(left_out(""), 0);
	assert_int_equal(left_out("# nothing\n\n   \n"), 0);
	assert_int_equal(left_out("atomicity:deposit # r"), 1);
	assert_int_equal(left_out("race:deposit # r"), 0);
	assert_int_equal(left_out("any:deposit # r"), 1);
	assert_int_equal(left_out("any:dep # whole names"), 0);
	assert_int_equal(left_out("any:dep* # r"), 1);
	/* A frame in the middle and at the end of a stack. */
	assert_int_equal(left_out("atomicity:function=teller # r"), 1);
	assert_int_equal(left_out("atomicity:function=set_balance # r"), 1);
	assert_int_equal(left_out("atomicity:variable=set_balance # r"), 0);
	/* Files by their path or any end of it. */
	assert_int_equal(left_out("any:file=bank.c # r"), 1);
	assert_int_equal(left_out("any:file=examples/bank.c # r"), 1);
	assert_int_equal(left_out("any:file=lib/examples/bank.c # r"), 1);
	assert_int_equal(left_out("any:file=ank.c # r"), 0);
	assert_int_equal(left_out("any:lib/* # r"), 6);
	/* Types with and without their tag, and sets that have spaces. */
	assert_int_equal(left_out("any:type=account # r"), 1);
	assert_int_equal(left_out("any:type=struct account # r"), 1);
	assert_int_equal(left_out("any:type=globals of ledger.c # r"), 1);
	/* Variables and locks. */
	assert_int_equal(left_out("any:variable=point.? # r"), 1);
	assert_int_equal(left_out("any:variable=account.lock # r"), 1);
	assert_int_equal(left_out("deadlock:left # r"), 1);
	assert_int_equal(left_out("id:F-74dbc92d1114 # r"), 1);
	assert_int_equal(left_out("race:* # r\natomicity:* # r"), 3);
}

static void expiry(void **state)
{
	assert_int_equal(left_out("any:deposit until=2026-06-14 # over"), 0);
	assert_int_equal(left_out("any:deposit until=2026-06-15 # the last day"), 1);
	assert_int_equal(left_out("any:deposit until=2026-06-16 # r"), 1);
	assert_int_equal(left_out("any:type=struct account until=2027-01-01 # r"), 1);
}

static void refused(const char *lines, const char *part)
{
	struct suppress_list suppressions = {0};
	struct err err = {""};

	assert_int_equal(suppress_parse(&suppressions, lines, "s", now, &err), -1);
	assert_contains(err.text, part);
	suppress_release(&suppressions);
}

static void refuses(void **state)
{
	refused("deposit # r", "s:1: a suppression reads");
	refused("\nrase:deposit # r", "s:2: 'rase' is no kind");
	refused("race:deposit", "the reason is missing");
	refused("race:deposit #  ", "the reason is missing");
	refused("race: # r", "the pattern is empty");
	refused("race:file= # r", "the pattern is empty");
	refused("race:x until=2026-02-30 # r", "'2026-02-30' is not a day");
	refused("race:x until=soon # r", "'soon' is not a day");
	refused("id:deposit # r", "is not the id");
}

static void collect(void *user, const char *sentence)
{
	FILE *out = user;

	fprintf(out, "%s\n", sentence);
}

static void reported(void **state)
{
	struct finding_list *list = samples_all("x");
	struct suppress_list suppressions = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct err err;

	static const char lines[] = "any:deposit # r\nany:gone # r\nany:deposit until=2020-01-01 # r\n";

	helper_write(helper_path("supp"), lines, strlen(lines));
	assert_int_equal(suppress_read(&suppressions, helper_path("supp"), now, &err), 0);
	assert_int_equal(suppress_apply(&suppressions, list), 1);
	suppress_report(&suppressions, collect, out);
	fclose(out);
	assert_contains(text, ":2: nothing matched the suppression of 'gone'\n");
	assert_contains(text, ":3: the suppression of 'deposit' expired on 2020-01-01\n");
	assert_null(strstr(text, ":1:"));
	free(text);
	suppress_release(&suppressions);
	assert_int_equal(suppress_read(&suppressions, helper_path("no-file"), now, &err), -1);
	assert_contains(err.text, "No such file");
	finding_list_free(list);
}

/* What is written for a finding suppresses it, whatever its names are. */
static void written(void **state)
{
	struct finding_list *lists[] = {samples_all("x"), samples_hostile()};

	lists[0]->findings[0].units[0].place.function = "operator*[]";
	for (int l = 0; l < 2; l++)
		for (uint32_t i = 0; i < lists[l]->finding_count; i++)
			for (int what = SUPPRESS_FUNCTION; what <= SUPPRESS_ID; what++) {
				struct suppress_list suppressions = {0};
				const struct finding *f = &lists[l]->findings[i];
				struct err err;
				char *line = suppress_line(f, (enum suppress_what)what, "because\nof",
							   "2030-01-01", &err);

				if (!line) {
					assert_contains(err.text, "has no ");
					continue;
				}
				assert_null(strchr(line, '\n'));
				if (suppress_parse(&suppressions, line, "s", now, &err))
					fail_msg("%s", err.text);
				assert_int_equal(suppressions.count, 1);
				assert_string_equal(suppressions.entries[0].reason, "because of");
				if (!suppress_match(&suppressions, f))
					fail_msg("'%s' does not match", line);
				suppress_release(&suppressions);
				free(line);
			}
	finding_list_free(lists[0]);
	finding_list_free(lists[1]);
}

static void baselines(void **state)
{
	struct finding_list *list = samples_all("x");
	struct baseline baseline;
	struct err err;
	size_t size;

	assert_int_equal(baseline_write(list, helper_path("base"), &err), 0);
	assert_int_equal(baseline_read(&baseline, helper_path("base"), &err), 0);
	assert_int_equal(baseline.count, 6);
	for (uint32_t i = 0; i < list->finding_count; i++)
		assert_true(baseline_has(&baseline, list->findings[i].id));
	assert_false(baseline_has(&baseline, "F-000000000000"));
	baseline_release(&baseline);
	/* Sorted, and the same whatever the order of the findings. */
	char *first = helper_read(helper_path("base"), &size), *second;
	struct finding swap = list->findings[0];

	list->findings[0] = list->findings[4];
	list->findings[4] = swap;
	assert_int_equal(baseline_write(list, helper_path("base"), &err), 0);
	second = helper_read(helper_path("base"), &size);
	assert_string_equal(first, second);
	free(first);
	free(second);
	helper_write(helper_path("bad"), "F-12345 x\nno id here\n", 21);
	assert_int_equal(baseline_read(&baseline, helper_path("bad"), &err), -1);
	assert_contains(err.text, ":2: a line of a baseline");
	assert_int_equal(baseline_read(&baseline, helper_path("none"), &err), -1);
	assert_int_equal(baseline_write(list, helper_path("no/folder/base"), &err), -1);
	finding_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matching), cmocka_unit_test(expiry),  cmocka_unit_test(refuses),
		cmocka_unit_test(reported), cmocka_unit_test(written), cmocka_unit_test(baselines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
