/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables keep what they have when they grow, from some bytes to several large pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/table.h"

struct entry {
	uint64_t number, others[7];
};

static void grows(void **state)
{
	struct entry *table = NULL;
	size_t had = 0;

	(void)state;
	/* Once by doubling, as they are used, and once by some that ends nowhere near a page. */
	for (size_t step = 0; step < 2; step++) {
		for (size_t room = 8; room < 1 << 18; room = step ? room + room / 2 + 3 : room * 2) {
			table = table_resize(table, had, room, sizeof(*table));
			assert_int_equal((uintptr_t)table % TABLE_LINE, 0);
			for (size_t i = 0; i < had; i++)
				assert_true(table[i].number == i && table[i].others[6] == ~i);
			for (size_t i = had; i < room; i++) {
				table[i].number = i;
				table[i].others[6] = ~i;
			}
			had = room;
		}
		table_free(table, had, sizeof(*table));
		table = NULL;
		had = 0;
	}
}

static void shrinks_and_grows_again(void **state)
{
	size_t room = 1 << 18;
	struct entry *table = table_resize(NULL, 0, room, sizeof(*table));

	(void)state;
	for (size_t i = 0; i < room; i++)
		table[i] = (struct entry){.number = i};
	/* On large pages, whole ones and not, and on none. */
	for (size_t less = room - 1; less; less /= 3) {
		table = table_shrink(table, room, less, sizeof(*table));
		room = less;
		for (size_t i = 0; i < room; i++)
			assert_int_equal(table[i].number, i);
	}
	table = table_resize(table, room, 1 << 17, sizeof(*table));
	assert_int_equal(table[0].number, 0);
	table = table_shrink(table, 1 << 17, 1 << 16, sizeof(*table));
	table = table_resize(table, 1 << 16, 1 << 18, sizeof(*table));
	memset(table, 0, sizeof(*table) << 18);
	table_free(table, 1 << 18, sizeof(*table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(grows),
					   cmocka_unit_test(shrinks_and_grows_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
