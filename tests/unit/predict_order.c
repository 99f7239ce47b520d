/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What synchronisation other than locks rules out, and for which reason it is
 * counted; what makes a lock of a semaphore; and what the observed run looks
 * like with few context switches.
 */
#include "predict/predict.h"
#include "predict/synth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A run that is written down event by event. */
struct run {
	struct history h;
	struct predict p;
};

static void begin(struct run *r)
{
	history_init(&r->h);
	history_set(&r->h);
}

static uint32_t unit(struct run *r, uint32_t thread)
{
	uint32_t number = history_unit(&r->h, thread, 0);

	r->h.units[number].rule = 1;
	return number;
}

static void event(struct run *r, uint32_t thread, enum history_kind kind, uint32_t object)
{
	history_add(&r->h, (struct history_event){.thread = thread,
						  .kind = kind,
						  .object = object,
						  .site = 1000 + r->h.count,
						  .time = r->h.count + 1});
}

static void access_at(struct run *r, uint32_t thread, uint32_t in, char op, uint32_t variable, uint32_t site)
{
	history_add(&r->h, (struct history_event){.thread = thread,
						  .kind = op == 'R' ? HISTORY_READ : HISTORY_WRITE,
						  .object = variable,
						  .unit = in,
						  .site = site,
						  .time = r->h.count + 1});
}

static void end(struct run *r)
{
	history_finish(&r->h);
	predict_init(&r->p, &r->h, &(struct predict_options){0});
	predict_run(&r->p);
}

static void release(struct run *r)
{
	predict_release(&r->p);
	history_release(&r->h);
}

/*
 * Thread 0 has a unit that writes x twice, then lets thread 1 go by `go`;
 * thread 1 reads x before (place 3), which may come in between, and once it was
 * let go (place 4), when it is too late.
 */
static void ordered_by(enum history_kind stop, enum history_kind go, enum history_kind gone,
		       enum order_reason reason)
{
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h), u = unit(&r, 0);

	history_semaphore(&r.h, 0);
	access_at(&r, 1, 0, 'R', x, 3);
	if (stop != HISTORY_KINDS)
		event(&r, 1, stop, 0);
	access_at(&r, 0, u, 'W', x, 1);
	access_at(&r, 0, u, 'W', x, 2);
	event(&r, 0, go, 0);
	event(&r, 1, gone, 0);
	access_at(&r, 1, 0, 'R', x, 4);
	end(&r);
	assert_int_equal(r.p.count, 1);
	assert_int_equal(r.h.events[r.p.predictions[0].accesses[1]].site, 3);
	assert_false(r.p.predictions[0].seen);
	for (unsigned i = 0; i < ORDER_REASON_COUNT; i++)
		assert_int_equal(r.p.counts.impossible[i], i == reason);
	release(&r);
}

static void reasons(void **state)
{
	ordered_by(HISTORY_KINDS, HISTORY_POST, HISTORY_SEM_WAIT, ORDER_SEMAPHORE);
	ordered_by(HISTORY_WAIT, HISTORY_SIGNAL, HISTORY_WAKE, ORDER_CONDITION);
	ordered_by(HISTORY_WAIT, HISTORY_BROADCAST, HISTORY_WAKE, ORDER_CONDITION);
	ordered_by(HISTORY_KINDS, HISTORY_ONCE_END, HISTORY_ONCE_SEEN, ORDER_ONCE);
	ordered_by(HISTORY_TEST, HISTORY_SET, HISTORY_TEST, ORDER_FLAG);
}

static void pointer(struct run *r, uint32_t thread, char op, uint32_t variable, uint32_t points)
{
	access_at(r, thread, 0, op, variable, 1000 + r->h.count);
	r->h.events[r->h.count - 1].points = points;
}

enum way { HANDED, ALREADY_THERE, ALSO_ELSEWHERE, READ_FROM_ELSEWHERE, KEPT, WAYS };

/*
 * Thread 0 has a unit that writes x, in a block, twice, and then puts a pointer
 * to the block into q, where thread 1 finds it and reads x (place 4): too late to come in
 * between, unless thread 1 had another way to the block.
 */
