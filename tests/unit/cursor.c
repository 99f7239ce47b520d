/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Decoding and the total order, against a sort that knows nothing of runs. */
#include "helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An event as it was written, to be sorted. */
struct written {
	uint64_t key;
	uint32_t thread;
	uint64_t place; /* in program order */
	uint64_t address;
};

static int compare(const void *left, const void *right)
{
	const struct written *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* Threads that take stamps at random, in steps of random length. */
static void check_order(uint64_t seed, uint32_t threads, uint64_t count, unsigned run)
{
	struct written *all = mem_zalloc(count, sizeof *all);
	uint64_t *keys = mem_zalloc(threads, sizeof *keys), stamp = 0;
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("order"), 0, &err);
	struct trace *trace;
	struct trace_event *events;
	uint64_t n;
	uint32_t site;

	assert_non_null(w);
	site = trace_writer_site(w, &(struct trace_site){.size = 4});
	for (uint64_t i = 0; i < count; i++) {
		uint32_t t = (uint32_t)(helper_random(&seed) % threads);
		bool stamped = helper_random(&seed) % run == 0;

		if (stamped)
			keys[t] = stamp += 1 + helper_random(&seed) % 3;
		all[i] = (struct written){keys[t], t, i, 0x1000 + 8 * i};
		/* An operation may be without a stamp, unless it is the first that its thread does. */
		if (helper_random(&seed) % 4 == 0 && keys[t]) {
			struct trace_event e = {.kind = TRACE_OP,
						.op = TRACE_OP_LOCK,
						.thread = t,
						.address = all[i].address,
						.site = site,
						.stamped = stamped,
						.key = keys[t],
						.value = i & 1};

			trace_writer_event(w, &e);
		} else {
			helper_access(w, t, site, all[i].address, stamped ? stamp : 0);
		}
	}
	assert_int_equal(trace_writer_finish(w, &err), 0);
	qsort(all, count, sizeof *all, compare);
	trace = trace_open(helper_path("order"), &err);
	assert_non_null(trace);
	events = helper_events(trace, &n);
	assert_int_equal(n, count);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(events[i].key, all[i].key);
		assert_int_equal(trace->threads[events[i].thread].number, all[i].thread);
		assert_int_equal(events[i].address, all[i].address);
	}
	trace_close(trace);
	free(events);
	free(keys);
	free(all);
}

static void order(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		check_order(seed, 1 + (uint32_t)(seed % 9), 2000, 1 + (unsigned)(seed % 7) * 3);
}

static void order_of_many(void **state)
{
	check_order(77, 3000, 60000, 5);
	check_order(78, 3, 100000, 1);
}

static void fields(void **state)
{
	unsigned count = helper_sample(helper_path("sample"));
	struct err err;
	struct trace *trace = trace_open(helper_path("sample"), &err);
	struct trace_event *e;
	uint64_t n;
	unsigned seen = 0;

	assert_non_null(trace);
	e = helper_events(trace, &n);
	assert_int_equal(n, count);
	for (uint64_t i = 0; i < n; i++) {
		uint32_t number = trace->threads[e[i].thread].number;

		if (e[i].kind == TRACE_OP && e[i].op == TRACE_OP_WAIT) {
			assert_int_equal(e[i].address, 0x555500002000);
			assert_int_equal(e[i].value, 0x7fff12345678);
			seen |= 1;
		} else if (e[i].kind == TRACE_OP && e[i].op == TRACE_OP_LOCK) {
			assert_int_equal(e[i].address, 0x7fff12345678);
			assert_int_equal(e[i].flags, TRACE_LOCK_TRY);
			assert_int_equal(e[i].site, 4);
			seen |= 2;
		} else if (e[i].kind == TRACE_ACCESS && e[i].site == 3) {
			assert_int_equal(e[i].value, 100);
			assert_int_equal(e[i].access, ATOMSAN_WRITE);
			assert_int_equal(e[i].address, 0x10);
			seen |= 4;
		} else if (e[i].kind == TRACE_ACCESS && e[i].site == 4) {
			assert_int_equal(e[i].address, 0x123456789abcdef0);
			assert_int_equal(e[i].value, 7);
			assert_int_equal(e[i].access, ATOMSAN_WRITE);
			seen |= 8;
		} else if (e[i].kind == TRACE_ENTER && number == 9) {
			assert_int_equal(e[i].address, 0);
			assert_int_equal(e[i].function, 2);
			seen |= 16;
		} else if (e[i].kind == TRACE_EXIT) {
			assert_int_equal(e[i].frames, 1);
			seen |= 32;
		} else if (e[i].kind == TRACE_ACCESS && number == 7) {
			assert_int_equal(e[i].key, 1);
			assert_false(e[i].stamped);
			assert_int_equal(e[i].value, 8);
			assert_int_equal(e[i].access, ATOMSAN_READ);
			seen |= 64;
		}
	}
	assert_int_equal(seen, 127);
	free(e);
	trace_close(trace);
}

