/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Notes say the same after they were tidied as before, byte for byte: of each log,
 * place, kind and epoch, without the bytes that were let go of. And where notes are
 * put together as they are taken, they say what was done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/notes_inl.h"

enum { LOGS = 70, SITES = 4, EPOCHS = 4, BYTES = 1024, BASE = 0x10000, FRAMES = 3 };

/* Of each byte the epochs in which it was accessed, as bits. */
struct said {
	uint8_t epochs[LOGS][SITES][2][BYTES];
};

static uint64_t state;

static uint32_t below(uint32_t bound)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % bound;
}

static void let_go(struct said *said, uint32_t log, uint64_t address, uint64_t bytes)
{
	for (unsigned i = 0; i < 64; i++)
		for (unsigned site = 0; bytes >> i & 1 && site < SITES; site++)
			for (unsigned kind = 0; kind < 2; kind++)
				said->epochs[log][site][kind][address - BASE + i] = 0;
}

static void access(struct said *said, uint32_t log, const struct note *note)
{
	if (!note->to) {
		let_go(said, log, note->address, note->some);
		return;
	}
	for (uint64_t k = 0; k < note_accesses(note); k++)
		for (uint64_t at = note_begin(note, k); at < note_end(note, k); at++)
			said->epochs[log][note->site][note->writes][at - BASE] |=
				(uint8_t)(1u << note->epoch);
}

/* What all notes say, one after the other. */
static void listen(const struct model *model, struct said *said)
{
	const struct thread *thread = model->threads;

	memset(said, 0, sizeof *said);
	for (uint32_t i = 0; i < thread->note_count; i++)
		access(said, thread->notes[i].set - 1, &thread->notes[i]);
}

static void count_chains(const struct model *model)
{
	const struct thread *thread = model->threads;
	uint32_t found = 0;

	for (uint32_t i = 1; i <= LOGS; i++)
		for (uint32_t at = set_whole(model, i)->noted.log.notes; at;
		     at = thread->notes[at - 1].previous) {
			assert_int_equal(thread->notes[at - 1].set, i);
			assert_true(thread->notes[at - 1].previous < at);
			found++;
		}
	assert_int_equal(found, thread->note_count);
	for (uint32_t i = 0; i < thread->depth; i++) {
		assert_true(thread->frames[i].notes <= thread->note_count);
		assert_true(!i || thread->frames[i - 1].notes <= thread->frames[i].notes);
	}
}

static void make_room(struct thread *thread, uint32_t more)
{
	if (thread->note_count + more >= thread->note_room) {
		thread->note_room = thread->note_room * 2 + more;
		thread->notes = mem_resize(thread->notes, thread->note_room, sizeof *thread->notes);
	}
}

/* The latest note of no log goes on into another epoch: each makes an access that is like no other. */
static void next_epoch(struct model *model, struct said *truth)
{
	struct thread *thread = model->threads;
	struct accessor who = {.site = SITES - 1, .size = 1, .address = BASE, .reads = true};

	thread->epoch = (thread->epoch + 1) % EPOCHS;
	who.claims = thread->epoch % 2;
	make_room(thread, LOGS + 1);
	for (uint32_t i = 1; truth && i <= LOGS; i++) {
		note_add(thread, &set_whole(model, i)->noted.log, i, &who, BASE, BASE + 1);
		truth->epochs[i - 1][SITES - 1][0][0] |= (uint8_t)(1u << thread->epoch);
	}
}

/* With `truth`, it is told, too. */
static void add_one(struct model *model, uint32_t logs, bool bars, struct said *truth)
{
	struct thread *thread = model->threads;
	uint32_t set = 1 + below(logs);
	struct log *log = &set_whole(model, set)->noted.log;
	uint32_t size = 1u << below(6);
	struct accessor who = {.size = size,
			       .site = below(SITES - 1),
			       .time = ++model->time,
			       .writes = below(2),
			       .address = BASE + below(BYTES / size) * size};

	/* Each place does the same every time; what is only put together later is no matter. It is tried
	 * however little goes together. */
	if (truth) {
		who.writes = who.site == 1;
		thread->gather_more = 0;
	}
	who.reads = !who.writes;
	if (!below(truth ? 400 : 40))
		next_epoch(model, truth);
	make_room(thread, 8);
	if (bars && log->notes && !below(4)) {
		uint8_t mask = (uint8_t)(1 + below(255));

		notes_bar(model, 0, log, set, who.address & ~7ull, mask);
		if (truth)
			let_go(truth, set - 1, who.address & ~7ull, mask);
		return;
	}
	uint64_t at = who.address + (below(8) ? 0 : below(size)),
		 stop = below(8) ? who.address + size : at + 1;

	note_add(thread, log, set, &who, at, stop);
	for (; truth && at < stop; at++)
		truth->epochs[set - 1][who.site][who.writes][at - BASE] |= (uint8_t)(1u << thread->epoch);
}

