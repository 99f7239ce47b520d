/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings: what their ids depend on, and their way into JSON and back. */
#include "helper.h"

#include "finding/json.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *id_of(struct finding_list *list)
{
	finding_identify(&list->findings[0]);
	return list->findings[0].id;
}

/* The program is compiled again: lines moved, another folder, other threads, the accesses elsewhere in the
 * same functions, units in another order, other names for why. The id is the same. */
static void id_survives(void **state)
{
	struct finding_list *before = samples_bank("examples"), *after = samples_bank("/home/u/src/bank");
	struct finding *f = &after->findings[0];
	struct finding_unit first = f->units[0];

	for (uint32_t i = 0; i < f->unit_count; i++) {
		f->units[i].place.line += 100;
		f->units[i].place.column = 7;
		f->units[i].thread = "T17";
		f->units[i].why = "it is marked in the source";
	}
	f->units[0] = f->units[1];
	f->units[1] = first;
	for (uint32_t i = 0; i < f->access_count; i++) {
		f->accesses[i].place.line += 100;
		f->accesses[i].place.function = "inlined_here";
	}
	f->kind = FINDING_STALE_VALUE; /* the static side's word for it */
	f->state = FINDING_SUSPECTED;
	f->verb = "lint";
	assert_string_equal(id_of(before), id_of(after));
	finding_list_free(before);
	finding_list_free(after);
}

static void id_tells_apart(void **state)
{
	struct finding_list *a = samples_bank("x"), *b = samples_bank("x");

	b->findings[0].units[0].place.function = "withdraw";
	assert_string_not_equal(id_of(a), id_of(b));
	finding_list_free(b);
	b = samples_bank("x");
	b->findings[0].units[0].set = b->findings[0].units[1].set = "struct ledger";
	assert_string_not_equal(id_of(a), id_of(b));
	finding_list_free(b);
	b = samples_bank("x");
	b->findings[0].kind = FINDING_RACE;
	assert_string_not_equal(id_of(a), id_of(b));
	finding_list_free(b);
	b = samples_bank("x");
	b->findings[0].units[0].place.file = b->findings[0].units[1].place.file = "x/other.c";
	assert_string_not_equal(id_of(a), id_of(b));
	finding_list_free(b);
	finding_list_free(a);
}

static int compare_ids(const void *a, const void *b)
{
	return strcmp(((const struct finding *)a)->id, ((const struct finding *)b)->id);
}

static void ids_do_not_meet(void **state)
{
	struct finding_list *list = samples_many(5000);

	qsort(list->findings, list->finding_count, sizeof(*list->findings), compare_ids);
	for (uint32_t i = 0; i < list->finding_count; i++) {
		assert_true(finding_id_is_valid(list->findings[i].id));
		if (i)
			assert_string_not_equal(list->findings[i].id, list->findings[i - 1].id);
	}
	finding_list_free(list);
}

static void ids_valid(void **state)
{
	assert_true(finding_id_is_valid("F-0123456789ab"));
	assert_true(finding_id_is_valid("F-abcd"));
	assert_false(finding_id_is_valid("F-abc"));
	assert_false(finding_id_is_valid("f-abcd"));
	assert_false(finding_id_is_valid("F-ABCD"));
	assert_false(finding_id_is_valid("F-0123456789abcdef01"));
	assert_false(finding_id_is_valid("F-abcd/../x"));
	assert_false(finding_id_is_valid(""));
}

static char *dump(const struct finding_list *list)
{
	json_t *root = finding_list_to_json(list);
	char *text = json_dumps(root, JSON_SORT_KEYS);

	json_decref(root);
	return text;
}

/* Written, read and written again, a document is the same; so nothing is lost on the way. */
static void round_trip(void **state)
{
	struct finding_list *lists[] = {samples_bank("examples"), samples_all("examples"), samples_hostile(),
					samples_many(50), finding_list_new("check")};

	for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct err err;
		char *first = dump(lists[i]), *second;
		struct finding_list *back = finding_list_from_json(first, strlen(first), "test", &err);

		if (!back)
			fail_msg("%s", err.text);
		second = dump(back);
		assert_string_equal(first, second);
		free(first);
		free(second);
		finding_list_free(back);
		finding_list_free(lists[i]);
	}
}

static void refused(const char *text, const char *part)
{
	struct err err = {""};
	struct finding_list *list = finding_list_from_json(text, strlen(text), "x.json", &err);

	assert_null(list);
	assert_contains(err.text, "x.json");
	assert_contains(err.text, part);
}

#define HEAD "{\"version\":1,\"findings\":[{\"kind\":\"race\",\"state\":\"observed\","

static void refuses(void **state)
{
	refused("", "not JSON");
	refused("[]", "findings");
	refused("{\"version\":2,\"findings\":[]}", "\"version\"");
	refused("{\"version\":1}", "\"findings\"");
	refused("{\"version\":1,\"findings\":[3]}", "\"findings\"");
	refused("{\"version\":1,\"findings\":[{\"kind\":\"x\",\"state\":\"observed\"}]}", "\"kind\"");
	refused("{\"version\":1,\"findings\":[{\"kind\":\"race\",\"state\":5}]}", "\"state\"");
	refused(HEAD "\"id\":\"F-../../x\"}]}", "\"id\"");
	refused(HEAD "\"confidence\":1.5}]}", "\"confidence\"");
	refused(HEAD "\"seen\":-1}]}", "\"seen\"");
	refused(HEAD "\"units\":[{\"line\":4294967296}]}]}", "\"line\"");
	refused(HEAD "\"accesses\":[{\"op\":\"X\"}]}]}", "\"op\"");
	refused(HEAD "\"accesses\":[{\"op\":\"R\",\"unit\":0}]}]}", "\"unit\"");
	refused(HEAD "\"units\":[{},{}],\"edges\":[{\"from\":0,\"to\":2}]}]}", "\"to\"");
	refused(HEAD "\"units\":[{},{}],\"edges\":[{\"from\":0}]}]}", "\"edges\"");
	refused(HEAD "\"units\":[{},{}],\"edges\":[{\"from\":0,\"to\":1,\"source\":0}]}]}", "\"source\"");
	refused(HEAD "\"title\":\"a\\u0000b\"}]}", "not JSON");
}

/* A document cut off or changed in any one place is read or refused, and what is read can be written. */
static void damaged(void **state)
{
	struct finding_list *list = samples_all("examples");
	char *text = dump(list);
	size_t length = strlen(text);
	uint64_t seed = 3;

	for (int i = 0; i < 1500; i++) {
		size_t at = helper_random(&seed) % length;
		char old = text[at];
		struct err err;
		struct finding_list *back;

		text[at] = "0\"{}[],:-9eX"[helper_random(&seed) % 12];
		back = finding_list_from_json(text, i % 4 ? length : at, "x", &err);
		if (back)
			free(dump(back));
		finding_list_free(back);
		text[at] = old;
	}
	free(text);
	finding_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_survives),     cmocka_unit_test(id_tells_apart),
		cmocka_unit_test(ids_do_not_meet), cmocka_unit_test(ids_valid),
		cmocka_unit_test(round_trip),      cmocka_unit_test(refuses),
		cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