static void names(void **state)
{
	static const struct {
		uint32_t number;
		const char *name;
	} expected[] = {{7, "T0"}, {3, "T1"}, {5, "T2"}, {9, "T1.1"}};
	struct err err;
	struct trace *trace;

	helper_sample(helper_path("sample"));
	trace = trace_open(helper_path("sample"), &err);
	assert_non_null(trace);
	assert_string_equal(trace_thread_name(trace, 0), "T?3");
	/* Twice, for a second run must not count on. */
	for (int again = 0; again < 2; again++) {
		assert_int_equal(trace_name_threads(trace, &err), 0);
		for (size_t i = 0; i < 4; i++) {
			uint32_t index = (uint32_t)trace_thread_index(trace, expected[i].number);

			assert_string_equal(trace_thread_name(trace, index), expected[i].name);
		}
	}
	trace_close(trace);
}

/* A thread that was killed right after it got its first block is not the main thread. */
static void empty_thread(void **state)
{
	struct err err;
	struct trace *trace;
	struct trace_block *b;
	char *data;
	size_t size, at = TRACE_PAGE;
	uint64_t n;

	helper_sample(helper_path("sample"));
	data = helper_read(helper_path("sample"), &size);
	while ((b = (struct trace_block *)(data + at)), b->kind != TRACE_BLOCK_EVENTS || b->owner != 3)
		at += b->length;
	b->payload = 0;
	memset(b + 1, 0, b->length - sizeof *b);
	trace = trace_open_memory(data, size, "memory", &err);
	assert_non_null(trace);
	free(helper_events(trace, &n));
	assert_string_equal(trace_thread_name(trace, (uint32_t)trace_thread_index(trace, 7)), "T0");
	assert_string_equal(trace_thread_name(trace, (uint32_t)trace_thread_index(trace, 5)), "T2");
	assert_string_equal(trace_thread_name(trace, (uint32_t)trace_thread_index(trace, 9)), "T?9");
	trace_close(trace);
	free(data);
}

static void one_thread(void **state)
{
	struct err err;
	struct trace *trace;
	struct trace_event *all, e;
	uint64_t n;

	helper_sample(helper_path("sample"));
	trace = trace_open(helper_path("sample"), &err);
	assert_non_null(trace);
	all = helper_events(trace, &n);
	for (uint32_t t = 0; t < trace->thread_count; t++) {
		struct trace_cursor *cursor = trace_cursor_open_thread(trace, t);

		for (uint64_t i = 0; i < n; i++) {
			if (all[i].thread != t)
				continue;
			assert_int_equal(trace_next(cursor, &e), 1);
			helper_assert_same(&e, &all[i]);
		}
		assert_int_equal(trace_next(cursor, &e), 0);
		trace_cursor_close(cursor);
	}
	free(all);
	trace_close(trace);
}

/* Numbers that do not fit their field travel in a prefix. */
static void large_numbers(void **state)
{
	uint32_t sites[] = {TRACE_ID_MAX - 1,      TRACE_ID_MAX,      TRACE_ID_MAX + 1,
			    TRACE_OP_SITE_MAX - 1, TRACE_OP_SITE_MAX, TRACE_OP_SITE_MAX + 9};
	struct trace_event *e;
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("large"), 0, &err);
	struct trace *trace;
	uint64_t n;

	assert_non_null(w);
	for (uint32_t i = 0; i < TRACE_OP_SITE_MAX + 10; i++) {
		trace_writer_site(w, &(struct trace_site){.size = 2});
		trace_writer_function(w, &(struct trace_function){.name = "f"});
	}
	for (size_t i = 0; i < 6; i++) {
		helper_access(w, 0, sites[i], 0x1000, 0);
		helper_access(w, 0, sites[i], 0x1000, trace_writer_stamp(w));
		trace_writer_event(
			w, &(struct trace_event){.kind = TRACE_OP, .op = TRACE_OP_LOCK, .site = sites[i]});
		trace_writer_event(w, &(struct trace_event){.kind = TRACE_ENTER, .function = sites[i]});
		trace_writer_event(w, &(struct trace_event){.kind = TRACE_EXIT, .frames = sites[i]});
	}
	assert_int_equal(trace_writer_finish(w, &err), 0);
	trace = trace_open(helper_path("large"), &err);
	assert_non_null(trace);
	e = helper_events(trace, &n);
	assert_int_equal(n, 30);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(e[5 * i].site, sites[i]);
		assert_int_equal(e[5 * i].value, 2);
		assert_int_equal(e[5 * i + 1].site, sites[i]);
		assert_int_equal(e[5 * i + 2].site, sites[i]);
		assert_int_equal(e[5 * i + 3].function, sites[i]);
		assert_int_equal(e[5 * i + 4].frames, sites[i]);
	}
	free(e);
	trace_close(trace);
}