static void by_pointer(void **state)
{
	enum { BLOCK = 1 };

	for (enum way way = HANDED; way < WAYS; way++) {
		struct run r;

		begin(&r);
		uint32_t x = history_variable(&r.h), q = history_variable(&r.h), p = history_variable(&r.h);
		uint32_t u = unit(&r, 0);

		r.h.variables[x].block = BLOCK - 1;
		pointer(&r, 0, 'W', p, 0);
		if (way != READ_FROM_ELSEWHERE)
			pointer(&r, 1, 'R', p, way == ALSO_ELSEWHERE ? BLOCK : 0);
		access_at(&r, 1, 0, 'R', x, 3);
		access_at(&r, 0, u, 'W', x, 1);
		access_at(&r, 0, u, 'W', x, 2);
		if (way == READ_FROM_ELSEWHERE)
			pointer(&r, 1, 'R', p, BLOCK);
		pointer(&r, 0, 'W', q, way == ALREADY_THERE ? BLOCK : 0);
		pointer(&r, 1, 'R', q, way == KEPT ? 0 : BLOCK);
		access_at(&r, 1, 0, 'R', x, 4);
		end(&r);
		assert_int_equal(r.p.count, way == HANDED ? 1 : 2);
		if (way == HANDED)
			assert_int_equal(r.h.events[r.p.predictions[0].accesses[1]].site, 3);
		assert_int_equal(r.p.counts.impossible[ORDER_HANDOVER], way == HANDED);
		release(&r);
	}
}

/* Atomic data that is stored more than once, or not with release, or loaded by who does not care, is no flag.
 */
static void no_flag(void **state)
{
	static const enum history_kind stores[] = {HISTORY_SET, HISTORY_RELEASE, HISTORY_EXCHANGE,
						   HISTORY_KINDS};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 2; k++) {
			struct run r;

			begin(&r);
			uint32_t x = history_variable(&r.h), u = unit(&r, 0);

			access_at(&r, 0, u, 'W', x, 1);
			access_at(&r, 0, u, 'W', x, 2);
			event(&r, 0, HISTORY_SET, 0);
			if (stores[i] != HISTORY_KINDS)
				event(&r, 2, stores[i], 0);
			event(&r, 1, k ? HISTORY_TEST : HISTORY_ACQUIRE, 0);
			access_at(&r, 1, 0, 'R', x, 3);
			end(&r);
			assert_int_equal(r.p.count, !(k && stores[i] == HISTORY_KINDS));
			release(&r);
		}
}

/* A flag may be set by an exchange that releases, and who waits for it may mark it. */
static void exchanged_flag(void **state)
{
	static const struct {
		enum history_kind set, mark;
		bool flag;
	} cases[] = {
		{HISTORY_SWAP, HISTORY_KINDS, true},
		{HISTORY_SWAP, HISTORY_MARK, true},
		{HISTORY_SET, HISTORY_MARK, true},
		{HISTORY_EXCHANGE, HISTORY_MARK, false}, /* a count, perhaps */
		{HISTORY_SWAP, HISTORY_RELEASE, false},
		{HISTORY_SWAP, HISTORY_SWAP, false},
		{HISTORY_MARK, HISTORY_KINDS, false},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r;

		begin(&r);
		uint32_t x = history_variable(&r.h), u = unit(&r, 0);

		access_at(&r, 0, u, 'W', x, 1);
		access_at(&r, 0, u, 'W', x, 2);
		if (cases[i].mark != HISTORY_KINDS)
			event(&r, 1, cases[i].mark, 0);
		event(&r, 0, cases[i].set, 0);
		if (cases[i].mark != HISTORY_KINDS)
			event(&r, 2, cases[i].mark, 0);
		event(&r, 1, HISTORY_TEST, 0);
		access_at(&r, 1, 0, 'R', x, 3);
		end(&r);
		assert_int_equal(r.p.count, !cases[i].flag);
		release(&r);
	}
}

