/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which accesses count (predict/count.h), long ranges among them, against a mark for each byte. */
#include "helper.h"
#include "predict/count.h"

#include <string.h>

enum { BYTES = 40000, START = 0x10000 };

static unsigned char seen[2][BYTES]; /* read, written */

/* True if some byte was not accessed so before. */
static bool mark(uint64_t at, uint64_t length, bool reads, bool writes)
{
	bool first = false;

	for (uint64_t i = at; i < at + length; i++) {
		first |= (reads && !seen[0][i]) || (writes && !seen[1][i]);
		seen[0][i] |= reads;
		seen[1][i] |= writes;
	}
	return first;
}

static uint64_t length_of(uint64_t *random)
{
	switch (helper_random(random) % 4) {
	case 0:
		return 4097 + helper_random(random) % 9000;
	case 1:
		return 1 + helper_random(random) % 4096;
	default:
		return 1 + helper_random(random) % 16;
	}
}

static void first_of_its_kind(void **state)
{
	static const enum atomsan_access kinds[] = {ATOMSAN_READ, ATOMSAN_WRITE, ATOMSAN_UPDATE};
	struct trace trace = {.thread_count = 1};
	uint64_t random = 5, firsts = 0, repeated = 0;

	for (int round = 0; round < 60; round++) {
		struct count *count = count_new_as(&trace, false);
		uint64_t done = 0;

		memset(seen, 0, sizeof seen);
		for (int i = 0; i < 400; i++) {
			uint64_t length = length_of(&random), at = helper_random(&random) % (BYTES - length);
			enum atomsan_access kind = kinds[helper_random(&random) % 3];
			bool first = mark(at, length, kind != ATOMSAN_WRITE, kind != ATOMSAN_READ);
			struct trace_event event = {.kind = TRACE_ACCESS,
						    .address = START + at,
						    .value = length,
						    .access = kind,
						    .site = (uint32_t)i + 1};

			done += first ? 1 + (kind == ATOMSAN_UPDATE) : 0;
			firsts += first;
			repeated += !first;
			assert_int_equal(count_event(count, &event), done);
			/* A small block that is allocated has not been touched. */
			if (!(helper_random(&random) % 20)) {
				uint64_t block = helper_random(&random) % (BYTES / 8 - 64) * 8;
				uint64_t size = 8 + helper_random(&random) % 64 * 8;

				event = (struct trace_event){.kind = TRACE_OP,
							     .op = TRACE_OP_ALLOC,
							     .site = 1001,
							     .address = START + block,
							     .value = size};
				assert_int_equal(count_event(count, &event), ++done);
				memset(&seen[0][block], 0, size);
				memset(&seen[1][block], 0, size);
			}
			/* An operation begins another stretch. */
			if (!(helper_random(&random) % 200)) {
				event = (struct trace_event){
					.kind = TRACE_OP, .op = TRACE_OP_LOCK, .site = 1000, .address = i};
				assert_int_equal(count_event(count, &event), ++done);
				memset(seen, 0, sizeof seen);
			}
		}
		count_free(count);
	}
	assert_true(firsts > 1000 && repeated > 1000);
}

/* What is longer than memory is an access like others, and ends where memory does. */
static void longer_than_memory(void **state)
{
	struct trace trace = {.thread_count = 1};
	struct count *count = count_new_as(&trace, false);
	struct trace_event event = {.kind = TRACE_ACCESS,
				    .address = 4096,
				    .value = UINT64_MAX,
				    .access = ATOMSAN_WRITE,
				    .site = 1};

	assert_int_equal(count_event(count, &event), 1);
	event.site = 2;
	assert_int_equal(count_event(count, &event), 1);
	event.address = 1ull << 40;
	event.value = 8;
	assert_int_equal(count_event(count, &event), 1);
	event.address = 8;
	assert_int_equal(count_event(count, &event), 2);
	count_free(count);
}

/* A loop's steps count as if they were accesses of their own, one after the other. */
static void loops_as_their_steps(void **state)
{
	static const enum atomsan_access kinds[] = {ATOMSAN_READ, ATOMSAN_WRITE, ATOMSAN_UPDATE};
	struct trace trace = {.thread_count = 1};
	uint64_t random = 7, whole = 0, parts = 0;

	for (int round = 0; round < 200; round++) {
		bool every = round % 8 == 7;
		struct count *count = count_new_as(&trace, every), *oracle = count_new_as(&trace, every);

		for (int i = 0; i < 60; i++) {
			uint64_t step = 1 + helper_random(&random) % 24, length = length_of(&random);
			struct trace_event event = {.kind = TRACE_ACCESS,
						    .address = START + helper_random(&random) % 20000,
						    .access = kinds[helper_random(&random) % 3],
						    .site = helper_random(&random) % 3};
			uint64_t before = count_done(count, 0), steps;

			if (helper_random(&random) % 2)
				step = 0;
			steps = step ? (length + step - 1) / step : 1;
			event.value = step ? steps * step : length;
			event.step = (uint16_t)step;
			/* The address of the last event again: a read that waits is not counted again. */
			if (!(helper_random(&random) % 8))
				event.address = START;
			count_event(count, &event);
			event.step = 0;
			event.value = step ? step : length;
			for (uint64_t k = 0; k < steps; k++, event.address += step)
				count_event(oracle, &event);
			assert_int_equal(count_done(count, 0), count_done(oracle, 0));
			steps *= event.access == ATOMSAN_UPDATE ? 2 : 1;
			whole += step && count_done(count, 0) - before == steps;
			parts += step && count_done(count, 0) - before < steps;
			/* A function that is entered begins another stretch. */
			if (!(helper_random(&random) % 20)) {
				event = (struct trace_event){.kind = TRACE_ENTER};
				count_event(count, &event);
				count_event(oracle, &event);
			}
		}
		count_free(count);
		count_free(oracle);
	}
	assert_true(whole > 500 && parts > 500);
}

/* As many steps as no program could make take no time and no memory. */
static void more_steps_than_memory(void **state)
{
	struct trace trace = {.thread_count = 1};
	struct count *count = count_new_as(&trace, false);
	struct trace_event event = {.kind = TRACE_ACCESS,
				    .address = 4096,
				    .value = 1ull << 46,
				    .step = 8,
				    .access = ATOMSAN_UPDATE,
				    .site = 1};

	assert_int_equal(count_event(count, &event), 1ull << 44);
	event.site = 2;
	assert_int_equal(count_event(count, &event), 1ull << 44);
	event.address += 1ull << 45;
	assert_int_equal(count_event(count, &event), (1ull << 44) + (1ull << 43));
	count_free(count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_of_its_kind), cmocka_unit_test(longer_than_memory),
		cmocka_unit_test(loops_as_their_steps), cmocka_unit_test(more_steps_than_memory)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