static struct model *model_with(uint32_t ordered)
{
	struct model *model = mem_zalloc(1, sizeof *model);
	struct thread *thread = mem_zalloc(1, sizeof *thread);

	model->threads = thread;
	model->thread_count = 1;
	model->sets = mem_zalloc(LOGS + 1, sizeof *model->sets);
	/* In whole lines, as the model has it. */
	model->wholes = table_resize(NULL, 0, LOGS + 1, sizeof *model->wholes);
	memset(model->wholes, 0, (LOGS + 1) * sizeof *model->wholes);
	for (uint32_t i = 1; i <= LOGS; i++)
		model->sets[i].whole = i;
	thread->frames = mem_zalloc(FRAMES, sizeof *thread->frames);
	thread->depth = FRAMES;
	for (uint32_t i = 0; i < FRAMES; i++)
		thread->frames[i] = (struct frame){.serial = i + 1, .lowest = UINT32_MAX};
	for (uint32_t i = 1; i <= LOGS; i++) {
		struct noted *noted = &set_whole(model, i)->noted;

		noted->log = notes_begin(model, i % FRAMES);
		noted->log.ordered = i <= ordered;
		noted->serial = i % FRAMES + 1;
	}
	return model;
}

static void release(struct model *model)
{
	free(model->threads->frames);
	free(model->threads->notes);
	free(model->threads->gathered);
	free(model->threads->seen);
	free(model->threads);
	free(model->sets);
	table_free(model->wholes, LOGS + 1, sizeof *model->wholes);
	notes_release(model);
	free(model);
}

static void nothing_is_lost(void **unused)
{
	struct said *before = mem_alloc(sizeof *before), *after = mem_alloc(sizeof *after);
	uint64_t fewer = 0;

	for (uint32_t round = 0; round < 300; round++) {
		struct model *model = model_with(round % 3);
		struct thread *thread = model->threads;
		/* More than bytes that are no more are looked for of at a time, now and then. */
		uint32_t logs = 1 + below(round % 4 ? 10 : LOGS);

		uint32_t tidied = 0;

		/* Several times, so that what was put together comes in again, all of it or what is new. */
		for (uint32_t part = 0; part < 3; part++) {
			for (uint32_t i = below(300); i-- > 0;) {
				add_one(model, logs, round % 2, NULL);
				if (!below(100) && part < FRAMES)
					for (uint32_t k = part; k < FRAMES; k++)
						thread->frames[k].notes = thread->note_count;
			}
			listen(model, before);
			fewer += thread->note_count;
			notes_tidy(model, thread, round % 5 ? tidied : 0);
			tidied = thread->note_count;
			fewer -= thread->note_count;
			listen(model, after);
			assert_memory_equal(before, after, sizeof *before);
			count_chains(model);
		}
		release(model);
	}
	/* It was of some use. */
	assert_true(fewer > 10000);
	free(before);
	free(after);
}

static void what_was_done(void **unused)
{
	struct said *truth = mem_alloc(sizeof *truth), *said = mem_alloc(sizeof *said);
	uint64_t accesses = 0, notes = 0;

	for (uint32_t round = 0; round < 100; round++) {
		struct model *model = model_with(round % 3);
		struct thread *thread = model->threads;
		uint32_t logs = 1 + below(round % 4 ? 4 : LOGS);

		memset(truth, 0, sizeof *truth);
		while (thread->note_count < NOTES_MANY)
			next_epoch(model, truth);
		for (uint32_t part = 0; part < 3; part++) {
			uint32_t had = thread->note_count, more = 500 + below(1000);

			for (uint32_t i = 0; i < more; i++)
				add_one(model, logs, round % 4 == 1, truth);
			/* Of logs that are in order nothing is put together. */
			for (uint32_t i = had; round % 3 == 0 && i < thread->note_count; i++)
				notes += thread->notes[i].site != SITES - 1;
			accesses += round % 3 == 0 ? more : 0;
			listen(model, said);
			assert_memory_equal(truth, said, sizeof *said);
			count_chains(model);
			if (part)
				notes_tidy(model, thread, 0);
		}
		release(model);
	}
	/* It was of some use. */
	assert_true(notes < accesses / 4 * 3);
	free(truth);
	free(said);
}

