/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The atomicity repository's reader: what it takes, what it refuses and with which line, and matching. */
#include "atomicity/atomicity.h"
#include "atomicity/heal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct atomicity_reader reader;

static int begin(const char *text)
{
	atomicity_begin(&reader, text, strlen(text));
	return atomicity_next(&reader);
}

static void takes_all_words(void **state)
{
	char copy[32];

	assert_int_equal(begin("# by hand\n"
			       "atomicity 1\n"
			       "program \"my bank\"\n"
			       "build 8f3c\n"
			       "order account.lock log.lock\n"
			       "section A-5d1c0a2f account.balance\n"
			       "  entry R account.balance deposit src/bank.c:43:15 #1/2\n"
			       "  end W account.balance deposit bank.c:45:18 #1/1 allow R\n"
			       "  end R \"std::pair<int, \\\"x\\\">.first\" deposit a:b.c:46:1 allow none\n"
			       "  end R account.balance deposit bank.c:47:18\n"
			       "\n"
			       "  unit transfer bank.c\n"
			       "  instance any\n"
			       "  circular\n  recursive\n  consecutive\n"
			       "  # a comment\n"
			       "  from lint load-store 800\n"
			       "  from learned 12 runs 340 times\n"
			       "  from finding F-1234567890 reproduced\n"
			       "  from spec bank.spec:4\n"
			       "  from annotation\n"
			       "  heal schedule\n"
			       "broken R a.b get bank.c:20:9 #1/1 W a.b get bank.c:21:9\n"),
			 1);
	assert_int_equal(reader.item, ATOMICITY_ORDER);
	assert_true(atomicity_word_is(reader.program, "my bank"));
	assert_true(atomicity_word_is(reader.build, "8f3c"));
	assert_true(atomicity_word_is(reader.order[1], "log.lock"));
	assert_int_equal(atomicity_next(&reader), 1);
	assert_int_equal(reader.item, ATOMICITY_SECTION);
	assert_int_equal(reader.line, 6);

	const struct atomicity_section *s = &reader.section;

	assert_true(atomicity_word_is(s->id, "A-5d1c0a2f"));
	assert_int_equal(s->entry.kind, ATOMICITY_READ);
	assert_true(atomicity_word_is(s->entry.file, "src/bank.c"));
	assert_int_equal(s->entry.line, 43);
	assert_int_equal(s->entry.column, 15);
	assert_int_equal(s->entry.ordinal, 1);
	assert_int_equal(s->entry.count, 2);
	assert_int_equal(s->end_count, 3);
	assert_int_equal(s->ends[0].allow, ATOMICITY_READ);
	assert_int_equal(s->ends[1].allow, 0);
	assert_int_equal(s->ends[2].allow, ATOMICITY_READ);
	assert_int_equal(s->ends[2].place.ordinal, 0);
	assert_true(atomicity_word_is(s->ends[1].place.file, "a:b.c"));
	assert_int_equal(atomicity_word_copy(s->ends[1].place.variable, copy, sizeof copy), 25);
	assert_string_equal(copy, "std::pair<int, \"x\">.first");
	assert_int_equal(atomicity_word_copy(s->ends[1].place.variable, copy, 5), 25);
	assert_string_equal(copy, "std:");
	assert_true(atomicity_word_is(s->unit, "transfer"));
	assert_true(s->any && s->circular && s->recursive && s->consecutive);
	assert_int_equal(s->from_count, 5);
	assert_int_equal(s->from[0].confidence, 800);
	assert_int_equal(s->from[1].runs, 12);
	assert_int_equal(s->from[1].times, 340);
	assert_int_equal(s->from[2].origin, ATOMICITY_FINDING);
	assert_int_equal(s->heal, ATOMICITY_HEAL_SCHEDULE);
	assert_int_equal(atomicity_next(&reader), 1);
	assert_int_equal(reader.item, ATOMICITY_BROKEN);
	assert_int_equal(reader.broken[1].line, 21);
	assert_int_equal(atomicity_next(&reader), 0);
}

#define HEAD "atomicity 1\n"
#define SECTION HEAD "section A-12 x\nentry R x f a.c:1:2 #1/1\n"