/* Two units with x between an exchange and a store of atomic data: a lock, if it is used as one. */
static void atomic_as_lock(void **state)
{
	enum use { LOCK, ATTEMPTS, MADE, COUNTER, TWICE, ANOTHER, RELAXED, USES };

	for (enum use use = LOCK; use < USES; use++) {
		struct run r;
		bool is_lock = use <= MADE;

		begin(&r);
		uint32_t x = history_variable(&r.h);

		if (use == MADE)
			event(&r, 2, HISTORY_SET, 0);
		for (uint32_t t = 0; t < 2; t++) {
			uint32_t u = unit(&r, t);

			event(&r, t, HISTORY_EXCHANGE, 0);
			if (use == TWICE)
				event(&r, t, HISTORY_EXCHANGE, 0);
			if (use == ATTEMPTS)
				event(&r, 1 - t, HISTORY_EXCHANGE, 0);
			access_at(&r, t, u, 'R', x, 1);
			access_at(&r, t, u, 'W', x, 2);
			if (use == ANOTHER)
				event(&r, 2, HISTORY_SET, 0);
			if (use != COUNTER)
				event(&r, t, use == RELAXED ? HISTORY_RELEASE : HISTORY_SET, 0);
		}
		end(&r);
		assert_int_equal(r.h.lock_count, 1);
		assert_int_equal(r.p.count, is_lock ? 0 : 2);
		release(&r);
	}
}

/* With a second thread that posts, nobody's post is needed. */
static void two_posters(void **state)
{
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h), u = unit(&r, 0);

	history_semaphore(&r.h, 0);
	access_at(&r, 0, u, 'W', x, 1);
	access_at(&r, 0, u, 'W', x, 2);
	event(&r, 0, HISTORY_POST, 0);
	event(&r, 2, HISTORY_POST, 0);
	event(&r, 1, HISTORY_SEM_WAIT, 0);
	access_at(&r, 1, 0, 'R', x, 3);
	end(&r);
	assert_int_equal(r.p.count, 1);
	release(&r);
}

/* A block is filled by who allocated it, and read by who was told of it under a lock. */
static void handed_over(bool told)
{
	struct run r;

	begin(&r);
	uint32_t content = history_variable(&r.h), slot = history_variable(&r.h), u;

	r.h.variables[content].block = 0;
	event(&r, 0, HISTORY_ALLOC, 0);
	if (!told) { /* the lock was given up before the block was filled: others may know of it */
		event(&r, 0, HISTORY_LOCK, 0);
		access_at(&r, 0, 0, 'W', slot, 4);
		event(&r, 0, HISTORY_UNLOCK, 0);
	}
	access_at(&r, 0, 0, 'W', content, 1);
	event(&r, 0, HISTORY_LOCK, 0);
	access_at(&r, 0, 0, 'W', slot, 5);
	event(&r, 0, HISTORY_UNLOCK, 0);
	event(&r, 1, HISTORY_LOCK, 0);
	access_at(&r, 1, 0, 'R', slot, 6);
	event(&r, 1, HISTORY_UNLOCK, 0);
	u = unit(&r, 1);
	access_at(&r, 1, u, 'R', content, 2);
	access_at(&r, 1, u, 'R', content, 3);
	end(&r);
	assert_int_equal(r.p.contend.variables[content], !told);
	assert_int_equal(r.p.count, !told);
	release(&r);
}

static void memory(void **state)
{
	handed_over(true);
	handed_over(false);
}

/*
 * Thread 0 puts two nodes into a list, one by one, each under the lock; it fills in a node when
 * the list leads there already. Thread 1 takes the list under the lock, and goes through it
 * without: it knew of both when it took the list, so it reads nothing that is not filled in. If it has
 * heard something else before it reads the second node, it may have been told of that one only then. And if
 * it does not take the list, but copies the pointer, the copy may grow old.
 */
