/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Invariants of small random runs, against a look at every two accesses and at all that lies between them. */
#include "atomicity/atomicity.h"
#include "learn/pairs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 40, THREADS = 3, RUNS = 20000 };

enum what { ENTER, LEAVE, ACCESS, FORGET, WAIT };

struct event {
	enum what what;
	uint32_t thread, place, unit;
	bool transparent;
	uint64_t address, length;
	unsigned kind; /* one: an update is two events here */
};

static uint64_t state;

static uint32_t below(uint32_t limit)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % limit;
}

static uint32_t make(struct event *events)
{
	uint32_t count = 0, depth[THREADS] = {0};

	while (count < EVENTS - 1) {
		uint32_t thread = below(THREADS), choice = below(10);
		struct event e = {.thread = thread};

		if (choice == 0 || (choice == 1 && !depth[thread])) {
			e.what = ENTER;
			e.unit = 1 + below(3);
			e.transparent = !below(4);
			depth[thread]++;
		} else if (choice == 1) {
			e.what = LEAVE;
			depth[thread]--;
		} else if (choice == 2 && !below(4)) {
			e.what = FORGET;
			e.address = 64;
			e.length = 8 + below(2) * 8;
		} else if (choice == 2 && !below(4)) {
			e.what = WAIT;
		} else {
			static const uint64_t lengths[] = {8, 4, 1, 12};

			e.what = ACCESS;
			e.place = below(4);
			e.length = lengths[below(10) ? 0 : below(4)];
			e.address = 64 + (below(10) ? below(2) * 8 : below(16));
			e.kind = 1 + below(2);
			/* An update: both. */
			if (!below(4)) {
				e.kind = ATOMICITY_READ;
				events[count++] = e;
				e.kind = ATOMICITY_WRITE;
			}
		}
		events[count++] = e;
	}
	return count;
}

static bool overlap(const struct event *a, const struct event *b)
{
	return a->address < b->address + b->length && b->address < a->address + a->length;
}

/* FORGET takes whole granules. */
static bool forgets(const struct event *f, const struct event *e)
{
	uint64_t begin = f->address & ~7ull, end = (f->address + f->length + 7) & ~7ull;

	return f->what == FORGET && e->address < end && begin < e->address + e->length;
}

struct call {
	uint32_t at, unit; /* event that began it */
	bool found;
};

/* The innermost call around the event that is a unit. */
static struct call call_of(const struct event *events, uint32_t at)
{
	uint32_t closed = 0;

	for (uint32_t i = at; i--;) {
		if (events[i].thread != events[at].thread)
			continue;
		if (events[i].what == LEAVE)
			closed++;
		else if (events[i].what == ENTER && closed)
			closed--;
		else if (events[i].what == ENTER && !events[i].transparent)
			return (struct call){i, events[i].unit, true};
	}
	return (struct call){0, 0, false};
}

static bool left_between(const struct event *events, uint32_t thread, struct call call, uint32_t until)
{
	int depth = 0;

	for (uint32_t i = call.at; i < until && call.found; i++) {
		if (events[i].thread != thread)
			continue;
		depth += events[i].what == ENTER;
		depth -= events[i].what == LEAVE;
		if (!depth)
			return true;
	}
	return false;
}

static struct pairs_pair expected[EVENTS * EVENTS];
static uint32_t expected_count;

static void expect(struct pairs_pair pair, bool broken)
{
	struct pairs_pair *p = expected;

	while (p < expected + expected_count &&
	       (p->first != pair.first || p->last != pair.last || p->first_kind != pair.first_kind ||
		p->last_kind != pair.last_kind || p->unit != pair.unit))
		p++;
	if (p == expected + expected_count) {
		*p = pair;
		expected_count++;
	}
	p->times += !broken;
	p->broken += broken;
}

static void look_at_all(const struct event *events, uint32_t count)
{
	expected_count = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = i + 1; k < count; k++) {
			const struct event *a = &events[i], *b = &events[k];
			bool between = false, gone = false;
			unsigned others = 0;
			struct call call;

			if (a->what != ACCESS || b->what != ACCESS || a->thread != b->thread || !a->place ||
			    !b->place || a->address != b->address || a->length != b->length)
				continue;
			for (uint32_t n = i + 1; n < k; n++) {
				gone |= forgets(&events[n], a);
				gone |= events[n].what == WAIT && events[n].thread == a->thread;
				if (events[n].what != ACCESS || !overlap(&events[n], a))
					continue;
				between |= events[n].thread == a->thread;
				if (events[n].thread != a->thread)
					others |= events[n].kind;
			}
			call = call_of(events, i);
			if (between || gone || left_between(events, a->thread, call, k))
				continue;
			/* The four that are not serializable, by name. */
			bool broken = (a->kind == 1 && b->kind == 1 && others & 2) ||
				      (a->kind == 2 && b->kind == 1 && others & 2) ||
				      (a->kind == 2 && b->kind == 2 && others & 1) ||
				      (a->kind == 1 && b->kind == 2 && others & 2);

			expect((struct pairs_pair){.first = a->place,
						   .last = b->place,
						   .first_kind = (uint8_t)a->kind,
						   .last_kind = (uint8_t)b->kind,
						   .unit = call.unit},
			       broken);
		}
}

static void feed(struct pairs *pairs, const struct event *events, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &events[i];

		switch (e->what) {
		case ENTER:
			pairs_enter(pairs, e->thread, e->unit, e->transparent);
			break;
		case LEAVE:
			pairs_leave(pairs, e->thread, 1);
			break;
		case ACCESS:
			pairs_access(pairs, e->thread, e->address, e->length, e->kind, e->place);
			break;
		case WAIT:
			pairs_wait(pairs, e->thread);
			break;
		case FORGET:
			pairs_forget(pairs, e->address, e->length);
			break;
		}
	}
}

static bool same(const struct pairs_pair *a, const struct pairs_pair *b)
{
	return a->first == b->first && a->last == b->last && a->first_kind == b->first_kind &&
	       a->last_kind == b->last_kind && a->unit == b->unit && a->times == b->times &&
	       a->broken == b->broken;
}

static void agrees_with_brute_force(void **unused)
{
	uint64_t seen = 0, broken = 0;

	for (uint32_t run = 0; run < RUNS; run++) {
		struct event events[EVENTS + 1];
		struct pairs *pairs = pairs_new(NULL);
		const struct pairs_pair *all;
		uint32_t count, found;

		state = run + 1;
		count = make(events);
		look_at_all(events, count);
		feed(pairs, events, count);
		all = pairs_all(pairs, &found);
		assert_int_equal(found, expected_count);
		for (uint32_t i = 0; i < found; i++) {
			uint32_t k = 0;

			while (k < expected_count && !same(&all[i], &expected[k]))
				k++;
			assert_true(k < expected_count);
			seen += all[i].times;
			broken += all[i].broken;
		}
		pairs_free(pairs);
	}
	/* The runs have what the test is about. */
	assert_true(seen > RUNS && broken > RUNS / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_brute_force)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
