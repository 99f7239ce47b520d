/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "helper.h"

#include "trace/nametable.h"

#include <stdio.h>
#include <string.h>

static void numbers(void **state)
{
	struct nametable table = {0};
	char name[32];

	assert_int_equal(nametable_number(&table, "", 0), 0);
	assert_int_equal(nametable_number(&table, "ab", 2), 1);
	assert_int_equal(nametable_number(&table, "ab", 1), 2);
	assert_int_equal(nametable_number(&table, "abc", 3), 3);
	assert_int_equal(nametable_number(&table, "abcdefghi", 9), 4);
	for (int again = 0; again < 2; again++)
		for (uint32_t i = 0; i < 20000; i++) {
			int length = sprintf(name, "name%u", (unsigned)i);

			assert_int_equal(nametable_number(&table, name, (size_t)length), 5 + i);
		}
	assert_int_equal(table.count, 20005);
	assert_string_equal(nametable_name(&table, 0), "");
	assert_string_equal(nametable_name(&table, 2), "a");
	assert_string_equal(nametable_name(&table, 4), "abcdefghi");
	assert_string_equal(nametable_name(&table, 12345), "name12340");
	nametable_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