static void all_of_a_list(void **state)
{
	for (unsigned way = 0; way < 3; way++) {
		struct run r;
		bool heard = way == 1, copied = way == 2;

		begin(&r);
		uint32_t first = history_variable(&r.h), content[2], u;

		for (uint32_t i = 0; i < 2; i++) {
			content[i] = history_variable(&r.h);
			r.h.variables[content[i]].block = i;
		}
		for (uint32_t i = 0; i < 2; i++) {
			u = unit(&r, 0);
			event(&r, 0, HISTORY_ALLOC, i);
			event(&r, 0, HISTORY_LOCK, 0);
			access_at(&r, 0, u, 'R', first, 1);
			access_at(&r, 0, u, 'W', first, 2);
			access_at(&r, 0, u, 'W', content[i], 3);
			event(&r, 0, HISTORY_UNLOCK, 0);
		}
		u = unit(&r, 1);
		event(&r, 1, HISTORY_LOCK, 0);
		access_at(&r, 1, u, 'R', first, 4);
		if (!copied)
			access_at(&r, 1, u, 'W', first, 5);
		event(&r, 1, HISTORY_UNLOCK, 0);
		access_at(&r, 1, u, 'R', content[0], 6);
		if (heard)
			event(&r, 1, HISTORY_ACQUIRE, 0);
		access_at(&r, 1, u, 'R', content[1], 7);
		end(&r);
		assert_int_equal(!!r.p.count, heard || copied);
		release(&r);
	}
}

/* Thread 0 posts between writing x and writing y, and thread 1, which waits for the post, reads both: x is
 * handed over, and what was meant to be one is not. */
static void handed_over_half(void **state)
{
	for (unsigned half = 0; half < 2; half++) {
		struct run r;

		begin(&r);
		uint32_t x = history_variable(&r.h), y = history_variable(&r.h), u = unit(&r, 0);

		history_semaphore(&r.h, 0);
		access_at(&r, 0, u, 'W', x, 1);
		if (half)
			event(&r, 0, HISTORY_POST, 0);
		access_at(&r, 0, u, 'W', y, 2);
		if (!half)
			event(&r, 0, HISTORY_POST, 0);
		event(&r, 1, HISTORY_SEM_WAIT, 0);
		u = unit(&r, 1);
		access_at(&r, 1, u, 'R', x, 3);
		access_at(&r, 1, u, 'R', y, 4);
		end(&r);
		assert_false(r.p.contend.variables[x]);
		assert_int_equal(r.p.contend.variables[y], half);
		assert_int_equal(r.p.count, half);
		release(&r);
	}
}

/*
 * Thread 1 posts while it has a lock, and then writes x. Thread 2 waits for the
 * post, has the lock as well, and lets thread 0 go, whose unit reads x twice. So
 * thread 1 has given the lock back by then, and its write comes first.
 */
static void bystander(void **state)
{
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h), u = unit(&r, 0);

	history_semaphore(&r.h, 0);
	history_semaphore(&r.h, 0);
	event(&r, 1, HISTORY_LOCK, 0);
	event(&r, 1, HISTORY_POST, 0);
	access_at(&r, 1, 0, 'W', x, 3);
	event(&r, 1, HISTORY_UNLOCK, 0);
	event(&r, 2, HISTORY_SEM_WAIT, 0);
	event(&r, 2, HISTORY_LOCK, 0);
	event(&r, 2, HISTORY_UNLOCK, 0);
	event(&r, 2, HISTORY_POST, 1);
	event(&r, 0, HISTORY_SEM_WAIT, 1);
	access_at(&r, 0, u, 'R', x, 1);
	access_at(&r, 0, u, 'R', x, 2);
	end(&r);
	assert_int_equal(r.p.count, 0);
	assert_int_equal(r.p.counts.impossible[ORDER_LOCKS], 1);
	release(&r);
}

/*
 * Thread 1 reads what thread 2 allocated and gave away, and then writes x, which the unit
 * of thread 0 read twice, long before. In the schedule thread 2 comes before
 * thread 1, though nothing makes thread 1 wait.
 */
