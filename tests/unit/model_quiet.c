/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units that nobody meets are kept from the engine (model/quiet.c). What is found
 * must not depend on it: random runs, in which threads meet at every turn, are
 * checked with it and without it. Where all accesses are in units the findings must
 * be the same; which of several cycles is shown for one, and how often it was seen,
 * depends on how many cells bytes make. Of accesses outside, an engine puts several
 * into one where it can, which depends on that, too; so there may be another
 * finding beside the first, but never one instead of none.
 */
#include "helper.h"

#include "analysis/serial.h"

#include <stdlib.h>
#include <string.h>

/* Of each kind. After a change in the model, -DQUIET_RUNS=20000 takes some minutes. */
#ifndef QUIET_RUNS
#define QUIET_RUNS 400
#endif

enum {
	THREADS = 4,
	OBJECTS = 6,
	EVENTS = 300,
	RUNS = QUIET_RUNS,
	MOST_DEPTH = 6,
	UNIT = 2,
	START = 5,
	COPIES = 8
};

/* As a word of a trace has them (model/jots.c). */
#define HEAP 0x55500100000ull
#define STACK 0x7fd00000000ull
#define VARIABLES 0x55500003000ull

/* Seeds further on that once made a difference. */
static const uint64_t hard[] = {765, 1308, 5986, 9600, 10190, 14707, 23058};
/* The same where threads come and go. */
static const uint64_t hard_coming[] = {6638};

static const char *const types[] = {"node", "list", NULL};
static uint32_t sites, functions, first_function; /* the last: main */
static uint32_t first_copy;                       /* of whole structs, which are no sites of the others */

/* Members of two types, by themselves or through a pointer; plain memory; variables. */
static void write_sites(struct trace_writer *w)
{
	static const uint8_t kinds[] = {ATOMSAN_READ, ATOMSAN_WRITE, ATOMSAN_UPDATE};

	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned type = 0; type < 3; type++)
			for (unsigned member = 0; member < 4; member++)
				for (unsigned base = 0; base < 3; base++) {
					struct trace_site site = {.function = "f",
								  .file = "a.c",
								  .line = ++sites,
								  .kind = kinds[kind],
								  .size = (uint16_t)(1u << member),
								  .base_kind =
									  base == 0   ? ATOMSAN_BASE_RECEIVER
									  : base == 1 ? ATOMSAN_BASE_MEMBER
										      : ATOMSAN_BASE_UNKNOWN,
								  .base = base == 1 ? "list.first" : NULL,
								  .type = types[type],
								  .member = types[type] ? "m" : NULL,
								  .offset = types[type] ? member * 8 : 0,
								  .type_size = types[type] ? 32 : 0};

					trace_writer_site(w, &site);
				}
	struct trace_site range = {.function = "copy",
				   .file = "a.c",
				   .line = ++sites,
				   .kind = ATOMSAN_READ,
				   .flags = ATOMSAN_SITE_RANGE};

	trace_writer_site(w, &range);
	range.line = ++sites;
	range.kind = ATOMSAN_WRITE;
	trace_writer_site(w, &range);
	range.line = ++sites;
	range.kind = ATOMSAN_OBJECT;
	trace_writer_site(w, &range);
	first_copy = sites;
	for (unsigned i = 0; i < COPIES; i++) {
		struct trace_site copy = {.function = "copy",
					  .file = "a.c",
					  .line = 1000 + i,
					  .kind = i & 1 ? ATOMSAN_READ : ATOMSAN_WRITE,
					  .flags = ATOMSAN_SITE_RANGE,
					  .base_kind = i & 2 ? ATOMSAN_BASE_MEMBER : ATOMSAN_BASE_UNKNOWN,
					  .base = i & 2 ? "list.first" : NULL,
					  .type = types[i >> 2]};

		trace_writer_site(w, &copy);
	}
}

