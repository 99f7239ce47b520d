/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What spec files say, which of several statements counts, and what is said of bad ones. */
#include "model/spec.h"
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Annotations, then files one after the other; NULL ends them. */
static struct spec *make(const char *annotations, ...)
{
	struct spec *spec = spec_new();
	struct err err = {""};
	const char *text;
	va_list files;

	if (annotations && spec_add_text(spec, "prog", annotations, strlen(annotations), &err))
		fail_msg("%s", err.text);
	va_start(files, annotations);
	while ((text = va_arg(files, const char *))) {
		const char *path = helper_path("one.spec");

		helper_write(path, text, strlen(text));
		if (spec_add_file(spec, path, &err))
			fail_msg("%s", err.text);
	}
	va_end(files);
	return spec;
}

static void functions(void **state)
{
	struct spec *spec = make(NULL,
				 "# a comment\n"
				 "\n"
				 "  unit function transfer   # and why\n"
				 "unit function bank_*\r\n"
				 "notunit function bank_debug\n"
				 "wait function *_wait\n"
				 "unitfor function audit account\n"
				 "unitfor function sum_* \"pair<int, long>\"\n"
				 "ignore function debug_?\n"
				 "ignore file third_party/*\n"
				 "unit function _ZN5queue3putEi\n"
				 "unit function bank::account::add\n"
				 "notunit function bank::*::take",
				 NULL);

	assert_int_equal(spec_function(spec, "transfer", NULL, NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "transfers", NULL, NULL), 0);
	assert_int_equal(spec_function(spec, "bank_open", NULL, "a.c"), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "bank_debug", NULL, "a.c"), SPEC_NOT_UNIT);
	assert_int_equal(spec_function(spec, "bank_wait", NULL, "a.c"), SPEC_UNIT | SPEC_WAIT);
	assert_int_equal(spec_function(spec, "debug_x", NULL, "a.c"), SPEC_IGNORE);
	assert_int_equal(spec_function(spec, "open", NULL, "third_party/x/y.c"), SPEC_IGNORE);
	assert_int_equal(spec_function(spec, "put", "_ZN5queue3putEi", NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "put", "_ZN5queue3putEl", NULL), 0);
	assert_int_equal(spec_function(spec, "add", "_ZN4bank7account3addEl", NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "add", "_ZNK4bank7accountIiE3addEl", NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "add", "_ZN4bank7accountINS_4pairIiEEE3addEl", NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "add", "_ZN7account3addEl", NULL), 0);
	assert_int_equal(spec_function(spec, "add", "_ZN4bank7accountILi5EE3addEl", NULL), 0);
	assert_int_equal(spec_function(spec, "add", "_ZN4bank7account99addEl", NULL), 0);
	assert_int_equal(spec_function(spec, "add", "_ZN4bank", NULL), 0);
	assert_int_equal(spec_function(spec, "take", "_ZN4bank5vault4takeEv", NULL), SPEC_NOT_UNIT);
	assert_int_equal(spec_function(spec, "audit", NULL, NULL), SPEC_UNITFOR);
	assert_true(spec_unitfor(spec, "audit", NULL, "account"));
	assert_false(spec_unitfor(spec, "audit", NULL, "bank"));
	assert_true(spec_unitfor(spec, "sum_all", NULL, "pair<int, long>"));
	assert_false(spec_unitfor(spec, "transfer", NULL, "account"));
	spec_free(spec);
}

static void expect_role(const struct spec *spec, const char *name, enum spec_role_kind kind, unsigned what,
			unsigned argument)
{
	struct spec_role role = spec_role(spec, name, NULL);

	assert_int_equal(role.kind, kind);
	assert_int_equal(role.what, what);
	assert_int_equal(role.argument, argument);
}

