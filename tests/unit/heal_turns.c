/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who takes which gate first, as src/rt/heal_section.c, heal_early.c and
 * heal_lock.c have it: all interleavings of threads whose whole units read a
 * number and write it one higher, under a lock that has a gate, as the variable
 * has. (How a gate itself is taken is heal_model.c.)
 *
 *   BARE  reads without the lock, writes under it, and locks once more before it
 *         is done. The first one does not know that a lock will be needed.
 *   FREE  reads and writes without a lock.
 *   LINE  stands in line for the variable's gate before it locks, and reads and
 *         writes in two critical sections.
 *   BACK  the same, but holds the lock already when it begins, as who comes back
 *         from waiting for a condition does.
 *
 * Who waits for somebody that waits for it, or must not wait because of the order
 * in which things were taken so far, goes on. That is allowed, and must do no
 * harm: the number is right in the end, what a unit wrote is what it finds, and
 * nobody waits for ever. Each precaution is left out in turn, and then there
 * must be an interleaving in which something is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "state_space.h"

enum { THREADS = 3, ROOM = 1 << 18 };
enum kind { NOBODY, BARE, FREE, LINE, BACK };

/* What is left out. */
enum without {
	NOTHING,
	LOOKING_AGAIN, /* whether the lock is known, when the variable's gate has been waited for */
	GATE_FIRST,    /* who learns which lock it is has its gate before others know */
	FORGETTING,    /* of the order in which the first one took the two */
	LEAVING_LINE,  /* rather than going past the lock's gate */
	WITHOUT_COUNT
};

enum step {
	BEGIN,
	WANT_LOCK_GATE,
	DRAIN,
	WANT_GATE,
	LOOK_AGAIN,
	IN_LINE,
	BEFORE_LOCK, /* at its gate; then at itself */
	LOCK,
	TAKE_HELD, /* the gate of the lock that is held */
	WANT_GATE_HELD,
	READ,
	UNLOCK_READ,
	BEFORE_LOCK_AGAIN,
	LOCK_AGAIN,
	LEARN_FIRST,
	LEARN_THEN,
	WRITE,
	UNLOCK_WRITE,
	BEFORE_LOCK_LAST,
	LOCK_LAST,
	CHECK,
	LEAVE_LOCK_GATE,
	LEAVE_GATE,
	FINISHED
};

struct thread {
	uint8_t kind, step, value;
	uint8_t past; /* it went past the lock's gate */
};

struct state {
	uint8_t number, wrong;
	uint8_t gate, lock_gate, holder;    /* whose; 0: nobody's */
	uint8_t known;                      /* that the end needs the lock */
	uint8_t gate_to_lock, lock_to_gate; /* the order that was seen */
	struct thread threads[THREADS];
};

static enum without without;
static bool moved; /* the step that is looked at does something */

static void add(const struct state *s)
{
	moved = true;
	state_space_add(s);
}

/* ---- who waits for whom ---- */

static bool at_gate(enum step step)
{
	return step == WANT_GATE || step == WANT_GATE_HELD;
}

static bool at_lock_gate(enum step step)
{
	return step == WANT_LOCK_GATE || step == BEFORE_LOCK || step == BEFORE_LOCK_AGAIN ||
	       step == BEFORE_LOCK_LAST;
}

static unsigned waits_for(const struct state *s, unsigned who)
{
	enum step step = s->threads[who - 1].step;

	if (at_gate(step) && s->gate != who)
		return s->gate;
	if (at_lock_gate(step) && s->lock_gate != who)
		return s->lock_gate;
	if (step == LOCK || step == LOCK_AGAIN || step == LOCK_LAST || step == DRAIN)
		return s->holder != who ? s->holder : 0;
	return 0;
}

static bool in_a_circle(const struct state *s, unsigned me)
{
	unsigned other = waits_for(s, me);

	for (unsigned steps = 0; other && steps < THREADS; steps++) {
		if (other == me)
			return true;
		other = waits_for(s, other);
	}
	return other == me;
}

/* ---- the protocol ---- */

static void go(struct state *s, struct thread *t, enum step step)
{
	t->step = (uint8_t)step;
	add(s);
}

