/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The repository as tools change it: what is written is what was read, merging, broken pairs, another build.
 */
#include "repository/repository.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct repository_place place(unsigned kind, const char *variable, const char *function, uint32_t line)
{
	return (struct repository_place){kind, variable, function, "dir/a b.c", line, 7, line, 1000};
}

static struct repository_section section_of(struct repository_end *end, struct repository_from *from)
{
	struct repository_section section = {.variable = end->place.variable,
					     .entry = place(ATOMICITY_READ, end->place.variable, "f", 1),
					     .ends = end,
					     .end_count = 1,
					     .from = from,
					     .from_count = 1};

	repository_identify(&section);
	return section;
}

static char *printed(const struct repository *repository)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	repository_print(repository, out);
	fclose(out);
	return text;
}

static void add(struct repository *repository, uint32_t end_line, struct repository_from from)
{
	struct repository_end end = {place(ATOMICITY_WRITE, "x", "f", end_line), ATOMICITY_READ};
	struct repository_section section = section_of(&end, &from);

	section.consecutive = from.origin == ATOMICITY_LEARNED;
	repository_add(repository, &section);
}

#define LEARNED(n)                                                 \
	(struct repository_from)                                   \
	{                                                          \
		.origin = ATOMICITY_LEARNED, .runs = 1, .times = n \
	}
#define LINT (struct repository_from){.origin = ATOMICITY_LINT, .what = "load-store", .confidence = 800}

static void written_is_read(void **state)
{
	static const char *const names[] = {
		"x",       "std::pair<int, \"q\">.first", "#odd", "back\\slash", "tab\there", "new\nline",
		"\303\244"};
	struct repository one = {0}, two = {0};
	char *first, *second;
	struct err err;

	one.program = repository_text(&one, "my bank");
	one.build = repository_text(&one, "00ff");
	repository_add_order(&one, "a.lock", "a lock");
	repository_add_order(&one, "a.lock", "a lock");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct repository_from from = {.origin = ATOMICITY_SPEC, .what = "my file:3"};
		struct repository_end end = {place(ATOMICITY_WRITE, names[i], "operator()", 20), i & 3};
		struct repository_section section = section_of(&end, &from);

		section.unit = "unit of it";
		section.any = i & 1;
		section.circular = i & 2;
		section.heal = (enum atomicity_heal)(i % 4);
		repository_add(&one, &section);
	}
	add(&one, 3, LEARNED(5));
	repository_add_broken(&one, &one.sections[0].entry, &one.sections[1].entry);
	first = printed(&one);
	assert_int_equal(repository_parse(&two, first, strlen(first), "x", &err), 0);
	second = printed(&two);
	assert_string_equal(first, second);
	assert_int_equal(two.section_count, sizeof names / sizeof *names + 1);
	assert_int_equal(two.order_count, 1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_string_equal(two.sections[i].variable, names[i]);
	free(first);
	free(second);
	repository_release(&one);
	repository_release(&two);
}

static void same_section_is_one(void **state)
{
	struct repository r = {0};

	add(&r, 3, LEARNED(5));
	add(&r, 3, LEARNED(6));
	assert_int_equal(r.section_count, 1);
	assert_int_equal(r.sections[0].from_count, 1);
	assert_int_equal(r.sections[0].from[0].runs, 2);
	assert_int_equal(r.sections[0].from[0].times, 11);
	assert_true(r.sections[0].consecutive);
	add(&r, 3, LINT);
	add(&r, 3, LINT);
	assert_int_equal(r.section_count, 1);
	assert_int_equal(r.sections[0].from_count, 2);
	assert_false(r.sections[0].consecutive);
	add(&r, 4, LINT);
	assert_int_equal(r.section_count, 2);
	repository_release(&r);
}

static void broken_is_for_ever(void **state)
{
	struct repository_place first = place(ATOMICITY_READ, "x", "f", 1),
				last = place(ATOMICITY_WRITE, "x", "f", 3);
	struct repository r = {0};

	add(&r, 3, LEARNED(5));
	add(&r, 4, LEARNED(5));
	add(&r, 5, LINT);
	assert_false(repository_is_broken(&r, &first, &last));
	repository_add_broken(&r, &first, &last);
	repository_add_broken(&r, &first, &last);
	assert_true(repository_is_broken(&r, &first, &last));
	assert_int_equal(r.broken_count, 1);
	assert_int_equal(r.section_count, 2);
	/* What somebody else says stays. */
	last.line = last.ordinal = 5;
	repository_add_broken(&r, &first, &last);
	assert_int_equal(r.section_count, 2);
	assert_int_equal(r.sections[1].from[0].origin, ATOMICITY_LINT);
	assert_ptr_equal(repository_find(&r, r.sections[1].id), &r.sections[1]);
	repository_release(&r);
}

static void files(void **state)
{
	char path[] = "/tmp/atomicity-XXXXXX", *folder = mkdtemp(path), *file = mem_textf("%s/r", folder);
	struct repository r = {0}, s = {0};
	struct err err;
	FILE *out;

	assert_int_equal(repository_read(&r, file, &err), 0); /* not there: empty */
	assert_int_equal(r.section_count, 0);
	add(&r, 3, LINT);
	assert_int_equal(repository_write(&r, file, &err), 0);
	assert_int_equal(repository_read(&s, file, &err), 0);
	assert_int_equal(s.section_count, 1);
	repository_release(&s);
	out = fopen(file, "a");
	fputs("  from nowhere\n", out);
	fclose(out);
	assert_int_equal(repository_read(&s, file, &err), -1);
	assert_non_null(strstr(err.text, "r:6: a section is from"));
	repository_release(&s);
	assert_int_equal(repository_read(&s, folder, &err), -1);
	assert_non_null(strstr(err.text, "is no file"));
	assert_int_equal(repository_write(&r, "/nonexistent/x", &err), -1);
	assert_non_null(strstr(err.text, "cannot be written"));
	unlink(file);
	rmdir(folder);
	free(file);
	repository_release(&r);
	repository_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),
		cmocka_unit_test(same_section_is_one),
		cmocka_unit_test(broken_is_for_ever),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