static void write_functions(struct trace_writer *w)
{
	static const uint16_t flags[] = {ATOMSAN_FN_EXTERNAL,
					 0,
					 ATOMSAN_FN_ACCESSOR,
					 ATOMSAN_FN_LOOP,
					 ATOMSAN_FN_LOOP | ATOMSAN_FN_WALK,
					 ATOMSAN_FN_ARGUMENT};

	for (unsigned i = 0; i < 6; i++)
		for (unsigned type = 0; type < 3; type++) {
			char name[16];
			struct trace_function function = {.name = name,
							  .file = i & 1 ? "a.c" : "b.c",
							  .line = 100 + functions,
							  .receiver_type = types[type],
							  .calls = type == 1 ? "node\nlist" : NULL,
							  .receiver = types[type] ? 0 : ATOMSAN_NO_RECEIVER,
							  .flags = flags[i]};

			snprintf(name, sizeof name, "f%u", functions++);
			trace_writer_function(w, &function);
		}
	struct trace_function first = {
		.name = "main", .file = "a.c", .line = 99, .receiver = ATOMSAN_NO_RECEIVER};

	first_function = trace_writer_function(w, &first);
}

static struct trace *tables(void)
{
	const char *path = helper_path("tables.atr");
	struct err err;
	struct trace_writer *w = trace_writer_open(path, 0, &err);
	struct trace *trace;

	assert_non_null(w);
	sites = functions = 0;
	write_sites(w);
	write_functions(w);
	for (unsigned i = 0; i < 4; i++) {
		struct trace_variable variable = {.name = "v",
						  .file = i & 1 ? "a.c" : "b.c",
						  .address = VARIABLES + 4ull * i,
						  .size = 4,
						  .element_size = 4,
						  .line = 10 + i};

		trace_writer_variable(w, &variable);
	}
	for (uint32_t thread = 0; thread < THREADS; thread++)
		helper_op(w, thread, TRACE_OP_START, 0, 0);
	assert_int_equal(trace_writer_finish(w, &err), 0);
	trace = trace_open(path, &err);
	assert_non_null(trace);
	return trace;
}

struct script {
	uint64_t random;
	struct trace_event events[EVENTS + 3 * THREADS];
	uint32_t count;
	unsigned depth[THREADS];
	uint32_t wide;   /* how many objects there are */
	unsigned lowest; /* frames that are never left */
	bool copies;     /* objects are arrays of two structs, which are also copied, wholly or in part */
	bool here[THREADS], coming[THREADS];
};

static uint32_t below(struct script *s, uint32_t limit)
{
	return (uint32_t)(helper_random(&s->random) % limit);
}

static void add(struct script *s, struct trace_event event)
{
	event.key = s->count + 1;
	s->events[s->count++] = event;
}

static uint64_t object(struct script *s)
{
	return HEAP + 64ull * below(s, s->wide);
}

static void add_access(struct script *s, const struct trace *trace, uint32_t thread)
{
	bool copy = s->copies && below(s, 2);
	uint32_t number = copy ? first_copy + below(s, COPIES) : below(s, sites);
	struct trace_site site;
	struct trace_event event = {.kind = TRACE_ACCESS, .thread = thread, .site = number};

	trace_site(trace, number, &site, NULL);
	event.access = site.kind;
	event.value = site.size;
	if (site.kind == ATOMSAN_OBJECT) {
		event.address = STACK + 0x10000ull * thread + 64ull * below(s, 2);
		event.value = 32;
	} else if (copy) {
		event.value = 8 + 8ull * below(s, 4);
		event.address = object(s) + 32ull * below(s, 2) + 8ull * below(s, 5 - event.value / 8);
	} else if (site.type_size) {
		event.address =
			(below(s, 8) ? object(s) : STACK + 0x10000ull * below(s, THREADS)) + site.offset;
		event.address += s->copies ? 32ull * below(s, 2) : 0;
	} else {
		event.address = below(s, 6) ? object(s) : VARIABLES;
		event.address += below(s, 24);
		if (!site.size)
			event.value = 1 + below(s, 40);
	}
	add(s, event);
}

static void add_op(struct script *s, uint32_t thread)
{
	static const uint8_t ops[] = {
		TRACE_OP_LOCK, TRACE_OP_UNLOCK,        TRACE_OP_LOCK, TRACE_OP_UNLOCK,     TRACE_OP_ALLOC,
		TRACE_OP_FREE, TRACE_OP_BARRIER_LEAVE, TRACE_OP_JOIN, TRACE_OP_UNIT_BEGIN, TRACE_OP_UNIT_END};
	struct trace_event event = {.kind = TRACE_OP,
				    .thread = thread,
				    .stamped = true,
				    .site = TRACE_NO_SITE,
				    .op = ops[below(s, sizeof ops)]};

	event.address = event.op == TRACE_OP_LOCK || event.op == TRACE_OP_UNLOCK ? 0x1000 + below(s, 2) * 8ull
										 : object(s);
	if (event.op == TRACE_OP_ALLOC)
		event.value = below(s, 2) ? 32 : 64;
	if (event.op == TRACE_OP_UNIT_BEGIN || event.op == TRACE_OP_UNIT_END)
		event.address = below(s, 2);
	add(s, event);
}