/* At the lock's gate, which somebody else has. */
static void wait_before_lock(struct state *s, unsigned me, enum step past)
{
	struct thread *t = &s->threads[me - 1];
	bool in_line = t->step == BEFORE_LOCK && t->kind == LINE && s->gate == me;
	bool forbidden = s->gate == me && s->lock_to_gate;

	if (!forbidden && !in_a_circle(s, me))
		return;
	if (in_line && without != LEAVING_LINE) {
		s->gate = 0;
		add(s);
	} else {
		t->past = 1;
		go(s, t, past);
	}
}

/* One lets go, and where it goes on. */
static void unlock(struct state *s, struct thread *t, enum step then)
{
	s->holder = 0;
	go(s, t, then);
}

/* Who gets it and finds that its gate was closed meanwhile gives it back. */
static void lock(struct state *s, unsigned me, enum step back, enum step then)
{
	struct thread *t = &s->threads[me - 1];

	if (s->holder)
		return;
	if (s->lock_gate && s->lock_gate != me && !t->past) {
		go(s, t, back);
		return;
	}
	t->past = 0;
	s->holder = (uint8_t)me;
	if (s->gate == me && s->lock_gate != me)
		s->gate_to_lock = 1;
	go(s, t, then);
}

static void learn(struct state *s, unsigned me, bool gate)
{
	if (gate && !s->lock_gate)
		s->lock_gate = (uint8_t)me;
	if (!gate) {
		s->known = 1;
		if (without != FORGETTING)
			s->gate_to_lock = 0;
	}
}

/* False: it waits, or is done. */
static bool step(const struct state *before, unsigned me)
{
	struct state copy = *before, *s = &copy;
	struct thread *t = &s->threads[me - 1];
	bool barred = s->lock_gate && s->lock_gate != me;

	moved = false;
	switch ((enum step)t->step) {
	case BEGIN:
		if (t->kind == LINE)
			go(s, t, IN_LINE);
		else if (t->kind == BACK)
			go(s, t, TAKE_HELD);
		else
			go(s, t, t->kind == BARE && s->known ? WANT_LOCK_GATE : WANT_GATE);
		break;
	case WANT_LOCK_GATE:
		if (!s->lock_gate) {
			s->lock_gate = (uint8_t)me;
			go(s, t, DRAIN);
		}
		break;
	case DRAIN:
		if (!s->holder || in_a_circle(s, me))
			go(s, t, WANT_GATE);
		break;
	case WANT_GATE:
	case WANT_GATE_HELD:
		if (!s->gate) {
			s->gate = (uint8_t)me;
			go(s, t, t->step == WANT_GATE ? LOOK_AGAIN : READ);
		} else if ((s->lock_gate == me && s->gate_to_lock) || in_a_circle(s, me)) {
			go(s, t, READ);
		}
		break;
	case LOOK_AGAIN:
		if (t->kind == BARE && s->known && s->lock_gate != me && without != LOOKING_AGAIN) {
			s->gate = 0;
			go(s, t, WANT_LOCK_GATE);
		} else {
			go(s, t, READ);
		}
		break;
	case IN_LINE:
		if (!s->gate) {
			s->gate = (uint8_t)me;
			go(s, t, BEFORE_LOCK);
		}
		break;
	case BEFORE_LOCK:
		if (barred)
			wait_before_lock(s, me, LOCK);
		else
			/* Who has left the line stands in it again. */
			go(s, t, s->gate == me ? LOCK : IN_LINE);
		break;
	case LOCK:
		lock(s, me, BEFORE_LOCK, TAKE_HELD);
		break;
	case TAKE_HELD:
		if (!s->lock_gate)
			s->lock_gate = (uint8_t)me;
		if (s->gate != me)
			s->lock_to_gate = 1;
		go(s, t, s->gate == me ? READ : WANT_GATE_HELD);
		break;
	case READ:
		t->value = s->number;
		go(s, t, t->kind == BARE ? BEFORE_LOCK_AGAIN : t->kind == FREE ? WRITE : UNLOCK_READ);
		break;
	case UNLOCK_READ:
		unlock(s, t, BEFORE_LOCK_AGAIN);
		break;
	case BEFORE_LOCK_AGAIN:
	case BEFORE_LOCK_LAST:
		if (barred)
			wait_before_lock(s, me, t->step == BEFORE_LOCK_LAST ? LOCK_LAST : LOCK_AGAIN);
		else
			go(s, t, t->step == BEFORE_LOCK_LAST ? LOCK_LAST : LOCK_AGAIN);
		break;
	case LOCK_AGAIN:
		lock(s, me, BEFORE_LOCK_AGAIN, t->kind == BARE ? LEARN_FIRST : WRITE);
		break;
	case LEARN_FIRST:
		learn(s, me, without != GATE_FIRST);
		go(s, t, LEARN_THEN);
		break;
	case LEARN_THEN:
		learn(s, me, without == GATE_FIRST);
		go(s, t, WRITE);
		break;
	case WRITE:
		s->number = t->value + 1;
		go(s, t, t->kind == FREE ? LEAVE_GATE : UNLOCK_WRITE);
		break;
	case UNLOCK_WRITE:
		unlock(s, t, t->kind == BARE ? BEFORE_LOCK_LAST : LEAVE_LOCK_GATE);
		break;
	case LOCK_LAST:
		lock(s, me, BEFORE_LOCK_LAST, CHECK);
		break;
	case CHECK:
		s->wrong |= s->number != t->value + 1;
		unlock(s, t, LEAVE_LOCK_GATE);
		break;
	case LEAVE_LOCK_GATE:
		if (s->lock_gate == me)
			s->lock_gate = 0;
		go(s, t, LEAVE_GATE);
		break;
	case LEAVE_GATE:
		if (s->gate == me)
			s->gate = 0;
		t->value = 0;
		go(s, t, FINISHED);
		break;
	case FINISHED:
		break;
	}
	return moved;
}