static void roles(void **state)
{
	struct spec *spec = make(NULL,
				 "lock function take\n"
				 "lock function *_lock 2\n"
				 "unlock function let_go 3\n"
				 "thread function run 2\n"
				 "thread function pool_* 3 4\n"
				 "unlock function un_lock",
				 NULL);

	expect_role(spec, "take", SPEC_ROLE_LOCK, 1, 0);
	expect_role(spec, "table_lock", SPEC_ROLE_LOCK, 2, 0);
	expect_role(spec, "let_go", SPEC_ROLE_UNLOCK, 3, 0);
	expect_role(spec, "run", SPEC_ROLE_THREAD, 2, 0);
	expect_role(spec, "pool_start", SPEC_ROLE_THREAD, 3, 4);
	/* Without wildcards outweighs with. */
	expect_role(spec, "un_lock", SPEC_ROLE_UNLOCK, 1, 0);
	expect_role(spec, "other", SPEC_ROLE_NONE, 0, 0);
	/* It says nothing of units. */
	assert_int_equal(spec_function(spec, "take", NULL, NULL), 0);
	spec_free(spec);
}

static void members(void **state)
{
	struct spec *spec = make(NULL,
				 "set money account.balance account.limits account.items[]\n"
				 "set range account.limits.max\n"
				 "set any *_stats.*\n"
				 "owned list.head list.items\n"
				 "notowned list.parent\n"
				 "ignore member account.hits\n"
				 "ignore type debug*\n"
				 "merge tables type hash_table hash_node\n"
				 "guarded type item shelf*\n"
				 "set pair pool<1.5>.first\n",
				 NULL);

	assert_string_equal(spec_member_set(spec, "account", "balance"), "money");
	assert_string_equal(spec_member_set(spec, "account", "limits.min"), "money");
	assert_string_equal(spec_member_set(spec, "account", "limits.max"), "range");
	assert_string_equal(spec_member_set(spec, "account", "items[]"), "money");
	assert_string_equal(spec_member_set(spec, "account", "items[].x"), "money");
	assert_null(spec_member_set(spec, "account", "balance2"));
	assert_null(spec_member_set(spec, "bank", "balance"));
	assert_null(spec_member_set(spec, NULL, "balance"));
	assert_null(spec_member_set(spec, "account", NULL));
	assert_string_equal(spec_member_set(spec, "io_stats", "reads"), "any");
	assert_string_equal(spec_member_set(spec, "pool<1.5>", "first"), "pair");
	assert_int_equal(spec_owned(spec, "list", "head"), 1);
	assert_int_equal(spec_owned(spec, "list", "items[]"), 1);
	assert_int_equal(spec_owned(spec, "list", "parent"), -1);
	assert_int_equal(spec_owned(spec, "list", "next"), 0);
	assert_true(spec_ignored_member(spec, "account", "hits"));
	assert_false(spec_ignored_member(spec, "account", "balance"));
	assert_true(spec_ignored_type(spec, "debug_info"));
	assert_false(spec_ignored_type(spec, "info"));
	assert_string_equal(spec_type_merge(spec, "hash_node"), "tables");
	assert_null(spec_type_merge(spec, "hash"));
	assert_true(spec_guarded(spec, "item"));
	assert_true(spec_guarded(spec, "shelf_row"));
	assert_false(spec_guarded(spec, "items"));
	spec_free(spec);
}

static void variables(void **state)
{
	struct spec *spec = make(NULL,
				 "set counts variable hits misses stats.c:total\n"
				 "set others variable total\n"
				 "merge world variable table_*\n"
				 "ignore variable debug_*\n"
				 "ignore variable log.c:lines\n",
				 NULL);

	assert_string_equal(spec_variable_set(spec, "hits", NULL), "counts");
	assert_string_equal(spec_variable_set(spec, "total", "src/stats.c"), "counts");
	assert_string_equal(spec_variable_set(spec, "total", "stats.c"), "counts");
	assert_string_equal(spec_variable_set(spec, "total", "mystats.c"), "others");
	assert_null(spec_variable_set(spec, "hit", NULL));
	assert_string_equal(spec_variable_merge(spec, "table_lock", "x.c"), "world");
	assert_null(spec_variable_merge(spec, "hits", "x.c"));
	assert_true(spec_ignored_variable(spec, "debug_level", NULL));
	assert_true(spec_ignored_variable(spec, "lines", "a/log.c"));
	assert_false(spec_ignored_variable(spec, "lines", "a/cat.c"));
	spec_free(spec);
}