/* A loop that walks three arrays has a note of each, not one of each element. */
static void walks_go_on(void **unused)
{
	enum { STEPS = 100 };
	struct model *model = model_with(0);
	struct thread *thread = model->threads;
	struct log *log = &set_whole(model, 1)->noted.log;
	uint32_t before;

	while (thread->note_count < NOTES_SOME)
		add_one(model, LOGS, false, NULL);
	before = thread->note_count;
	make_room(thread, 3 * STEPS);
	for (uint64_t i = 0; i < STEPS; i++)
		for (uint32_t array = 0; array < 3; array++) {
			struct accessor who = {.size = 4,
					       .site = array,
					       .time = ++model->time,
					       .reads = true,
					       .address = BASE + 0x1000 * array + 4 * i};

			note_add(thread, log, 1, &who, who.address, who.address + 4);
		}
	assert_int_equal(thread->note_count, before + 3);
	for (uint32_t i = before; i < thread->note_count; i++) {
		assert_int_equal(thread->notes[i].address, BASE + 0x1000 * (i - before));
		assert_int_equal(thread->notes[i].to, 4 * STEPS);
		assert_int_equal(thread->notes[i].some, 0);
	}
	release(model);
}

static void copy(struct model *model, uint32_t size, uint64_t address, uint64_t from)
{
	struct thread *thread = model->threads;
	struct accessor who = {
		.size = size, .site = SITES, .time = ++model->time, .writes = true, .address = address};

	make_room(thread, 1);
	note_add(thread, &set_whole(model, 1)->noted.log, 1, &who, from, address + size);
}

/* A struct is copied, one that begins in the middle of it, and the one behind that. What is new of the second
 * follows the bytes of the first, and is no struct that begins there. */
static void copies_overlap(void **unused)
{
	for (uint32_t i = 0; i < 4; i++) {
		struct model *model = model_with(0);
		struct thread *thread = model->threads;
		uint32_t size = i & 1 ? 16 : 24, before;

		/* By the latest note, or by one that is looked for. */
		while (i & 2 && thread->note_count < NOTES_MANY)
			add_one(model, LOGS, false, NULL);
		before = thread->note_count;
		copy(model, size, BASE, BASE);
		copy(model, size, BASE + 8, BASE + size);
		copy(model, size, BASE + 8 + size, BASE + 8 + size);
		assert_int_equal(thread->note_count, before + 2);
		assert_int_equal(thread->notes[before].address, BASE);
		assert_int_equal(thread->notes[before].to, size);
		assert_int_equal(thread->notes[before + 1].address, BASE + 8);
		assert_int_equal(thread->notes[before + 1].from, size - 8);
		assert_int_equal(thread->notes[before + 1].to, 2 * size);
		release(model);
	}
}

/* What two units read has no mark of either, and is noted once all the same, until it is no more. */
static void read_again(void **unused)
{
	struct model *model = model_with(0);
	struct cell cell = {.set = 1, .mask = 0xff};
	struct accessor who = {.size = 8, .site = 1, .address = BASE, .reads = true};
	struct thread *thread;

	model->quiet = true;
	model->sets[1].root = 1;
	set_whole(model, 1)->noted = (struct noted){0};
	model->threads = mem_resize(model->threads, 2, sizeof *model->threads);
	model->thread_count = 2;
	thread = &model->threads[1];
	*thread = (struct thread){.frames = mem_zalloc(1, sizeof *thread->frames), .depth = 1};
	thread->frames[0] = (struct frame){.serial = 100, .lowest = UINT32_MAX};
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(quiet_begin(model, i, 0, 1, MODEL_RULE_DIRECT));
		notes_make_room(model, &model->threads[i]);
	}
	for (uint32_t i = 0; i < 100; i++)
		for (who.thread = 0; who.thread < 2; who.thread++) {
			who.time = ++model->time;
			/* Not one after the other. */
			who.site = i % 4;
			assert_true(quiet_access(model, &cell, 1, &who, BASE, 0xff));
		}
	assert_int_equal(thread->note_count, 1);
	/* The first has noted it before it knew that the second reads it, and then once more. */
	assert_int_equal(model->threads[0].note_count, 2);
	quiet_forget(model, 1, BASE, &cell);
	assert_int_equal(thread->note_count, 2);
	who.thread = 1;
	assert_true(quiet_access(model, &cell, 1, &who, BASE, 0xff));
	assert_int_equal(thread->note_count, 3);
	free(thread->frames);
	free(thread->notes);
	free(thread->seen);
	free(thread->gathered);
	release(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost), cmocka_unit_test(what_was_done),
					   cmocka_unit_test(walks_go_on), cmocka_unit_test(copies_overlap),
					   cmocka_unit_test(read_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
