/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Schedules: what is written can be read, and what is wrong is refused with its line. */
#include "helper.h"

#include "predict/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *print(const struct schedule *s)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	schedule_print(s, out);
	fclose(out);
	return text;
}

/* Any bytes but NUL. */
static char *random_text(uint64_t *state)
{
	size_t length = helper_random(state) % 12;
	char *text = mem_zalloc(length + 1, 1);

	for (size_t i = 0; i < length; i++)
		text[i] = (char)(1 + helper_random(state) % 255);
	return text;
}

static void round_trip(void **state)
{
	uint64_t random = 1;

	for (int round = 0; round < 2000; round++) {
		struct schedule *s = schedule_new(), *copy, *read;
		char *texts[6], *first, *second, *third;
		struct err err;
		char *variable;

		for (int i = 0; i < 6; i++)
			texts[i] = random_text(&random);
		variable = mem_textf("N=%s", texts[0]);
		schedule_set_program(s, texts[1], &texts[2], (uint32_t)(helper_random(&random) % 3));
		schedule_add_environment(s, variable);
		s->build_id = helper_random(&random) % 2 ? mem_text("00ff") : NULL;
		s->verdict = mem_text(texts[4]);
		s->seed = helper_random(&random) >> helper_random(&random) % 64;
		s->every = helper_random(&random) % 2;
		s->end = helper_random(&random) % 2 ? SCHEDULE_FREE : SCHEDULE_SERIAL;
		s->first = s->end == SCHEDULE_SERIAL && helper_random(&random) % 2 ? mem_text("T1.2") : NULL;
		for (uint64_t i = 0, n = helper_random(&random) % 5; i < n; i++) {
			char name[32];

			snprintf(name, sizeof name, "T%d.%d", (int)(helper_random(&random) % 3), (int)i);
			schedule_add(s, name, helper_random(&random) % 1000, i % 2 ? texts[5] : NULL);
		}
		first = print(s);
		read = schedule_parse(first, strlen(first), "x", &err);
		if (!read)
			fail_msg("%s in:\n%s", err.text, first);
		second = print(read);
		copy = schedule_copy(read);
		third = print(copy);
		assert_string_equal(first, second);
		assert_string_equal(first, third);
		assert_string_equal(read->program, texts[1]);
		assert_string_equal(read->environment[0], variable);
		assert_int_equal(read->step_count, s->step_count);
		assert_int_equal(!read->first, !s->first);
		if (s->first)
			assert_string_equal(read->first, s->first);
		for (uint32_t i = 0; i < s->step_count; i++) {
			assert_string_equal(read->steps[i].thread, s->steps[i].thread);
			assert_int_equal(read->steps[i].events, s->steps[i].events);
		}
		schedule_free(s);
		schedule_free(read);
		schedule_free(copy);
		for (int i = 0; i < 6; i++)
			free(texts[i]);
		free(variable);
		free(first);
		free(second);
		free(third);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"", "is not a schedule"},
		{"atomsan schedul", "is not a schedule"},
		{"atomsan schedule 2\nevents every\nthen free\n", "another version"},
		{"atomsan schedule 1\nevents every\n", "no line 'then'"},
		{"atomsan schedule 1\nthen free\n", "which events"},
		{"atomsan schedule 1\nevents some\nthen free\n", "line 2"},
		{"atomsan schedule 1\nevents every\nevents every\nthen free\n", "line 3"},
		{"atomsan schedule 1\nevents every\nrun\nthen free\n", "line 3"},
		{"atomsan schedule 1\nevents every\nrun T1\nthen free\n", "'run THREAD EVENTS'"},
		{"atomsan schedule 1\nevents every\nrun X1 2\nthen free\n", "thread's name"},
		{"atomsan schedule 1\nevents every\nrun T 2\nthen free\n", "thread's name"},
		{"atomsan schedule 1\nevents every\nrun T1. 2\nthen free\n", "thread's name"},
		{"atomsan schedule 1\nevents every\nrun T1 x\nthen free\n", "number of events"},
		{"atomsan schedule 1\nevents every\nrun T1 99999999999999999999\nthen free\n",
		 "number of events"},
		{"atomsan schedule 1\nevents every\nthen free\nrun T1 2\n", "behind 'then'"},
		{"atomsan schedule 1\nevents every\nthen never\n", "line 3"},
		{"atomsan schedule 1\nevents every\nthen free T1\n", "line 3"},
		{"atomsan schedule 1\nevents every\nthen serial \n", "thread's name"},
		{"atomsan schedule 1\nevents every\nthen serial somebody\n", "thread's name"},
		{"atomsan schedule 1\nprogram %4\nevents every\nthen free\n", "hexadecimal"},
		{"atomsan schedule 1\nprogram %00\nevents every\nthen free\n", "hexadecimal"},
		{"atomsan schedule 1\nprogram a\nprogram b\nevents every\nthen free\n", "second time"},
		{"atomsan schedule 1\nenvironment A\nevents every\nthen free\n", "NAME=VALUE"},
		{"atomsan schedule 1\nseed x\nevents every\nthen free\n", "seed"},
		{"atomsan schedule 1\nsomething else\nevents every\nthen free\n", "no such line"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {""};

		assert_null(schedule_parse(cases[i].text, strlen(cases[i].text), "f", &err));
		if (!strstr(err.text, cases[i].sentence))
			fail_msg("case %zu: '%s' does not have '%s'", i, err.text, cases[i].sentence);
	}
}

static void files(void **state)
{
	struct schedule *s = schedule_new(), *read;
	struct err err;
	char *path = mem_text(helper_path("s.schedule"));

	schedule_add(s, "T1", 3, NULL);
	schedule_add(s, "T1", 5, "later");
	schedule_add(s, "T1", 4, NULL);
	schedule_add(s, "T2", 1, NULL);
	assert_int_equal(s->step_count, 2);
	assert_int_equal(schedule_write(s, path, &err), 0);
	read = schedule_read(path, &err);
	assert_non_null(read);
	assert_int_equal(read->steps[0].events, 5);
	assert_string_equal(read->steps[0].note, "later");
	assert_int_equal(schedule_write(s, "/nowhere/s", &err), -1);
	assert_contains(err.text, "/nowhere/s: cannot be written");
	assert_null(schedule_read("/nowhere/s", &err));
	assert_contains(err.text, "/nowhere/s: cannot be read");
	assert_null(schedule_read("/", &err));
	schedule_free(s);
	schedule_free(read);
	free(path);
}

static void environment(void **state)
{
	static char *const variables[] = {(char *)"LANG=C", (char *)"PASSWORD=x", (char *)"OMP_NUM_THREADS=2",
					  (char *)"LANGUID=1", NULL};
	struct schedule *s = schedule_new();

	schedule_set_environment(s, variables);
	assert_int_equal(s->environment_count, 2);
	assert_string_equal(s->environment[0], "LANG=C");
	assert_string_equal(s->environment[1], "OMP_NUM_THREADS=2");
	schedule_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(refused),
		cmocka_unit_test(files),
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
