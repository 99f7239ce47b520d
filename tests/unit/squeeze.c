/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is squeezed comes back the same, whatever it is, in the room that was promised; and what a program
 * does over and over becomes small. */
#include "helper.h"
#include "squeezed.h"

#include "abi/squeeze.h"
#include "trace/pack.h"
#include "trace/word_inl.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 5000 };

/* Returns the bytes that it took. */
static uint64_t there_and_back(const uint64_t *words, uint64_t count)
{
	static struct squeeze writer, reader;
	uint64_t room = (count / SQUEEZE_GROUP + 1) * SQUEEZE_GROUP_ROOM, done = 0, took;
	uint8_t *bytes = mem_alloc(room);
	uint64_t *back = mem_alloc(count * 8 + 8);
	const uint8_t *at = bytes;

	memset(&writer, 0, sizeof writer);
	memset(&reader, 0, sizeof reader);
	memset(bytes, 0xaa, room);
	took = squeeze(&writer, words, count, bytes, 0);
	assert_true(took + 8 <= room);
	if (squeeze_lzcnt()) {
		static struct squeeze other;
		uint8_t *same = mem_alloc(room);

		memset(&other, 0, sizeof other);
		assert_int_equal(squeeze(&other, words, count, same, 1), took);
		assert_memory_equal(bytes, same, took);
		assert_memory_equal(&writer, &other, sizeof other);
		free(same);
	}
	while (done < count) {
		unsigned n = count - done < SQUEEZE_GROUP ? (unsigned)(count - done) : SQUEEZE_GROUP;

		at = squeeze_back(&reader, at, back + done, n);
		assert_non_null(at);
		done += n;
	}
	assert_int_equal(at - bytes, took);
	assert_memory_equal(words, back, count * 8);
	free(back);
	free(bytes);
	return took;
}

static void any_words(void **state)
{
	uint64_t *words = mem_alloc(MOST * 8), seed = 3;

	/* Of any width, so that every number of bytes comes up; zeros and all ones among them. */
	for (unsigned round = 0; round < 60; round++) {
		uint64_t count = helper_random(&seed) % MOST;

		for (uint64_t i = 0; i < count; i++) {
			words[i] = helper_random(&seed) << 32 ^ helper_random(&seed);
			words[i] >>= helper_random(&seed) % 64;
			if (helper_random(&seed) % 8 == 0)
				words[i] = helper_random(&seed) % 2 ? 0 : ~0ull;
		}
		there_and_back(words, count);
	}
	/* Groups that end in every way. */
	for (uint64_t count = 0; count < 40; count++)
		there_and_back(words, count);
	free(words);
}

/* Each single bit alone, against a guess of zeros and against one of ones. */
static void every_bit(void **state)
{
	uint64_t words[128];

	for (unsigned i = 0; i < 64; i++) {
		words[2 * i] = 1ull << i;
		words[2 * i + 1] = ~(1ull << i);
		there_and_back(&words[2 * i], 2);
	}
	there_and_back(words, 128);
}

/* Nothing that was seen before helps: no more than digits beside the words themselves. */
static void worst(void **state)
{
	uint64_t *words = mem_alloc(MOST * 8), seed = 9;

	for (uint64_t i = 0; i < MOST; i++)
		words[i] = helper_random(&seed) << 40 ^ helper_random(&seed) << 20 ^ helper_random(&seed);
	assert_true(there_and_back(words, MOST) <= MOST * 8 + (MOST / SQUEEZE_GROUP + 1) * SQUEEZE_DIGITS);
	free(words);
}

/* A loop of five events that walks over an array. */
static void loop(void **state)
{
	uint64_t *words = mem_alloc(MOST * 8);

	for (uint64_t i = 0; i < MOST; i++)
		words[i] = word_make(i % 5 == 4 ? TRACE_SWITCH : TRACE_ACCESS, 1 + (uint32_t)(i % 5),
				     i % 5 == 0 ? 0x7f001000 + i / 5 * 8 : 0x5000 + i % 5 * 16);
	assert_true(there_and_back(words, MOST) < MOST);
	free(words);
}