/* Files outweigh annotations whatever they say, later files earlier ones. */
static void weight(void **state)
{
	struct spec *spec =
		make("unit function put\nset a list.head\nowned list.next\n"
		     "unit function put\n", /* the header was included twice */
		     "notunit function p*\nset b list.*\n", "notowned list.*\nset c list.head\n", NULL);

	assert_int_equal(spec_function(spec, "put", NULL, NULL), SPEC_NOT_UNIT);
	assert_string_equal(spec_member_set(spec, "list", "head"), "c");
	assert_string_equal(spec_member_set(spec, "list", "tail"), "b");
	assert_int_equal(spec_owned(spec, "list", "next"), -1);
	spec_free(spec);
	spec = make("unit function put\n", "unit function get\n", NULL);
	assert_int_equal(spec_function(spec, "put", NULL, NULL), SPEC_UNIT);
	spec_free(spec);
}

static void refuse_file(const char *text, const char *message)
{
	struct spec *spec = spec_new();
	const char *path = helper_path("bad.spec");
	char expected[600];
	struct err err = {""};

	helper_write(path, text, strlen(text));
	assert_int_equal(spec_add_file(spec, path, &err), -1);
	snprintf(expected, sizeof expected, "%s:%s", path, message);
	if (!strstr(err.text, message) || strncmp(err.text, path, strlen(path)))
		fail_msg("expected '%s', found '%s'", expected, err.text);
	spec_free(spec);
}

static void bad_lines(void **state)
{
	refuse_file("unit function a\nunits function b\n", ":2: there is no statement 'units'");
	refuse_file("private a.c:1:2\n", ":1: expected 'private FILE:LINE:COLUMN FUNCTION'");
	for (const char *const *place =
		     (const char *const[]){"a.c", "a.c:1", ":1:1", "a.c:0:1", "a.c:1:0", "a.c:1:-1",
					   "a.c:1:x", "a.c:1:99999999999", NULL};
	     *place; place++) {
		char line[80], message[80];

		snprintf(line, sizeof line, "private %s f\n", *place);
		snprintf(message, sizeof message, ":1: '%s' should be a place", *place);
		refuse_file(line, message);
	}
	refuse_file("unit function\n", ":1: expected 'unit function GLOB'");
	refuse_file("unit a\n", ":1: expected 'unit function GLOB'");
	refuse_file("wait function a b\n", ":1: expected 'wait function GLOB'");
	refuse_file("notunit file a\n", ":1: expected 'notunit function GLOB'");
	refuse_file("unitfor function a\n", ":1: expected 'unitfor function GLOB TYPE'");
	refuse_file("set money\n", ":1: expected 'set NAME TYPE.MEMBER...'");
	refuse_file("set money variable\n", ":1: expected 'set NAME TYPE.MEMBER...'");
	refuse_file("set money account\n", ":1: 'account' should be a struct and a member, TYPE.MEMBER");
	refuse_file("set money .balance\n", "should be a struct and a member");
	refuse_file("owned account.\n", "should be a struct and a member");
	refuse_file("owned\n", ":1: expected 'owned TYPE.MEMBER'");
	refuse_file("guarded account\n", ":1: expected 'guarded type TYPE...'");
	refuse_file("guarded type\n", ":1: expected 'guarded type TYPE...'");
	refuse_file("merge all account\n", ":1: expected 'merge NAME type TYPE...'");
	refuse_file("ignore\n", ":1: expected 'ignore function|file|type|variable GLOB'");
	refuse_file("ignore function a b\n", ":1: expected 'ignore");
	refuse_file("ignore member a\n", "should be a struct and a member");
	refuse_file("ignore variable std::cout\n", "without scopes");
	refuse_file("lock take\n", ":1: expected 'lock function GLOB [LOCK]'");
	refuse_file("unlock function f 0\n", ":1: expected 'unlock function GLOB [LOCK]'");
	refuse_file("lock function f 1 2\n", ":1: expected 'lock function GLOB [LOCK]'");
	refuse_file("lock function f first\n", ":1: expected 'lock function GLOB [LOCK]'");
	refuse_file("thread function f\n", ":1: expected 'thread function GLOB FUNCTION [ARGUMENT]'");
	refuse_file("thread function f 1 101\n", ":1: expected 'thread function GLOB FUNCTION [ARGUMENT]'");
	refuse_file("unit function \"a\n", "must end with it");
	refuse_file("unit function \"a\"b\n", "there must be a blank");
	refuse_file("unit function \"\"\n", ":1: word 3 is empty");
}