#define WORD(kind, id, address) ((uint64_t)(address) << 20 | (uint64_t)(id) << 3 | (kind))

/* Two threads with these words after a sound event: reading fails with the sentence. */
static void refuse_words(const uint64_t *words, size_t count, const char *part)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("words"), 0, &err);
	struct trace *trace;
	struct trace_cursor *cursor;
	struct trace_event e;
	char *data;
	size_t size, at;
	int got;

	assert_non_null(w);
	trace_writer_site(w, &(struct trace_site){.size = 2});
	trace_writer_site(w, &(struct trace_site){.kind = ATOMSAN_FENCE});
	helper_access(w, 1, 1, 0x1000, 5);
	helper_access(w, 0, 1, 0x1000, 1);
	trace_writer_header(w)->next_stamp = 100;
	assert_int_equal(trace_writer_finish(w, &err), 0);
	data = helper_read(helper_path("words"), &size);
	for (at = TRACE_PAGE;; at += TRACE_PAGE) {
		struct trace_block *b = (struct trace_block *)(data + at);

		assert_true(at < size);
		if (b->kind == TRACE_BLOCK_EVENTS && b->owner == 0) {
			b->payload += (uint32_t)(8 * count);
			break;
		}
	}
	memcpy(data + at + sizeof(struct trace_block) + 16, words, 8 * count);
	trace = trace_open_memory(data, size, "memory", &err);
	assert_non_null(trace);
	cursor = trace_cursor_open(trace);
	while ((got = trace_next(cursor, &e)) > 0)
		;
	assert_int_equal(got, -1);
	assert_contains(trace_cursor_error(cursor)->text, part);
	assert_contains(trace_cursor_error(cursor)->text, "memory: the event at offset");
	/* It stays failed. */
	assert_int_equal(trace_next(cursor, &e), -1);
	trace_cursor_close(cursor);
	trace_close(trace);
	free(data);
}

/* Places that were given up are no events; wide values and stack objects are. */
static void odd_events(void **state)
{
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("odd"), 0, &err);
	struct trace_event *e, exit = {.kind = TRACE_EXIT, .frames = 0};
	struct trace *trace;
	uint64_t n;

	assert_non_null(w);
	trace_writer_site(w, &(struct trace_site){.kind = ATOMSAN_OBJECT, .flags = ATOMSAN_SITE_RANGE});
	trace_writer_event(w, &exit);
	helper_op(w, 0, TRACE_OP_ALLOC, 0x1000, (1ull << 59) - 1);
	trace_writer_event(w, &exit);
	trace_writer_event(w, &exit);
	trace_writer_event(w, &(struct trace_event){.kind = TRACE_ACCESS,
						    .site = 1,
						    .address = 0x2000,
						    .value = 24,
						    .prefixes = 1 << TRACE_PREFIX_VALUE});
	trace_writer_event(w, &exit);
	assert_int_equal(trace_writer_finish(w, &err), 0);
	trace = trace_open(helper_path("odd"), &err);
	assert_non_null(trace);
	e = helper_events(trace, &n);
	assert_int_equal(n, 2);
	assert_int_equal(e[0].value, (1ull << 59) - 1);
	assert_int_equal(e[1].access, ATOMSAN_OBJECT);
	assert_int_equal(e[1].value, 24);
	free(e);
	trace_close(trace);
}

/* One event that is many accesses. */
static void write_many(struct trace_writer *w, uint64_t address, uint64_t count, int64_t stride)
{
	trace_writer_event(
		w, &(struct trace_event){.kind = TRACE_ACCESS,
					 .site = 1,
					 .address = address,
					 .value = count,
					 .other = (uint64_t)stride,
					 .prefixes = 1 << TRACE_PREFIX_VALUE | 1 << TRACE_PREFIX_OTHER});
}