/* As in a file: the events are the same, and packing for keeping takes it from there. */
static void trace(void **state)
{
	static const char *const paths[] = {"squeezed", "packed", "back"};
	struct err err = {""};
	struct trace *plain, *other;
	struct trace_event *l, *r;
	uint64_t n, m;

	helper_sample(helper_path("sample"));
	squeezed_copy(helper_path("sample"), helper_path("squeezed"));
	for (int i = 1; i < 3; i++) {
		other = trace_open(helper_path(paths[i - 1]), &err);
		assert_non_null(other);
		assert_int_equal(trace_repack(other, helper_path(paths[i]), i == 1, &err), 0);
		trace_close(other);
	}
	plain = trace_open(helper_path("sample"), &err);
	assert_non_null(plain);
	l = helper_events(plain, &n);
	assert_true(n > 0);
	for (int i = 0; i < 3; i++) {
		other = trace_open(helper_path(paths[i]), &err);
		assert_non_null(other);
		r = helper_events(other, &m);
		assert_int_equal(n, m);
		for (uint64_t k = 0; k < n; k++)
			helper_assert_same(&l[k], &r[k]);
		for (uint64_t k = 0; k < other->extent_count; k++)
			assert_int_equal(other->extents[k].squeezed, i == 0 && !other->extents[k].meta);
		free(r);
		trace_close(other);
	}
	free(l);
	trace_close(plain);
}

/* Changes the first block of thread 0's events: reading says so, with the sentence. */
static void refuse(size_t offset, uint64_t value, size_t size_of_value, const char *part)
{
	struct err err = {""};
	struct trace *trace = trace_open(helper_path("squeezed"), &err);
	struct trace_event e;
	struct trace_cursor *cursor;
	size_t size, at;
	char *data = helper_read(helper_path("squeezed"), &size);

	assert_non_null(trace);
	at = trace->threads[0].first->offset + offset;
	trace_close(trace);
	memcpy(data + at, &value, size_of_value);
	trace = trace_open_memory(data, size, "memory", &err);
	if (trace) {
		cursor = trace_cursor_open(trace);
		while (trace_next(cursor, &e) > 0)
			;
		err = *trace_cursor_error(cursor);
		trace_cursor_close(cursor);
		trace_close(trace);
	}
	assert_contains(err.text, part);
	assert_contains(err.text, "memory: the ");
	free(data);
}

static void damaged(void **state)
{
	struct trace *trace;
	uint32_t payload, unpacked;
	struct err err;

	helper_sample(helper_path("sample"));
	squeezed_copy(helper_path("sample"), helper_path("squeezed"));
	trace = trace_open(helper_path("squeezed"), &err);
	assert_non_null(trace);
	payload = trace->threads[0].first->payload;
	unpacked = trace->threads[0].first->unpacked;
	trace_close(trace);
#define FIELD(name) offsetof(struct trace_block, name)
	refuse(sizeof(struct trace_block), 0x9ull << 60, 8, "cannot be made out");
	refuse(sizeof(struct trace_block), ~0ull / 15 * 8, 8, "is damaged");
	refuse(FIELD(payload), payload - 1, 4, "cannot be made out");
	refuse(FIELD(payload), payload + 1, 4, "holds more than");
	refuse(FIELD(payload), 0, 4, "unpacked length is impossible");
	refuse(FIELD(unpacked), 0, 4, "unpacked length is impossible");
	refuse(FIELD(unpacked), unpacked - 1, 4, "unpacked length is impossible");
	refuse(FIELD(unpacked), unpacked + 8 * SQUEEZE_GROUP, 4, "is damaged");
	refuse(FIELD(unpacked), TRACE_MAX_UNPACKED + 8, 4, "unpacked length is impossible");
	refuse(FIELD(flags), TRACE_BLOCK_SQUEEZED | TRACE_BLOCK_ZSTD, 2, "flags are not known");
	refuse(FIELD(kind), TRACE_BLOCK_META, 2, "flags are not known");
#undef FIELD
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_words), cmocka_unit_test(every_bit), cmocka_unit_test(worst),
		cmocka_unit_test(loop),      cmocka_unit_test(trace),     cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