static void contradictions(void **state)
{
	char text[700];
	const char *path = helper_path("bad.spec");

	snprintf(text, sizeof text, ":3: 'put' is not a unit here, but is one at %s:1", path);
	refuse_file("unit function put\n\nnotunit function put\n", text);
	snprintf(text, sizeof text, ":2: 'list.head' belongs to 'b' here, but to 'a' at %s:1", path);
	refuse_file("set a list.head\nset b list.tail list.head\n", text);
	snprintf(text, sizeof text, ":2: 'list.next' is not owned here, but is owned at %s:1", path);
	refuse_file("owned list.next\nnotowned list.next\n", text);
	snprintf(text, sizeof text, ":2: 'hits' belongs to 'b' here, but to 'a' at %s:1", path);
	refuse_file("merge a variable hits\nmerge b variable hits\n", text);
	snprintf(text, sizeof text, ":2: 'hits' belongs to 'b' here, but to 'a' at %s:1", path);
	refuse_file("set a variable hits\nmerge b variable hits\n", text);
	snprintf(text, sizeof text, ":2: 'take' does something else here than at %s:1", path);
	refuse_file("lock function take\nlock function take 2\n", text);
}

/* What is ignored cannot count as well, in whichever order it is said. */
static void ignored(void **state)
{
	static const struct {
		const char *ignored, *counts, *name, *as;
	} pairs[] = {
		{"ignore function put", "unit function put", "put", "is a unit"},
		{"ignore function put", "unitfor function put list", "put", "is a unit"},
		{"ignore type list", "unitfor function put list", "list", "has units"},
		{"ignore type list", "merge a type list", "list", "is merged"},
		{"ignore type list", "set a list.head", "list", "has a set"},
		{"ignore member list.head", "set a list.head", "list.head", "belongs to a set"},
		{"ignore variable hits", "set a variable hits", "hits", "belongs to a set"},
		{"ignore variable a.c:hits", "merge a variable a.c:hits", "hits", "is merged"},
	};
	char file[200], text[700];
	const char *path = helper_path("bad.spec");

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		snprintf(file, sizeof file, "%s\n%s\n", pairs[i].ignored, pairs[i].counts);
		snprintf(text, sizeof text, ":2: '%s' %s here, but is ignored at %s:1", pairs[i].name,
			 pairs[i].as, path);
		refuse_file(file, text);
		snprintf(file, sizeof file, "%s\n%s\n", pairs[i].counts, pairs[i].ignored);
		snprintf(text, sizeof text, ":2: '%s' is ignored here, but %s at %s:1", pairs[i].name,
			 pairs[i].as, path);
		refuse_file(file, text);
	}
	/* Another file, a pattern, another member, and what an ignored thing can be. */
	spec_free(make("ignore function put\n", "unit function put\n", NULL));
	spec_free(
		make(NULL,
		     "ignore function p*\nunit function put\nnotunit function get\nignore function get\n"
		     "wait function pause\nignore function pause\nset a list.head\nignore member list.tail\n"
		     "owned list.tail\nignore variable a.c:hits\nset b variable b.c:hits\n"
		     "set c variable misses\nmerge c variable misses\n",
		     NULL));
}

/* What editors and other systems leave in a text. */
static void odd_texts(void **state)
{
	enum { LONG = 3 << 20 };
	char *text = mem_alloc(LONG + 40);
	struct spec *spec =
		make(NULL, "", "\n\n", "# nothing", "\xef\xbb\xbfunit function a\r\n\tunit function b", NULL);

	assert_int_equal(spec_function(spec, "a", NULL, NULL), SPEC_UNIT);
	assert_int_equal(spec_function(spec, "b", NULL, NULL), SPEC_UNIT);
	spec_free(spec);
	memset(text, 'x', LONG);
	strcpy(text + LONG, "\nunit function a\n");
	*text = '#';
	spec = make(NULL, text, NULL);
	assert_int_equal(spec_function(spec, "a", NULL, NULL), SPEC_UNIT);
	spec_free(spec);
	/* The end of the sentence is there, however long the word. */
	*text = 'x';
	refuse_file(text, ":1: there is no statement 'xxx");
	refuse_file(text, "wait, lock, unlock and thread");
	memcpy(text, "set a ", 6);
	refuse_file(text, ":1: 'xxx");
	refuse_file(text, "should be a struct and a member");
	free(text);
}