static void enter(struct script *s, uint32_t thread, uint32_t function, uint64_t receiver)
{
	add(s, (struct trace_event){
		       .kind = TRACE_ENTER, .thread = thread, .function = function, .address = receiver});
	s->depth[thread]++;
}

enum how { IN_UNITS, OUTSIDE, COPYING };

static void make(struct script *s, const struct trace *trace, uint64_t seed, enum how how)
{
	bool outside = how == OUTSIDE;
	uint32_t frames;

	memset(s, 0, sizeof *s);
	s->random = seed;
	s->copies = how == COPYING;
	s->wide = 1 + below(s, OBJECTS);
	s->lowest = outside ? 1 : 2;
	for (uint32_t t = 0; t < THREADS; t++) {
		add(s, (struct trace_event){
			       .kind = TRACE_OP, .op = TRACE_OP_START, .thread = t, .site = TRACE_NO_SITE});
		/* What a thread begins with is no unit, and what that calls is. */
		for (unsigned i = 0; i < 2 && !outside; i++)
			enter(s, t, i ? UNIT : START, 0);
	}
	for (uint32_t i = 0; i < s->wide && s->copies; i++)
		add(s, (struct trace_event){.kind = TRACE_OP,
					    .op = TRACE_OP_ALLOC,
					    .site = TRACE_NO_SITE,
					    .address = HEAP + 64ull * i,
					    .value = 64});
	while (s->count < EVENTS) {
		uint32_t thread = below(s, THREADS), what = below(s, 100);

		if (what < 70) {
			add_access(s, trace, thread);
		} else if (what < 80 && s->depth[thread] < MOST_DEPTH) {
			uint32_t function = below(s, functions);

			/* Whatever is done in a call of this one is done outside any unit. */
			if (!outside && function == START)
				function = UNIT;
			enter(s, thread, function, below(s, 4) ? object(s) : 0);
		} else if (what < 90 && s->depth[thread] > s->lowest) {
			frames = 1 + below(s, s->depth[thread] - s->lowest);
			add(s, (struct trace_event){.kind = TRACE_EXIT, .thread = thread, .frames = frames});
			s->depth[thread] -= frames;
		} else if (what >= 90) {
			add_op(s, thread);
		}
	}
}

/* A thread begins, with a call that is no unit and one that is. */
static void start(struct script *s, uint32_t thread)
{
	add(s, (struct trace_event){.kind = TRACE_OP,
				    .op = TRACE_OP_START,
				    .thread = thread,
				    .site = TRACE_NO_SITE,
				    .prefixes = thread ? 1 << TRACE_PREFIX_OTHER : 0});
	s->depth[thread] = 0;
	enter(s, thread, thread ? START : first_function, 0);
	enter(s, thread, UNIT, 0);
	s->here[thread] = true;
	s->coming[thread] = false;
}

static void add_thread_op(struct script *s, uint32_t thread, uint8_t op)
{
	add(s, (struct trace_event){
		       .kind = TRACE_OP, .op = op, .thread = thread, .stamped = true, .site = TRACE_NO_SITE});
}