static void refuses_with_a_line(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *part; /* of the sentence */
	} cases[] = {
		{"", 1, "must begin with"},
		{"section A-1 x\n", 1, "must begin with"},
		{"atomicity 2\n", 1, "not known here"},
		{HEAD "\n\nnonsense\n", 4, "no word that is known"},
		{HEAD "program \"x\n", 2, "not closed"},
		{HEAD "program \"x\"y\n", 2, "right behind"},
		{HEAD "section B-1 x\n", 2, "has an id"},
		{HEAD "section A-12 x\n", 2, "lacks its entry"},
		{SECTION, 2, "lacks its entry or its ends"},
		{SECTION "entry R x f a.c:1:2\n", 4, "one entry"},
		{SECTION "end X x f a.c:1:2\n", 4, "read (R) or written (W)"},
		{SECTION "end RW x f a.c:1:2\n", 4, "read (R) or written (W)"},
		{SECTION "end R x f a.c:1\n", 4, "FILE:LINE:COLUMN"},
		{SECTION "end R x f a.c:0:3\n", 4, "FILE:LINE:COLUMN"},
		{SECTION "end R x f a.c:99999999999:3\n", 4, "FILE:LINE:COLUMN"},
		{SECTION "end R x f\n", 4, "a place has"},
		{SECTION "end R x f a.c:1:2 #3/2\n", 4, "#1/2"},
		{SECTION "end R x f a.c:1:2 #0/2\n", 4, "#1/2"},
		{SECTION "end R x f a.c:1:2 allow\n", 4, "allow"},
		{SECTION "end R x f a.c:1:2 allow X\n", 4, "allowed R, W, RW or none"},
		{SECTION "from lint x 1001\n", 4, "a section is from"},
		{SECTION "heal maybe\n", 4, "healing is"},
		{SECTION "instance some\n", 4, "'same' or 'any'"},
		{SECTION "unit f\n", 4, "a unit is"},
		{HEAD "section A-12 x\nend R x f a.c:1:2\n", 3, "comes before"},
		{HEAD "broken R x f a.c:1:2\n", 2, "a place has"},
		{HEAD "broken R x f a.c:1:2 R x f a.c:1:3 more\n", 2, "nothing can stand"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(begin(cases[i].text), -1);
		assert_non_null(strstr(reader.sentence, cases[i].part));
		assert_int_equal(reader.line, cases[i].line);
		assert_int_equal(atomicity_next(&reader), -1); /* and stays so */
	}
}

/* Every cut of a good file ends, and says where it stopped. */
static void any_cut_ends(void **state)
{
	static const char text[] =
		SECTION "end W \"a b\" f a.c:3:4 #1/1 allow R\nfrom learned 1 runs 2 times\n";

	for (size_t n = 0; n <= strlen(text); n++) {
		int more, items = 0;

		atomicity_begin(&reader, text, n);
		while ((more = atomicity_next(&reader)) > 0)
			items++;
		assert_true(items <= 1);
		assert_true(more == 0 || reader.sentence);
	}
}

/* ---- matching ---- */

static struct {
	struct atomsan_site sites[16];
	char strings[4096];
} program;
static unsigned site_count, string_length;

static int32_t text_distance(const int32_t *field, const char *text)
{
	char *at = program.strings + string_length;

	if (!text)
		return 0;
	strcpy(at, text);
	string_length += strlen(text) + 1;
	return (int32_t)(at - (const char *)field);
}

static struct atomsan_site *site(const char *function, enum atomsan_access kind, const char *variable,
				 unsigned line, unsigned column)
{
	struct atomsan_site *s = &program.sites[site_count++];

	*s = (struct atomsan_site){
		.kind = kind, .line = line, .column = (uint16_t)column, .base_kind = ATOMSAN_BASE_GLOBAL};
	s->function = text_distance(&s->function, function);
	s->file = text_distance(&s->file, "deep/down/bank.c");
	s->base = text_distance(&s->base, variable);
	return s;
}

static void reset(void)
{
	memset(&program, 0, sizeof program);
	site_count = string_length = 0;
}

static struct atomicity_place place(const char *text)
{
	static char lines[8][256]; /* words are slices of them */
	static unsigned next;
	char *line = lines[next++ % 8];

	snprintf(line, sizeof lines[0], HEAD "broken %s %s\n", text, text);
	assert_int_equal(begin(line), 1);
	return reader.broken[0];
}

static void found_at(const char *text, bool same_build, unsigned line, unsigned column)
{
	struct atomicity_table plain = {program.sites, site_count, NULL}, indexed = plain;
	uint32_t *memory = calloc(atomicity_index_room(site_count), sizeof *memory);
	struct atomicity_place p = place(text);
	uint32_t l, c;

	atomicity_index(&indexed, memory);
	for (int i = 0; i < 2; i++) {
		bool found = atomicity_match(&p, i ? &indexed : &plain, same_build, &l, &c);

		assert_int_equal(found, line != 0);
		if (found) {
			assert_int_equal(l, line);
			assert_int_equal(c, column);
		}
	}
	free(memory);
}

