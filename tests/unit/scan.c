/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many cells looked over at once say what one after the other would, and the program's registers stay. */
#include "helper.h"

#include "rt/scan.h"

#include <string.h>

enum { CELLS = 70, ROUNDS = 20000 };

static uint64_t one_by_one(const uint64_t *cells, uint64_t count, uint64_t value)
{
	uint64_t differences = 0;

	for (uint64_t i = 0; i < count; i++)
		differences |= cells[i] ^ value;
	return differences;
}

static void says_the_same(void **state)
{
	uint64_t cells[CELLS], random = 1;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t value, first, count;

		random = random * 6364136223846793005ull + 1442695040888963407ull;
		value = random ^ random >> 29;
		first = random >> 40 & 1; /* also where they begin in the middle of 16 bytes */
		count = (random >> 50) % (CELLS - 1);
		for (unsigned i = 0; i < CELLS; i++)
			cells[i] = value;
		assert_int_equal(scan_differences(cells + first, count, value), 0);
		/* What lies around them is nobody's business. */
		cells[first + count] ^= 1;
		if (first)
			cells[0] ^= 2;
		assert_int_equal(scan_differences(cells + first, count, value), 0);
		for (int changes = round % 3; changes && count; changes--) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			cells[first + (random >> 33) % count] ^= 1ull << (random >> 58);
		}
		assert_int_equal(scan_differences(cells + first, count, value),
				 one_by_one(cells + first, count, value));
	}
}

static void registers_stay(void **state)
{
	uint64_t cells[CELLS], before[10], after[10], value = 0x1234567890abcdefull, found;
	const uint64_t *at = cells;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		before[i] = (i + 1) * 0x0101010101010101ull;
	memset(cells, 0x55, sizeof cells);
	/* Between these the compiler has no reason to use them. */
	__asm__ volatile(
		"movups 0(%0), %%xmm0; movups 16(%0), %%xmm1; movups 32(%0), %%xmm2; movups 48(%0), %%xmm3;"
		"movups 64(%0), %%xmm4"
		:
		: "r"(before)
		: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "memory");
	found = scan_blocks(at, 64, value);
	__asm__ volatile(
		"movups %%xmm0, 0(%0); movups %%xmm1, 16(%0); movups %%xmm2, 32(%0); movups %%xmm3, 48(%0);"
		"movups %%xmm4, 64(%0)"
		:
		: "r"(after)
		: "memory");
	assert_memory_equal(before, after, sizeof before);
	assert_int_equal(found, one_by_one(cells, 64, value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_the_same),
		cmocka_unit_test(registers_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