/* Annotations know where they come from. */
static void positions(void **state)
{
	static const char text[] =
		"#line 12 bank.c\nunit function put\n#line 40 src/a b.h\nnotunit function put\n";
	struct spec *spec = spec_new();
	struct err err = {""};

	assert_int_equal(spec_add_text(spec, "prog", text, sizeof text - 1, &err), -1);
	assert_string_equal(err.text, "src/a b.h:40: 'put' is not a unit here, but is one at bank.c:12");
	spec_free(spec);
	spec = spec_new();
	assert_int_equal(spec_add_text(spec, "prog", "unit function a\n\0\n", 18, &err), -1);
	assert_string_equal(err.text, "prog:2: the line has a byte 0, which no text has");
	assert_int_equal(spec_add_file(spec, "/", &err), -1);
	assert_contains(err.text, "cannot read the spec file /");
	assert_int_equal(spec_add_file(spec, helper_path("missing.spec"), &err), -1);
	assert_contains(err.text, "No such file");
	spec_free(spec);
}

/* The program has, besides what its tables tell of, the words of this text. */
static char warned[600];

static bool mentions(void *user, const char *word)
{
	return strstr(user, word) != NULL;
}

static void warn(void *user, const char *sentence)
{
	(void)user;
	snprintf(warned, sizeof warned, "%s", sentence);
}

static int check_spec(const struct spec *spec, const struct trace *trace, bool calls, struct err *err)
{
	static char words[] =
		"account accounts deposit balance reserve forgotten inlined spin_take table bank c";
	const struct spec_doubts doubts = {words, mentions, warn, calls};
	struct spec_names *names = spec_names_new();
	int failed;

	*warned = 0;
	spec_names_add_trace(names, trace);
	failed = spec_check_names(spec, names, &doubts, err);
	spec_names_free(names);
	return failed;
}

/* An error, and without one a warning; NULL if there must be none. */
static void check_names(const char *text, const char *message, const char *warning)
{
	struct err err = {""};
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct spec *spec = make(text, NULL);

	/* What annotations name is there by nature. */
	assert_non_null(trace);
	assert_int_equal(check_spec(spec, trace, true, &err), 0);
	assert_string_equal(warned, "");
	spec_free(spec);
	spec = make(NULL, text, NULL);
	assert_int_equal(check_spec(spec, trace, false, &err), message ? -1 : 0);
	if (message)
		assert_contains(err.text, message);
	else if (warning)
		assert_contains(warned, warning);
	else
		assert_string_equal(warned, "");
	spec_free(spec);
	trace_close(trace);
}

static void names(void **state)
{
	check_names("unit function deposit\nset a account.balance\nunit function get\n", NULL, NULL);
	check_names("unit function de*\nset a acc*.balance\nignore type gone\n", NULL, NULL);
	check_names("unit function depositt\n",
		    ":1: the program has no function 'depositt'; did you mean 'deposit'?", NULL);
	check_names("\nset a acount.balance\n",
		    ":2: the program has no struct 'acount'; did you mean 'account'?", NULL);
	check_names("merge a type account elephant\n", "the program has no struct 'elephant'", NULL);
	check_names("unitfor function deposit acccount\n", "did you mean 'account'?", NULL);
	check_names("set a account.balance\nwait function depox\n", ":2: the program has no function 'depox'",
		    NULL);
	check_names("set a account.nosuch\n", ":1: the program has no member 'account.nosuch'", NULL);
	check_names("owned account.balancf\n",
		    ":1: the program has no member 'account.balancf'; did you mean 'account.balance'?", NULL);
	check_names("set a variable tablx\n",
		    ":1: the program has no variable 'tablx'; did you mean 'table'?", NULL);
	check_names("merge a variable banc.c:table\n",
		    ":1: the program has no variable 'banc.c:table'; did you mean 'bank.c:table'?", NULL);
	check_names("lock function spin_tak3\n", ":1: the program has no function 'spin_tak3'", NULL);
}