static void matches_another_build(void **state)
{
	struct atomicity_table table = {program.sites, 0, NULL};
	struct atomicity_place p;

	reset();
	site("put", ATOMSAN_READ, "x", 10, 3);
	site("put", ATOMSAN_WRITE, "x", 11, 3);
	site("put", ATOMSAN_READ, "x", 11, 3);
	site("put", ATOMSAN_READ, "y", 12, 3);
	site("get", ATOMSAN_READ, "x", 11, 3);
	table.count = site_count;
	p = place("R x put bank.c:11:3");
	atomicity_number(&p, &table);
	assert_int_equal(p.ordinal, 2);
	assert_int_equal(p.count, 2);
	found_at("R x put bank.c:11:3 #2/2", true, 11, 3);
	found_at("R x put other.c:11:3 #2/2", true, 0, 0);
	found_at("W x put bank.c:10:3 #1/1", true, 0, 0);
	found_at("R z put bank.c:10:3 #1/1", true, 0, 0);
	/* A line was put in above: what stood at 10 and 11 stands at 11 and 12 now, and what is at 11 is not
	 * what was there. */
	for (unsigned i = 0; i < site_count; i++)
		program.sites[i].line++;
	found_at("R x put bank.c:10:3 #1/2", false, 11, 3);
	found_at("R x put bank.c:11:3 #2/2", false, 12, 3);
	/* One more access: which of the three it is, nobody can tell, so line and column decide. */
	site("put", ATOMSAN_READ, "x", 9, 7);
	found_at("R x put bank.c:10:3 #1/2", false, 0, 0);
	found_at("R x put bank.c:11:3 #2/2", false, 11, 3);
}

static void unknown_variables_match_by_place(void **state)
{
	struct atomsan_site *s;

	reset();
	s = site("put", ATOMSAN_UPDATE, NULL, 10, 3);
	s->base_kind = ATOMSAN_BASE_UNKNOWN;
	found_at("R x put bank.c:10:3 #1/1", true, 10, 3);
	found_at("W x put bank.c:8:3 #1/1", false, 10, 3);
	assert_int_equal(atomicity_site_variable(s, place("R x put bank.c:1:1").variable), -1);
	s = site("put", ATOMSAN_READ, NULL, 20, 3);
	s->type = text_distance(&s->type, "account");
	s->member = text_distance(&s->member, "limits.low");
	assert_int_equal(atomicity_site_variable(s, place("R account.limits.low f b.c:1:1").variable), 1);
	assert_int_equal(atomicity_site_variable(s, place("R account.limits f b.c:1:1").variable), 0);
	assert_int_equal(atomicity_site_variable(s, place("R account.limits.lower f b.c:1:1").variable), 0);
}

/* A unit that is whole over a struct does not begin with what else is global: that is another set. */
static void members_and_globals_are_not_akin(void **state)
{
	struct atomsan_site *s;

	reset();
	s = site("put", ATOMSAN_READ, "floors", 10, 3);
	assert_true(atomicity_is_akin(s, "lifts"));
	assert_false(atomicity_is_akin(s, "controls.people[]"));
	s->type = text_distance(&s->type, "controls");
	s->member = text_distance(&s->member, "flags[]");
	assert_true(atomicity_is_akin(s, "controls.people[]"));
	assert_false(atomicity_is_akin(s, "control.people[]"));
	assert_false(atomicity_is_akin(s, "lifts"));
}

static void knows_what_is_serializable(void **state)
{
	assert_int_equal(atomicity_serializable(1, 1), ATOMICITY_READ);
	assert_int_equal(atomicity_serializable(1, 2), ATOMICITY_READ);
	assert_int_equal(atomicity_serializable(2, 1), ATOMICITY_READ);
	assert_int_equal(atomicity_serializable(2, 2), ATOMICITY_WRITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_all_words),
		cmocka_unit_test(refuses_with_a_line),
		cmocka_unit_test(any_cut_ends),
		cmocka_unit_test(matches_another_build),
		cmocka_unit_test(unknown_variables_match_by_place),
		cmocka_unit_test(members_and_globals_are_not_akin),
		cmocka_unit_test(knows_what_is_serializable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