static void schedules_keep_to_it(void **state)
{
	struct run r;
	struct synth synth;
	struct synth_schedule made;
	uint32_t told = HISTORY_NONE, read = HISTORY_NONE, there = 0;

	begin(&r);
	uint32_t x = history_variable(&r.h), y = history_variable(&r.h), u = unit(&r, 0);

	r.h.variables[y].block = 0;
	access_at(&r, 0, u, 'R', x, 1);
	access_at(&r, 0, u, 'R', x, 2);
	event(&r, 2, HISTORY_ALLOC, 0);
	access_at(&r, 2, 0, 'W', y, 4);
	event(&r, 2, HISTORY_LOCK, 0);
	event(&r, 2, HISTORY_UNLOCK, 0);
	access_at(&r, 1, 0, 'R', y, 5);
	access_at(&r, 1, 0, 'W', x, 3);
	end(&r);
	for (uint32_t i = 0; i < r.h.count; i++) {
		if (r.h.events[i].kind == HISTORY_UNLOCK)
			told = i;
		if (r.h.events[i].site == 5)
			read = i;
	}
	assert_int_equal(r.p.count, 1);
	synth_init(&synth, &r.p);
	assert_true(synth_build(&synth, &r.p.predictions[0], &made));
	for (uint32_t i = 0; i < made.count; i++) {
		if (made.steps[i].thread == 2)
			there = made.steps[i].limit;
		if (made.steps[i].thread == 1 && made.steps[i].limit > read)
			assert_true(there > told);
	}
	assert_true(there > told);
	synth_schedule_release(&made);
	synth_release(&synth);
	release(&r);
}

/* Two units with x between wait and post of one semaphore: a lock if it begins with 1. */
static void semaphore_as_lock(void **state)
{
	for (uint32_t tokens = 1; tokens <= 2; tokens++) {
		struct run r;

		begin(&r);
		uint32_t x = history_variable(&r.h);

		history_semaphore(&r.h, tokens);
		for (uint32_t t = 0; t < 2; t++) {
			uint32_t u = unit(&r, t);

			event(&r, t, HISTORY_SEM_WAIT, 0);
			access_at(&r, t, u, 'R', x, 1);
			access_at(&r, t, u, 'W', x, 2);
			event(&r, t, HISTORY_POST, 0);
		}
		end(&r);
		assert_int_equal(r.h.lock_count, 1);
		assert_int_equal(r.p.count, tokens == 1 ? 0 : 2);
		release(&r);
	}
}

/* One token for two, given out by somebody else: it is no lock, and yet no two can have it. */
static void tokens(void **state)
{
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h);

	history_semaphore(&r.h, 0);
	event(&r, 2, HISTORY_POST, 0);
	for (uint32_t t = 0; t < 2; t++) {
		uint32_t u = unit(&r, t);

		event(&r, t, HISTORY_SEM_WAIT, 0);
		access_at(&r, t, u, 'R', x, 1);
		access_at(&r, t, u, 'W', x, 2);
		event(&r, t, HISTORY_POST, 0);
	}
	end(&r);
	assert_int_equal(r.p.count, 0);
	assert_int_equal(r.p.counts.impossible[ORDER_TOKENS], 2);
	release(&r);
}

/* Threads that only read, or that touch what nobody else does, need not take turns. */
static void few_switches(void **state)
{
	struct synth synth;
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h), y = history_variable(&r.h);

	access_at(&r, 0, 0, 'W', x, 1);
	for (unsigned i = 0; i < 100; i++)
		for (uint32_t t = 0; t < 3; t++)
			access_at(&r, t, 0, 'R', x, 2);
	access_at(&r, 1, 0, 'W', x, 3);
	for (unsigned i = 0; i < 100; i++)
		for (uint32_t t = 0; t < 2; t++)
			access_at(&r, t, 0, t ? 'W' : 'R', y, 4);
	end(&r);
	synth_init(&synth, &r.p);
	/* 300 reads in a block each; but every read of y is between two writes. */
	assert_true(synth.whole.count <= 3 + 1 + 200);
	assert_true(synth.whole.count >= 200);
	synth_release(&synth);
	release(&r);
}

/* The first thread holds a lock when the second one, which it created meanwhile, is in the pattern. */
static void created_under_a_lock(void **state)
{
	struct synth_schedule schedule;
	struct synth synth;
	struct run r;

	begin(&r);
	uint32_t x = history_variable(&r.h), u;

	event(&r, 0, HISTORY_LOCK, 0);
	event(&r, 0, HISTORY_CREATE, 1);
	event(&r, 0, HISTORY_CREATE, 2);
	u = unit(&r, 1);
	access_at(&r, 1, u, 'R', x, 1);
	access_at(&r, 1, u, 'W', x, 2);
	access_at(&r, 2, 0, 'W', x, 3);
	event(&r, 0, HISTORY_UNLOCK, 0);
	end(&r);
	assert_int_equal(r.p.count, 1);
	synth_init(&synth, &r.p);
	assert_true(synth_build(&synth, &r.p.predictions[0], &schedule));
	assert_int_equal(schedule.steps[0].thread, 0);
	synth_schedule_release(&schedule);
	synth_release(&synth);
	release(&r);
}