/* They are read as if each had been written, one after the other, at the end of a block, too. */
static void many_accesses(void **state)
{
	static const struct {
		uint64_t address, count;
		int64_t stride;
	} runs[] = {{0x2000, 5, 24}, {0x3000, 3, -16}, {0x4000, TRACE_STEPS_MAX, 8}, {0x5000, 1, 4}};
	struct err err;
	struct trace_writer *w = trace_writer_open(helper_path("many"), 0, &err);
	struct trace_event *e;
	struct trace *trace;
	uint64_t n, at = 0;

	assert_non_null(w);
	trace_writer_site(w, &(struct trace_site){.size = 4, .kind = ATOMSAN_WRITE});
	helper_access(w, 0, 1, 0x1000, 1);
	helper_access(w, 1, 1, 0x1100, 2);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		write_many(w, runs[i].address, runs[i].count, runs[i].stride);
		helper_access(w, 0, 1, 0x1000 + i, 0);
	}
	helper_access(w, 0, 1, 0x1200, 3);
	write_many(w, 0x6000, 7, 8);
	assert_int_equal(trace_writer_finish(w, &err), 0);
	trace = trace_open(helper_path("many"), &err);
	assert_non_null(trace);
	e = helper_events(trace, &n);
	assert_int_equal(e[at++].address, 0x1000);
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		for (uint64_t k = 0; k < runs[i].count; k++, at++) {
			assert_int_equal(e[at].address, runs[i].address + k * (uint64_t)runs[i].stride);
			assert_int_equal(e[at].value, 4);
			assert_int_equal(e[at].access, ATOMSAN_WRITE);
			assert_int_equal(e[at].site, 1);
			assert_int_equal(e[at].key, 1);
			assert_int_equal(e[at].prefixes, 0);
			assert_false(e[at].found);
		}
		assert_int_equal(e[at++].address, 0x1000 + i);
	}
	assert_int_equal(e[at++].address, 0x1100);
	assert_int_equal(e[at++].address, 0x1200);
	for (uint64_t k = 0; k < 7; k++, at++) {
		assert_int_equal(e[at].address, 0x6000 + 8 * k);
		assert_int_equal(e[at].key, 3);
	}
	assert_int_equal(at, n);
	free(e);
	trace_close(trace);
}

static void damaged_events(void **state)
{
#define REFUSE(part, ...) \
	refuse_words((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8, part)

	REFUSE("kind is not known", WORD(0, 1, 1));
	REFUSE("operation is not known", WORD(TRACE_OP, 200, 1), 7 << 20);
	REFUSE("site is not in the trace", WORD(TRACE_ACCESS, 3, 1));
	REFUSE("site is not in the trace", WORD(TRACE_OP, TRACE_OP_LOCK, 1), 7 << 20 | 3);
	REFUSE("site is no access", WORD(TRACE_ACCESS, 2, 1));
	REFUSE("function is not in the trace", WORD(TRACE_ENTER, 1, 1));
	REFUSE("leaves no frame", WORD(TRACE_EXIT, 0, 1));
	REFUSE("not higher than the one before", WORD(TRACE_STAMPED, 1, 1), (uint64_t)1 << TRACE_STAMP_SHIFT);
	REFUSE("never given out", WORD(TRACE_STAMPED, 1, 1), (uint64_t)100 << TRACE_STAMP_SHIFT);
	REFUSE("same stamp", WORD(TRACE_STAMPED, 1, 1), (uint64_t)5 << TRACE_STAMP_SHIFT);
	REFUSE("ends inside it", WORD(TRACE_STAMPED, 1, 1));
	REFUSE("number is missing", WORD(TRACE_ACCESS, TRACE_ID_MAX, 1));
	REFUSE("number is impossible", WORD(TRACE_PREFIX, TRACE_PREFIX_SITE, 1ull << 33),
	       WORD(TRACE_ACCESS, TRACE_ID_MAX, 1));
#define MANY(count) WORD(TRACE_PREFIX, TRACE_PREFIX_VALUE, count), WORD(TRACE_PREFIX, TRACE_PREFIX_OTHER, 8)
	REFUSE("so many accesses", MANY(0), WORD(TRACE_ACCESS, 1, 1));
	REFUSE("so many accesses", MANY(TRACE_STEPS_MAX + 1), WORD(TRACE_ACCESS, 1, 1));
	REFUSE("so many accesses", MANY(2), WORD(TRACE_STAMPED, 1, 1), (uint64_t)3 << TRACE_STAMP_SHIFT);
	REFUSE("so many accesses", MANY(2), WORD(TRACE_PREFIX, TRACE_PREFIX_REGION, 1),
	       WORD(TRACE_ACCESS, 1, 1));
#undef MANY
#undef REFUSE
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order),          cmocka_unit_test(order_of_many),
		cmocka_unit_test(fields),         cmocka_unit_test(names),
		cmocka_unit_test(one_thread),     cmocka_unit_test(large_numbers),
		cmocka_unit_test(damaged_events), cmocka_unit_test(odd_events),
		cmocka_unit_test(empty_thread),   cmocka_unit_test(many_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