/* Threads come and go; the first is alone for long, at the beginning and now and then. */
static void make_coming(struct script *s, const struct trace *trace, uint64_t seed)
{
	memset(s, 0, sizeof *s);
	s->random = seed;
	s->wide = 1 + below(s, OBJECTS);
	s->lowest = 2;
	start(s, 0);
	while (s->count < EVENTS) {
		uint32_t thread = below(s, THREADS), what = below(s, 100);

		if (s->coming[thread] && what < 20) {
			start(s, thread);
		} else if (s->coming[thread] && what < 22) {
			add_thread_op(s, 0, TRACE_OP_CREATE_FAILED);
			s->coming[thread] = false;
		} else if (!s->here[thread] && !s->coming[thread] && what < 3) {
			add_thread_op(s, 0, TRACE_OP_CREATE);
			s->coming[thread] = true;
		} else if (!s->here[thread]) {
			add_access(s, trace, 0);
		} else if (thread && what < 4) {
			add_thread_op(s, thread, TRACE_OP_END);
			s->here[thread] = false;
		} else if (what < 75) {
			add_access(s, trace, thread);
		} else if (what < 84 && s->depth[thread] < MOST_DEPTH) {
			uint32_t function = below(s, functions);

			enter(s, thread, function == START ? UNIT : function, below(s, 4) ? object(s) : 0);
		} else if (what < 92 && s->depth[thread] > s->lowest) {
			add(s, (struct trace_event){.kind = TRACE_EXIT, .thread = thread, .frames = 1});
			s->depth[thread]--;
		} else if (what >= 92) {
			add_op(s, thread);
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct finding_list *run_all(const struct script *s, struct trace *trace,
				    const struct serial_options *options)
{
	struct finding_list *list = finding_list_new("check");
	struct serial *serial = serial_new(trace, options, list);

	for (size_t i = 0; i < s->count; i++)
		serial_event(serial, &s->events[i]);
	serial_finish(serial);
	serial_free(serial);
	return list;
}

/* The findings, in an order of their own: one access may close several cycles, with units that were told in
 * any order. */
static char *check(const struct script *s, struct trace *trace, const struct serial_options *options)
{
	struct finding_list *list = run_all(s, trace, options);
	char **found, *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	found = calloc(list->finding_count + 1, sizeof *found);
	for (uint32_t i = 0; i < list->finding_count; i++)
		if (asprintf(&found[i], "%s %s", list->findings[i].id, list->findings[i].title) < 0)
			abort();
	qsort(found, list->finding_count, sizeof *found, by_text);
	for (uint32_t i = 0; i < list->finding_count; i++) {
		fprintf(out, " %s\n", found[i]);
		free(found[i]);
	}
	free(found);
	fclose(out);
	finding_list_free(list);
	return text;
}

/* What is found must be the same if the engine hears of all units; with `any`, whether something is. Returns
 * that. */
static bool compare_one(const struct script *script, struct trace *trace,
			const struct serial_options *options, uint64_t seed, bool any)
{
	struct serial_options all = *options;
	char *with, *without;
	bool found;

	all.all_units = true;
	with = check(script, trace, options);
	without = check(script, trace, &all);
	found = *with != 0;
	if (any ? found != (*without != 0) : strcmp(with, without) != 0)
		fail_msg("seed %lu:\n%sbut if the engine hears of all units:\n%s", seed, with, without);
	free(with);
	free(without);
	return found;
}

static void compare(const struct serial_options *options, enum how how)
{
	struct trace *trace = tables();
	static struct script script;
	unsigned found = 0;

	for (unsigned run = 0; run < RUNS + sizeof hard / sizeof *hard; run++) {
		uint64_t seed = run < RUNS ? run + 1 : hard[run - RUNS];

		make(&script, trace, seed, how);
		found += compare_one(&script, trace, options, seed, how == OUTSIDE);
	}
	/* Where nothing is found, nothing is compared. */
	assert_true(found > RUNS / 10);
	trace_close(trace);
}

static void all_in_units(void **state)
{
	(void)state;
	/* Whether an iteration of a loop reads again what it read depends on cells, too. */
	compare(&(struct serial_options){.engine = CHECK_CONFLICT_GRAPH, .model = {.keep_loop_units = true}},
		IN_UNITS);
	compare(&(struct serial_options){.engine = CHECK_CONFLICT_GRAPH,
					 .conflicts_only = true,
					 .model = {.keep_units_at_waits = true, .keep_loop_units = true}},
		IN_UNITS);
}

static void structs_are_copied(void **state)
{
	(void)state;
	compare(&(struct serial_options){.engine = CHECK_CONFLICT_GRAPH, .model = {.keep_loop_units = true}},
		COPYING);
}

static void threads_come_and_go(void **state)
{
	static struct script script;
	struct trace *trace = tables();
	unsigned found = 0;

	(void)state;
	for (unsigned run = 0; run < RUNS + sizeof hard_coming / sizeof *hard_coming; run++) {
		uint64_t seed = run < RUNS ? run + 1 : hard_coming[run - RUNS];
		struct serial_options options = {
			.engine = CHECK_CONFLICT_GRAPH,
			.model = {.keep_loop_units = true, .keep_units_at_waits = seed % 4 == 1}};

		make_coming(&script, trace, seed);
		found += compare_one(&script, trace, &options, seed, false);
	}
	assert_true(found > RUNS / 10);
	trace_close(trace);
}

static void some_outside(void **state)
{
	(void)state;
	compare(&(struct serial_options){.engine = CHECK_CONFLICT_GRAPH}, OUTSIDE);
	compare(&(struct serial_options){.engine = CHECK_AERODROME}, OUTSIDE);
}

static void sections_are_units(void **state)
{
	(void)state;
	compare(&(struct serial_options){.engine = CHECK_CONFLICT_GRAPH,
					 .model = {.units = MODEL_UNITS_SECTIONS}},
		OUTSIDE);
}

/* ---- notes of a unit that has ended, and bytes that are somebody else's by now ---- */

/* Functions whose receiver is a list; the last members of a list, and of the nodes that it has a pointer to.
 */
enum { LAST = 3, LIST = 0, FREED, LATER, ALL };

static uint32_t site_of(const struct trace *trace, uint8_t kind, const char *type, uint8_t base_kind)
{
	struct trace_site site;

	for (uint32_t i = 0; i < sites; i++)
		if (!trace_site(trace, i, &site, NULL) && site.kind == kind && site.type &&
		    !strcmp(site.type, type) && site.offset == 8 * LAST && site.base_kind == base_kind)
			return i;
	fail_msg("there is no such site");
	return 0;
}

static void add_member(struct script *s, const struct trace *trace, uint32_t thread, uint8_t kind,
		       uint32_t number)
{
	add(s,
	    (struct trace_event){.kind = TRACE_ACCESS,
				 .thread = thread,
				 .site = number == LIST ? site_of(trace, kind, "list", ATOMSAN_BASE_RECEIVER)
							: site_of(trace, kind, "node", ATOMSAN_BASE_MEMBER),
				 .access = kind,
				 .value = 8,
				 .address = HEAP + 64ull * number + 8ull * LAST});
}

static void add_memory(struct script *s, uint32_t thread, uint8_t op, uint32_t number)
{
	add(s, (struct trace_event){.kind = TRACE_OP,
				    .thread = thread,
				    .stamped = true,
				    .site = TRACE_NO_SITE,
				    .op = op,
				    .value = op == TRACE_OP_ALLOC ? 32 : 0,
				    .address = HEAP + 64ull * number});
}

static void leave(struct script *s, uint32_t thread)
{
	add(s, (struct trace_event){.kind = TRACE_EXIT, .thread = thread, .frames = 1});
}

/*
 * The second thread's unit comes after one that is open, so what it noted matters when it
 * has ended. One of the list's nodes is freed, and another is made in its place. The
 * third thread writes that one, which the unit had nothing to do with, and meets the
 * fourth there, so that the engine knows of it. Only then it meets the unit: it comes
 * after it, and not before it as well.
 */
static void make_reused(struct script *s, const struct trace *trace, bool frees)
{
	memset(s, 0, sizeof *s);
	for (uint32_t t = 0; t < THREADS; t++) {
		add(s, (struct trace_event){
			       .kind = TRACE_OP, .op = TRACE_OP_START, .thread = t, .site = TRACE_NO_SITE});
		enter(s, t, START, 0);
	}
	for (uint32_t i = LIST; i < ALL; i++)
		add_memory(s, 0, TRACE_OP_ALLOC, i);
	/* The nodes become the list's. */
	enter(s, 0, UNIT, HEAP + 64ull * LIST);
	for (uint32_t i = LIST; i < ALL; i++)
		add_member(s, trace, 0, ATOMSAN_READ, i);
	leave(s, 0);
	for (uint32_t t = 0; t < THREADS; t++)
		enter(s, t, UNIT, HEAP + 64ull * LIST);
	add_member(s, trace, 0, ATOMSAN_WRITE, LIST);
	add_member(s, trace, 1, ATOMSAN_READ, LIST);
	add_member(s, trace, 1, ATOMSAN_WRITE, FREED);
	add_member(s, trace, 1, ATOMSAN_WRITE, LATER);
	leave(s, 1);
	if (frees) {
		add_memory(s, 2, TRACE_OP_FREE, FREED);
		add_memory(s, 2, TRACE_OP_ALLOC, FREED);
	}
	add_member(s, trace, 2, ATOMSAN_WRITE, FREED);
	add_member(s, trace, 3, ATOMSAN_READ, FREED);
	add_member(s, trace, 2, ATOMSAN_READ, LATER);
}

static void freed_bytes_are_told_first(void **state)
{
	struct trace *trace = tables();
	static struct script script;

	(void)state;
	for (int all_units = 0; all_units < 2; all_units++) {
		struct serial_options options = {.engine = CHECK_CONFLICT_GRAPH, .all_units = all_units};
		char *found;

		make_reused(&script, trace, true);
		found = check(&script, trace, &options);
		assert_string_equal(found, "");
		free(found);
		/* It is the one node all the time, and the first thread's unit comes after the third's. */
		make_reused(&script, trace, false);
		add_member(&script, trace, 0, ATOMSAN_READ, FREED);
		add_member(&script, trace, 2, ATOMSAN_READ, LIST);
		found = check(&script, trace, &options);
		assert_string_not_equal(found, "");
		free(found);
	}
	trace_close(trace);
}

/* ---- copies of which a part was noted before ---- */

static void add_copy(struct script *s, uint32_t thread, uint8_t kind, uint32_t offset, uint32_t size)
{
	add(s, (struct trace_event){.kind = TRACE_ACCESS,
				    .thread = thread,
				    .site = first_copy + (kind == ATOMSAN_READ),
				    .access = kind,
				    .value = size,
				    .address = HEAP + offset});
}

/*
 * Two units on one object, of which the second has written its end. With `parts`, half
 * of a granule is the member of a struct and the other one is no member. The first
 * unit has read what the second one reads later, and written what lies beside it. If
 * it `writes` both in one, each comes before the other.
 */
static void make_copied(struct script *s, const struct trace *trace, bool parts, bool writes)
{
	memset(s, 0, sizeof *s);
	add_memory(s, 0, TRACE_OP_ALLOC, 0);
	for (uint32_t t = 0; t < 2; t++) {
		add(s, (struct trace_event){
			       .kind = TRACE_OP, .op = TRACE_OP_START, .thread = t, .site = TRACE_NO_SITE});
		enter(s, t, START, 0);
		enter(s, t, UNIT, HEAP);
	}
	add_member(s, trace, 0, ATOMSAN_READ, LIST);
	add_copy(s, 1, ATOMSAN_WRITE, 0, 8);
	if (parts) {
		uint32_t half = site_of(trace, ATOMSAN_READ, "list", ATOMSAN_BASE_RECEIVER) - 3;

		/* Of members of 1, 2, 4 and 8 bytes the third. */
		add(s, (struct trace_event){.kind = TRACE_ACCESS,
					    .site = half,
					    .access = ATOMSAN_READ,
					    .value = 4,
					    .address = HEAP + 16});
		add_copy(s, 0, ATOMSAN_WRITE, 20, 4);
		add_copy(s, 0, ATOMSAN_WRITE, 8, 8);
	} else {
		add_copy(s, 0, ATOMSAN_READ, 16, 8);
		add_copy(s, 0, ATOMSAN_WRITE, 8, 8);
	}
	if (writes)
		add_copy(s, 0, ATOMSAN_WRITE, 8, 16);
	add_copy(s, 1, ATOMSAN_READ, 16, 4);
	add_copy(s, 0, ATOMSAN_READ, 0, 8);
}

static void copies_are_noted_wholly(void **state)
{
	struct trace *trace = tables();
	static struct script script;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct serial_options options = {.engine = CHECK_CONFLICT_GRAPH, .all_units = i & 1};
		char *found;

		make_copied(&script, trace, i & 2, i & 4);
		found = check(&script, trace, &options);
		assert_int_equal(*found != 0, (i & 4) != 0);
		free(found);
	}
	trace_close(trace);
}

/* ---- bytes that are in several notes ---- */

static void add_read(struct script *s, uint32_t site, uint32_t offset, uint32_t size)
{
	add(s, (struct trace_event){.kind = TRACE_ACCESS,
				    .thread = 1,
				    .site = first_copy + site,
				    .access = ATOMSAN_READ,
				    .value = size,
				    .address = HEAP + offset});
}

/*
 * The second thread's unit reads some bytes from two places in the source, and then
 * others, so that where few notes are many they are tidied. At last the first one's
 * writes the bytes that were read twice: it is before the other and after it.
 */
static void make_read_twice(struct script *s, const struct trace *trace, const uint32_t *places)
{
	memset(s, 0, sizeof *s);
	add_memory(s, 0, TRACE_OP_ALLOC, 0);
	for (uint32_t t = 0; t < 2; t++) {
		add(s, (struct trace_event){
			       .kind = TRACE_OP, .op = TRACE_OP_START, .thread = t, .site = TRACE_NO_SITE});
		enter(s, t, START, 0);
	}
	/* A granule is one cell from then on. */
	enter(s, 0, UNIT, HEAP);
	add_copy(s, 0, ATOMSAN_WRITE, 0, 24);
	leave(s, 0);
	for (uint32_t t = 0; t < 2; t++)
		enter(s, t, UNIT, HEAP);
	add_member(s, trace, 0, ATOMSAN_WRITE, LIST);
	add_member(s, trace, 1, ATOMSAN_READ, LIST);
	add_read(s, places[0], 8, 4);
	add_read(s, places[1], 9, 4);
	for (uint32_t size = 1; size < 4; size++)
		add_read(s, places[0], 16 + size * size - size, size);
	add_copy(s, 0, ATOMSAN_WRITE, 9, 3);
}

static void first_reads_are_told_first(void **state)
{
	/* Copies of the one type and of the other, in either order: by whichever is sorted. */
	static const uint32_t places[][2] = {{2, 6}, {6, 2}};
	struct trace *trace = tables();
	static struct script script;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct serial_options options = {.engine = CHECK_CONFLICT_GRAPH, .all_units = i & 1};
		struct finding_list *list;

		make_read_twice(&script, trace, places[i >> 1]);
		list = run_all(&script, trace, &options);
		assert_int_equal(list->finding_count, 1);
		assert_int_equal(list->findings[0].access_count, 4);
		/* Lines are numbered as the sites are. */
		assert_int_equal(list->findings[0].accesses[2].place.line, 999 + places[i >> 1][0]);
		finding_list_free(list);
	}
	trace_close(trace);
}

/* A block is filled. Then two units come before each other: one at its beginning, the other in the middle,
 * where a block of its own may lie. */
static void make_filled(struct script *s, bool nested)
{
	memset(s, 0, sizeof *s);
	for (uint32_t t = 0; t < 2; t++) {
		add(s, (struct trace_event){
			       .kind = TRACE_OP, .op = TRACE_OP_START, .thread = t, .site = TRACE_NO_SITE});
		enter(s, t, START, 0);
	}
	for (uint32_t i = 0; i <= nested; i++)
		add(s, (struct trace_event){.kind = TRACE_OP,
					    .site = TRACE_NO_SITE,
					    .op = TRACE_OP_ALLOC,
					    .value = i ? 16 : 64,
					    .address = HEAP + 16ull * i});
	enter(s, 0, UNIT, 0);
	add_copy(s, 0, ATOMSAN_WRITE, 0, 64);
	leave(s, 0);
	for (uint32_t t = 0; t < 2; t++)
		enter(s, t, UNIT, 0);
	add_copy(s, 0, ATOMSAN_WRITE, 0, 8);
	add_copy(s, 1, ATOMSAN_READ, 0, 8);
	add_copy(s, 1, ATOMSAN_WRITE, 16, 8);
	add_copy(s, 0, ATOMSAN_READ, 16, 8);
}

static void blocks_are_filled_in_one(void **state)
{
	struct trace *trace = tables();
	static struct script script;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct serial_options options = {.engine = CHECK_CONFLICT_GRAPH, .all_units = i & 1};
		char *found;

		make_filled(&script, i & 2);
		found = check(&script, trace, &options);
		assert_int_equal(*found != 0, !(i & 2));
		free(found);
	}
	trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_in_units),
					   cmocka_unit_test(structs_are_copied),
					   cmocka_unit_test(threads_come_and_go),
					   cmocka_unit_test(some_outside),
					   cmocka_unit_test(sections_are_units),
					   cmocka_unit_test(freed_bytes_are_told_first),
					   cmocka_unit_test(copies_are_noted_wholly),
					   cmocka_unit_test(first_reads_are_told_first),
					   cmocka_unit_test(blocks_are_filled_in_one)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