/* A run with so many threads beside the first, and so many variables. */
static void begin_many(struct run *r, uint32_t threads, uint32_t *variables, uint32_t count)
{
	begin(r);
	for (uint32_t v = 0; v < count; v++)
		variables[v] = history_variable(&r->h);
	for (uint32_t t = 1; t <= threads; t++)
		event(r, 0, HISTORY_CREATE, t);
}

/*
 * Many threads go over the elements of an array: what is predicted grows with
 * the run and not with the number of pairs, of every thread there is
 * something, and what is left out is counted.
 */
static void many_alike(void **state)
{
	enum { THREADS = 90, VARIABLES = 60 };
	bool disturbed[THREADS + 1] = {false}, disturbs[THREADS + 1] = {false};
	uint32_t variables[VARIABLES], with = 0;
	struct run r;

	begin_many(&r, THREADS, variables, VARIABLES);
	for (uint32_t t = 1; t <= THREADS; t++)
		for (uint32_t v = 0; v < VARIABLES; v++) {
			uint32_t u = unit(&r, t);

			access_at(&r, t, u, 'R', variables[v], 1);
			access_at(&r, t, u, 'W', variables[v], 2);
		}
	end(&r);
	assert_int_equal(r.p.count + r.p.counts.alike, THREADS * (THREADS - 1) * VARIABLES);
	assert_true(r.p.count <= r.h.count);
	for (uint32_t i = 0; i < r.p.count; i++) {
		disturbed[r.p.predictions[i].goal.threads[0]] = true;
		disturbs[r.p.predictions[i].goal.threads[1]] = true;
	}
	for (uint32_t t = 1; t <= THREADS; t++)
		with += disturbed[t] && disturbs[t];
	assert_int_equal(with, THREADS);
	release(&r);
}

/* The same where each variable has a lock of its own, which makes every variable a class by itself. */
static void many_locks(void **state)
{
	enum { THREADS = 20, VARIABLES = 100, MOST = 4000 };
	bool disturbed[THREADS + 1] = {false};
	uint32_t variables[VARIABLES], with = 0;
	struct run r;

	begin_many(&r, THREADS, variables, VARIABLES);
	for (uint32_t t = 1; t <= THREADS; t++)
		for (uint32_t v = 0; v < VARIABLES; v++) {
			uint32_t u = unit(&r, t);

			event(&r, t, HISTORY_LOCK, v);
			access_at(&r, t, u, 'R', variables[v], 1);
			event(&r, t, HISTORY_UNLOCK, v);
			event(&r, t, HISTORY_LOCK, v);
			access_at(&r, t, u, 'W', variables[v], 2);
			event(&r, t, HISTORY_UNLOCK, v);
		}
	end(&r);
	assert_int_equal(r.p.count, MOST);
	assert_true(r.p.counts.alike >= THREADS * (THREADS - 1) * VARIABLES - MOST);
	for (uint32_t i = 0; i < r.p.count; i++)
		disturbed[r.p.predictions[i].goal.threads[0]] = true;
	for (uint32_t t = 1; t <= THREADS; t++)
		with += disturbed[t];
	assert_int_equal(with, THREADS);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(two_posters),
		cmocka_unit_test(memory),
		cmocka_unit_test(by_pointer),
		cmocka_unit_test(all_of_a_list),
		cmocka_unit_test(handed_over_half),
		cmocka_unit_test(bystander),
		cmocka_unit_test(schedules_keep_to_it),
		cmocka_unit_test(semaphore_as_lock),
		cmocka_unit_test(no_flag),
		cmocka_unit_test(exchanged_flag),
		cmocka_unit_test(atomic_as_lock),
		cmocka_unit_test(tokens),
		cmocka_unit_test(few_switches),
		cmocka_unit_test(created_under_a_lock),
		cmocka_unit_test(many_alike),
		cmocka_unit_test(many_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
