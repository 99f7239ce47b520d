/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Strings that came from anywhere, made safe for a terminal and for JSON. */
#include "helper.h"

#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void check(void (*put)(FILE *, const char *), const char *text, const char *expected)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	put(out, text);
	fclose(out);
	assert_string_equal(got, expected);
	free(got);
}

static void terminal(void **state)
{
	check(text_put, "plain", "plain");
	check(text_put, "a\nb\x1b[31m", "a\\x0ab\\x1b[31m");
	check(text_put,
	      "Stra\xc3\x9f"
	      "e",
	      "Stra\xc3\x9f"
	      "e");
	check(text_put, "\xc2\x9b", "\\xc2\\x9b"); /* a control character of Latin-1 */
	check(text_put, "\xff\xc3", "\\xff\\xc3");
	check(text_put, "\x7f", "\\x7f");
	check(text_put,
	      "a\xe2\x80\xae"
	      "b",
	      "a\\xe2\\x80\\xaeb"); /* turns the direction of writing */
}

static void json(void **state)
{
	check(text_json, NULL, "null");
	check(text_json, "a\"b\\c", "\"a\\\"b\\\\c\"");
	check(text_json, "\n\x01", "\"\\u000a\\u0001\"");
	check(text_json, "\xff", "\"\\ufffd\"");
	check(text_json, "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* half of a surrogate pair */
	check(text_json, "\xc0\x80", "\"\\ufffd\\ufffd\"");            /* too long a form */
	check(text_json, "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"");
	check(text_json, "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void shell(void **state)
{
	check(text_shell, "./bank", "./bank");
	check(text_shell, "", "''");
	check(text_shell, "a b$c", "'a b$c'");
	check(text_shell, "it's", "'it'\\''s'");
}

static void utf8(void **state)
{
	char *clean = text_utf8("a\xff\xc3\x9f\xc0");

	assert_string_equal(clean, "a\xef\xbf\xbd\xc3\x9f\xef\xbf\xbd");
	free(clean);
	assert_int_equal(text_width("Stra\xc3\x9f\x1b"), 9);
}

/* Whatever the bytes, a parser takes the result. */
static void any_bytes(void **state)
{
	uint64_t seed = 11;

	for (int i = 0; i < 20000; i++) {
		char text[16], *got = NULL;
		size_t size;
		FILE *out = open_memstream(&got, &size);
		json_t *parsed;

		for (unsigned k = 0; k < sizeof text - 1; k++) {
			uint64_t r = helper_random(&seed);

			text[k] = (char)(r % 3 ? 0x80 | (r >> 8 & 0x7f) : 1 + (r >> 8) % 127);
		}
		text[sizeof text - 1] = 0;
		text_json(out, text);
		fclose(out);
		parsed = json_loads(got, JSON_DECODE_ANY, NULL);
		if (!parsed)
			fail_msg("not JSON: %s", got);
		json_decref(parsed);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terminal), cmocka_unit_test(json),      cmocka_unit_test(shell),
		cmocka_unit_test(utf8),     cmocka_unit_test(any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
