/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "state_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint8_t *states;
static size_t size;
static uint32_t *table; /* by hash: number + 1 */
static uint32_t room, count;

int state_space_begin(size_t state_size, uint32_t most)
{
	size = state_size;
	room = most;
	states = malloc(room * size);
	table = calloc(2 * (size_t)room, sizeof *table);
	return states && table ? 0 : -1;
}

void state_space_end(void)
{
	free(states);
	free(table);
}

void state_space_clear(void)
{
	memset(table, 0, 2 * (size_t)room * sizeof *table);
	count = 0;
}

uint32_t state_space_add(const void *state)
{
	const uint8_t *bytes = state;
	uint64_t hash = 1469598103934665603ull;
	uint32_t at;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 1099511628211ull;
	for (at = (uint32_t)(hash >> 20) % (2 * room); table[at]; at = (at + 1) % (2 * room))
		if (!memcmp(state_space_at(table[at] - 1), state, size))
			return table[at] - 1;
	assert_true(count < room);
	memcpy(states + count * size, state, size);
	table[at] = ++count;
	return count - 1;
}

uint32_t state_space_count(void)
{
	return count;
}

const void *state_space_at(uint32_t number)
{
	return states + number * size;
}
