/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables keep what they have when they grow, from some bytes to several large pages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(grows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