/* What the program has somewhere may be meant: the statement has no effect, and that is said. */
static void doubts(void **state)
{
	check_names("set a account.reserve\n", NULL,
		    ":1: nothing in the program accesses a member 'account.reserve', so this says nothing");
	check_names("\nmerge a type forgotten\n", NULL,
		    ":2: nothing in the program accesses a struct 'forgotten', so this says nothing");
	check_names("unit function inlined\n", NULL,
		    ":1: nothing in the program runs a function 'inlined', so this says nothing");
	check_names("set a variable reserve\n", NULL,
		    ":1: nothing in the program accesses a variable 'reserve', so this says nothing");
	check_names("merge a type accounts\n", NULL, "; did you mean 'account'?");
	check_names("set a variable table bank.c:table table_lock\n", NULL, NULL);
	check_names("set a account.bal* acc*.nosuch\nowned account.balance\n", NULL, NULL);
	/* A trace does not tell of what another library has. */
	check_names("lock function spin_take\n", NULL, NULL);
	struct err err = {""};
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct spec *spec = make(NULL, "lock function spin_take\n", NULL);

	assert_non_null(trace);
	assert_int_equal(check_spec(spec, trace, true, &err), 0);
	assert_contains(warned, "runs a function 'spin_take'");
	spec_free(spec);
	trace_close(trace);
}

/* The trace's own annotations, of its only module that has some. */
static void from_trace(void **state)
{
	struct err err = {""};
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct spec *spec = spec_new();

	assert_non_null(trace);
	assert_int_equal(spec_add_trace(spec, trace, &err), 0);
	assert_int_equal(spec_function(spec, "deposit", NULL, NULL), SPEC_UNIT);
	assert_int_equal(check_spec(spec, trace, false, &err), 0);
	spec_free(spec);
	trace_close(trace);
}

static void private_places(void **state)
{
	enum { MANY = 5000 };
	char *text = mem_alloc(MANY * 64), *at = text;

	for (int i = 1; i <= MANY; i++)
		at += sprintf(at, "private lib/many.c:%d:%d function_%d\n", i, i % 80 + 1, i % 7);
	struct spec *spec = make(NULL,
				 "private a.c:12:3 add\n"
				 "private \"my file:1.c:7:5\" \"operator+<int, long>\"\n"
				 "private a.c:12:3 add\n",
				 text, NULL);

	assert_true(spec_private(spec, "a.c", 12, 3, "add"));
	assert_false(spec_private(spec, "a.c", 12, 4, "add"));
	assert_false(spec_private(spec, "a.c", 13, 3, "add"));
	assert_false(spec_private(spec, "a.c", 12, 3, "ad"));
	assert_false(spec_private(spec, "lib/a.c", 12, 3, "add"));
	assert_true(spec_private(spec, "my file:1.c", 7, 5, "operator+<int, long>"));
	for (unsigned i = 1; i <= MANY; i++) {
		char name[32];

		snprintf(name, sizeof name, "function_%u", i % 7);
		assert_true(spec_private(spec, "lib/many.c", i, i % 80 + 1, name));
		assert_false(spec_private(spec, "lib/many.c", i, i % 80 + 2, name));
	}
	spec_free(spec);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions),      cmocka_unit_test(roles),
		cmocka_unit_test(members),        cmocka_unit_test(variables),
		cmocka_unit_test(weight),         cmocka_unit_test(bad_lines),
		cmocka_unit_test(contradictions), cmocka_unit_test(ignored),
		cmocka_unit_test(odd_texts),      cmocka_unit_test(positions),
		cmocka_unit_test(names),          cmocka_unit_test(doubts),
		cmocka_unit_test(from_trace),     cmocka_unit_test(private_places),
	};

	helper_sample(helper_path("sample"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
