/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events whose numbers make no sense, as a damaged trace has them that can still be
 * read: threads and sites are those of the trace, for the reader sees to that, and all
 * else is anything. The model goes on, tells its sink only of units that it has begun,
 * and takes no memory for what is not there.
 */
#include "helper.h"

#include "model/model.h"
#include "trace/reader.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, EVENTS = 4000, UNITS = 1 << 20 };

/* What a sink has been told, and whether it made sense. */
struct heard {
	uint32_t sets, units, locations;
	uint32_t threads; /* in the trace */
	uint64_t accesses;
	bool *open; /* by unit */
};

static uint32_t set_new(void *user)
{
	return ((struct heard *)user)->sets++;
}

static void set_merge(void *user, uint32_t from, uint32_t to)
{
	assert_true(from < ((struct heard *)user)->sets && to < ((struct heard *)user)->sets && from != to);
}

static void set_free(void *user, uint32_t set)
{
	assert_true(set < ((struct heard *)user)->sets);
}

static uint32_t unit_begin(void *user, const struct model_unit *unit)
{
	struct heard *heard = user;

	assert_true(unit->thread < heard->threads && heard->units < UNITS);
	heard->open[heard->units] = true;
	return heard->units++;
}

static void unit_end(void *user, uint32_t unit)
{
	struct heard *heard = user;

	assert_true(unit < heard->units && heard->open[unit]);
	heard->open[unit] = false;
}

static uint32_t location_new(void *user)
{
	return ((struct heard *)user)->locations++;
}

static uint32_t location_split(void *user, uint32_t location)
{
	assert_true(location < ((struct heard *)user)->locations);
	return ((struct heard *)user)->locations++;
}

static void location_free(void *user, uint32_t location)
{
	assert_true(location < ((struct heard *)user)->locations);
}

static void accessed(void *user, uint32_t unit, uint32_t location, const struct model_access *access)
{
	struct heard *heard = user;

	(void)access;
	assert_true(unit < heard->units && heard->open[unit] && location < heard->locations);
	heard->accesses++;
}

static void accessed_alone(void *user, const struct model_unit *unit, uint32_t location,
			   const struct model_access *access)
{
	struct heard *heard = user;

	(void)access;
	assert_true(unit->thread < heard->threads && location < heard->locations);
	heard->accesses++;
}

static const struct model_sink sink_of_heard = {.set_new = set_new,
						.set_merge = set_merge,
						.set_free = set_free,
						.unit_begin = unit_begin,
						.unit_end = unit_end,
						.location_new = location_new,
						.location_split = location_split,
						.location_free = location_free,
						.read = accessed,
						.write = accessed,
						.unary_read = accessed_alone,
						.unary_write = accessed_alone};

/* Small, near what others use, or anything. */
static uint64_t odd_number(uint64_t *state)
{
	uint64_t r = helper_random(state), value = helper_random(state);

	switch (r % 4) {
	case 0:
		return value % 16;
	case 1:
		return 0x555500003000 + value % 128;
	case 2:
		return 1ull << value % 64;
	default:
		return value;
	}
}

/* Blocks are as large as the program says, and who frees or maps has asked the kernel. */
static uint64_t odd_length(uint64_t *state)
{
	return helper_random(state) % 4096;
}

static struct trace_event odd_event(const struct trace *trace, uint64_t *state)
{
	static const enum trace_op ops[] = {
		TRACE_OP_JOIN,          TRACE_OP_LOCK,          TRACE_OP_RDLOCK,     TRACE_OP_UNLOCK,
		TRACE_OP_WAIT,          TRACE_OP_WAKE,          TRACE_OP_SEM_WAIT,   TRACE_OP_SEM_POST,
		TRACE_OP_BARRIER_ENTER, TRACE_OP_BARRIER_LEAVE, TRACE_OP_UNIT_BEGIN, TRACE_OP_UNIT_END,
		TRACE_OP_TOUCHED,       TRACE_OP_TOUCHED,       TRACE_OP_ALLOC,      TRACE_OP_FREE,
		TRACE_OP_UNMAP};
	struct trace_event event = {.thread = (uint32_t)(helper_random(state) % trace->thread_count),
				    .address = odd_number(state)};

	switch (helper_random(state) % 4) {
	case 0:
		event.kind = TRACE_ENTER;
		break;
	case 1:
		event.kind = TRACE_EXIT;
		event.frames = (uint32_t)(helper_random(state) % 4);
		break;
	case 2:
		event.kind = TRACE_ACCESS;
		event.access = helper_random(state) % 2 ? ATOMSAN_READ : ATOMSAN_WRITE;
		event.value = helper_random(state) % 4 ? 8 : odd_length(state);
		break;
	default:
		event.kind = TRACE_OP;
		event.op = (uint8_t)ops[helper_random(state) % (sizeof(ops) / sizeof(*ops))];
		event.value = odd_number(state);
		event.other = odd_number(state);
		if (event.op == TRACE_OP_ALLOC || event.op == TRACE_OP_UNMAP)
			event.value = odd_length(state);
	}
	return event;
}

static struct trace *sample(void)
{
	const char *path = helper_path("odd.atr");
	struct err err = {""};
	struct trace *trace;

	helper_sample(path);
	trace = trace_open(path, &err);
	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

static void any_numbers(void **state)
{
	struct trace *trace = sample();
	struct heard heard = {.threads = trace->thread_count, .open = mem_alloc(UNITS)};
	uint64_t random = 11, accesses = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct model_options options = {.units = (enum model_units)(round % 4)};
		struct model *model;

		heard.sets = heard.units = heard.locations = 0;
		memset(heard.open, 0, UNITS);
		struct model_sink sink = sink_of_heard;

		sink.user = &heard;
		model = model_new(trace, &options, &sink);
		for (int i = 0; i < EVENTS; i++) {
			struct trace_event event = odd_event(trace, &random);

			model_event(model, &event);
		}
		model_finish(model);
		for (uint32_t i = 0; i < heard.units; i++)
			assert_false(heard.open[i]);
		model_free(model);
		accesses += heard.accesses;
	}
	assert_true(accesses > 0);
	free(heard.open);
	trace_close(trace);
}

/* Who speaks for a call says of which thread: one that the trace does not have is none, and not the reason to
 * make room for as many. */
static void unknown_thread(void **state)
{
	struct trace *trace = sample();
	struct heard heard = {.threads = trace->thread_count, .open = mem_alloc(UNITS)};
	struct model_options options = {0};
	struct model_sink sink = sink_of_heard;
	struct model *model;
	size_t before;

	(void)state;
	sink.user = &heard;
	model = model_new(trace, &options, &sink);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	for (unsigned shift = 2; shift < 64; shift++) {
		struct trace_event event = {.kind = TRACE_OP,
					    .op = TRACE_OP_TOUCHED,
					    .address = 0x555500003000,
					    .value = 1ull << shift,
					    .other = 0xffff};

		model_event(model, &event);
	}
	assert_int_equal(heard.accesses, 0);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (1 << 20));
	model_finish(model);
	model_free(model);
	free(heard.open);
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(unknown_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