/* ---- all of them ---- */

struct outcome {
	uint32_t ends, wrong, stuck;
};

static struct outcome explore(const enum kind kinds[THREADS], enum without left_out)
{
	struct outcome outcome = {0};
	struct state start;
	unsigned units = 0;

	memset(&start, 0, sizeof start);
	state_space_clear();
	without = left_out;
	for (unsigned i = 0; i < THREADS; i++) {
		start.threads[i].kind = (uint8_t)kinds[i];
		start.threads[i].step = kinds[i] ? BEGIN : FINISHED;
		units += kinds[i] != NOBODY;
		if (kinds[i] == BACK)
			start.holder = (uint8_t)(i + 1);
	}
	add(&start);
	for (uint32_t at = 0; at < state_space_count(); at++) {
		const struct state *s = state_space_at(at);
		bool end = true, any = false;

		for (unsigned i = 0; i < THREADS; i++) {
			end &= s->threads[i].step == FINISHED;
			any |= step(s, i + 1);
		}
		if (end) {
			outcome.ends++;
			outcome.wrong += s->wrong || s->number != units;
		} else {
			outcome.stuck += !any;
		}
	}
	return outcome;
}

static const enum kind settings[][THREADS] = {
	{BARE, BARE, NOBODY}, {BARE, BARE, BARE},   {BARE, BARE, FREE}, {LINE, LINE, NOBODY},
	{LINE, LINE, LINE},   {BACK, LINE, NOBODY}, {BACK, LINE, LINE},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static void nothing_is_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < SETTINGS; i++) {
		struct outcome outcome = explore(settings[i], NOTHING);

		print_message("setting %zu: %u states, %u ends\n", i, state_space_count(), outcome.ends);
		assert_true(outcome.ends > 0);
		assert_int_equal(outcome.wrong, 0);
		assert_int_equal(outcome.stuck, 0);
	}
}

static void all_of_it_is_needed(void **state)
{
	(void)state;
	for (enum without left_out = NOTHING + 1; left_out < WITHOUT_COUNT; left_out++) {
		bool missed = false;

		for (size_t i = 0; i < SETTINGS && !missed; i++) {
			struct outcome outcome = explore(settings[i], left_out);

			missed = outcome.wrong || outcome.stuck;
		}
		if (!missed)
			fail_msg("leaving out %d does no harm", left_out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_broken),
		cmocka_unit_test(all_of_it_is_needed),
	};
	int failed;

	if (state_space_begin(sizeof(struct state), ROOM))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	state_space_end();
	return failed;
}
