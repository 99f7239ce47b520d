/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The gates of variables as src/rt/heal_gate.c and heal_tell.c have them, step by
 * step, with processors that keep what they write to themselves for a while (a
 * store buffer each, as x86 has it) and a membarrier that empties the others'
 * one after the other. All interleavings of two or three threads are gone
 * through: those with sections read a number and write it one higher, and so does
 * one that accesses it outside of sections. Some sections have the gate before they
 * begin, while accesses still pass. The number is right at the end, and
 * from everywhere there is a way to the end.
 *
 * Each barrier, fence and second look is then left out in turn, and the model
 * must find an interleaving in which the number is wrong: if it did not, either
 * the thing is not needed or the model does not see what it is for. (The owner's
 * look at the word when it goes is for those who sleep; who is awake asks again.)
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

enum { THREADS = 3, BUFFER = 4, MARK = 8 };
enum variable {
	WORD,
	MODE,
	OPENED,
	KEPT,
	ALLOW,
	X,
	TOLD,
	INSIDE = TOLD + THREADS,
	VARIABLES = INSIDE + THREADS
};
enum mode { FENCED, UNFENCED };

/* What is left out. */
enum without {
	NOTHING,
	ASKING_BARRIER, /* of who wants a gate that somebody keeps */
	TAKING_BARRIER, /* before a look at who has told */
	ACCESS_FENCE,   /* of an access to a variable whose gate is fenced */
	SECOND_LOOK,    /* of an owner that comes again */
	COUNTING,       /* of openings */
	EARLY_SCAN,     /* of a section that has stood in line, at its first access */
	WITHOUT_COUNT
};

enum step {
	/* a section */
	BEGIN,
	AGAIN_SAY,
	AGAIN_LOOK,
	AGAIN_TAKE_BACK,
	LOOK,
	TAKE_SAY,
	TAKE,
	TAKE_FAILED,
	CHOOSE,
	EARLY, /* the gate is had, and accesses still pass */
	PAY,
	PAY_BARRIER,
	SCAN,
	READ,
	WRITE,
	END,
	END_SAY,
	END_LOOK,
	OPEN,
	/* whoever finds it closed */
	ASK,
	ASK_LOOK,
	ASK_BARRIER,
	ASK_INSIDE,
	ASK_OPEN,
	ASK_KEPT,
	/* an access */
	TELL,
	TELL_LOOK,
	TELL_FENCE,
	TELL_AGAIN,
	UNTELL,
	PASS,
	ACCESS_READ,
	ACCESS_WRITE,
	ACCESS_DONE,
	FINISHED
};

struct thread {
	uint8_t step, left, seen, opened, value, other, keeps, count;
	uint8_t buffer[BUFFER][2];
};

struct state {
	uint8_t memory[VARIABLES];
	struct thread threads[THREADS];
};

static enum without without;
static bool accesses[THREADS]; /* which of them has no sections */
static bool early;             /* sections may stand in line before they begin */

/* ---- states that have been seen ---- */

enum { ROOM = 1 << 22 };
static uint32_t (*edges)[2]; /* from, to */
static uint32_t edge_count, edge_room;

static void reach(uint32_t from, const struct state *s)
{
	if (edge_count == edge_room) {
		edge_room = edge_room ? 2 * edge_room : 1 << 16;
		edges = realloc(edges, edge_room * sizeof *edges);
		assert_non_null(edges);
	}
	edges[edge_count][0] = from;
	edges[edge_count++][1] = state_space_add(s);
}

/* ---- processors ---- */

static void put(struct thread *t, unsigned variable, unsigned value)
{
	assert_true(t->count < BUFFER);
	t->buffer[t->count][0] = (uint8_t)variable;
	t->buffer[t->count++][1] = (uint8_t)value;
}

static unsigned get(const struct state *s, const struct thread *t, unsigned variable)
{
	for (unsigned i = t->count; i--;)
		if (t->buffer[i][0] == variable)
			return t->buffer[i][1];
	return s->memory[variable];
}

static void flush_one(struct state *s, struct thread *t)
{
	s->memory[t->buffer[0][0]] = t->buffer[0][1];
	t->count--;
	memmove(t->buffer[0], t->buffer[1], sizeof t->buffer[0] * t->count);
	memset(t->buffer[t->count], 0, sizeof t->buffer[0]);
}

static void flush(struct state *s, struct thread *t)
{
	while (t->count)
		flush_one(s, t);
}

static bool exchange(struct state *s, struct thread *t, unsigned expected, unsigned value)
{
	flush(s, t);
	if (s->memory[WORD] != expected)
		return false;
	s->memory[WORD] = (uint8_t)value;
	return true;
}

/* Opens it if it is as it was. */
static bool open_gate(struct state *s, struct thread *t, unsigned expected, unsigned opened)
{
	flush(s, t);
	if (s->memory[WORD] != expected || (s->memory[OPENED] != opened && without != COUNTING))
		return false;
	s->memory[WORD] = 0;
	s->memory[OPENED]++;
	return true;
}

/* ---- the protocol ---- */

static void go(struct state *s, struct thread *t, enum step step, uint32_t from)
{
	t->step = step;
	/* What is not looked at any more makes no two states of one. */
	if (step == BEGIN || step == LOOK || step == TELL || step == FINISHED)
		t->seen = t->opened = t->value = t->other = 0;
	reach(from, s);
}

static void finish_one(struct state *s, struct thread *t, uint32_t from)
{
	t->keeps = 0;
	t->left--;
	go(s, t, !t->left ? FINISHED : accesses[t - s->threads] ? TELL : BEGIN, from);
}

/* One of a barrier's fences. True: it was the last. */
static bool fence_next(struct state *s, struct thread *t)
{
	flush(s, &s->threads[t->other++]);
	return t->other == THREADS;
}

static void step(const struct state *before, unsigned which, uint32_t from)
{
	struct state copy = *before, *s = &copy;
	struct thread *t = &s->threads[which];
	unsigned me = which + 1, word, i;

	/* Full: something has to go out first. No step writes more than two. */
	if (t->count > BUFFER - 2)
		return;
	switch ((enum step)t->step) {
	case BEGIN:
		go(s, t, get(s, t, WORD) == me ? AGAIN_SAY : LOOK, from);
		break;
	case AGAIN_SAY:
		put(t, INSIDE + which, 1);
		t->keeps = (uint8_t)get(s, t, KEPT);
		go(s, t, without == SECOND_LOOK ? READ : AGAIN_LOOK, from);
		break;
	case AGAIN_LOOK:
		go(s, t, get(s, t, WORD) == me ? READ : AGAIN_TAKE_BACK, from);
		break;
	case AGAIN_TAKE_BACK:
		put(t, INSIDE + which, 0);
		go(s, t, LOOK, from);
		break;
	case LOOK:
		word = get(s, t, WORD);
		t->seen = (uint8_t)word;
		if (!word) {
			go(s, t, TAKE_SAY, from);
		} else if ((word & ~MARK) == me) {
			open_gate(s, t, word, s->memory[OPENED]);
			go(s, t, LOOK, from);
		} else {
			struct state again = *s;

			/* Wait a little, or ask. */
			go(&again, &again.threads[which], LOOK, from);
			t->step = ASK;
			reach(from, s);
		}
		break;
	case TAKE_SAY:
		put(t, INSIDE + which, 1);
		go(s, t, TAKE, from);
		break;
	case TAKE:
		go(s, t, exchange(s, t, 0, me) ? CHOOSE : TAKE_FAILED, from);
		break;
	case TAKE_FAILED:
		put(t, INSIDE + which, 0);
		go(s, t, LOOK, from);
		break;
	case CHOOSE:
		for (unsigned keep = 0; keep < 2; keep++) {
			struct state choice = *s;

			put(&choice.threads[which], KEPT, keep);
			put(&choice.threads[which], ALLOW, 0);
			go(&choice, &choice.threads[which], PAY, from);
		}
		if (early) {
			put(t, KEPT, 0);
			put(t, ALLOW, 1);
			go(s, t, EARLY, from);
		}
		break;
	case EARLY:
		put(t, ALLOW, 0);
		go(s, t, without == EARLY_SCAN ? READ : PAY, from);
		break;
	case PAY:
		t->value = (uint8_t)get(s, t, MODE);
		for (unsigned change = 0; change < 2; change++) {
			struct state choice = *s;
			struct thread *chosen = &choice.threads[which];

			if (change)
				put(chosen, MODE, t->value == FENCED ? UNFENCED : FENCED);
			chosen->other = 0;
			if (t->value == FENCED)
				flush(&choice, chosen);
			go(&choice, chosen,
			   t->value == FENCED || without == TAKING_BARRIER ? SCAN : PAY_BARRIER, from);
		}
		break;
	case PAY_BARRIER:
		if (fence_next(s, t))
			t->other = 0, t->step = SCAN;
		reach(from, s);
		break;
	case SCAN:
		if (t->other == which || !get(s, t, TOLD + t->other))
			t->other++;
		go(s, t, t->other == THREADS ? READ : SCAN, from);
		break;
	case READ:
		t->other = 0;
		t->value = (uint8_t)get(s, t, X);
		go(s, t, WRITE, from);
		break;
	case WRITE:
		put(t, X, t->value + 1u);
		go(s, t, END, from);
		break;
	case END:
		t->keeps = (uint8_t)get(s, t, KEPT);
		go(s, t, END_SAY, from);
		break;
	case END_SAY:
		put(t, INSIDE + which, 0);
		go(s, t, t->keeps ? END_LOOK : OPEN, from);
		break;
	case END_LOOK:
		if (get(s, t, WORD) == me) {
			finish_one(s, t, from);
		} else {
			put(t, KEPT, 0);
			go(s, t, OPEN, from);
		}
		break;
	case OPEN:
		word = get(s, t, WORD);
		if ((word & ~MARK) != me || open_gate(s, t, word, s->memory[OPENED]))
			finish_one(s, t, from);
		else
			go(s, t, OPEN, from);
		break;
	case ASK:
		word = t->seen;
		if (!(word & MARK) && !exchange(s, t, word, word | MARK))
			go(s, t, accesses[which] ? PASS : LOOK, from);
		else
			go(s, t, ASK_LOOK, from);
		break;
	case ASK_LOOK:
		t->other = 0;
		t->opened = s->memory[OPENED];
		if (get(s, t, WORD) != (t->seen | MARK))
			go(s, t, accesses[which] ? PASS : LOOK, from);
		else
			go(s, t, without == ASKING_BARRIER ? ASK_INSIDE : ASK_BARRIER, from);
		break;
	case ASK_BARRIER:
		if (fence_next(s, t))
			t->other = 0, t->step = ASK_INSIDE;
		reach(from, s);
		break;
	case ASK_INSIDE:
		i = (t->seen & ~MARK) - 1u;
		go(s, t, get(s, t, INSIDE + i) ? accesses[which] ? PASS : LOOK : ASK_OPEN, from);
		break;
	case ASK_OPEN:
		if (open_gate(s, t, t->seen | MARK, t->opened))
			go(s, t, ASK_KEPT, from);
		else
			go(s, t, accesses[which] ? PASS : LOOK, from);
		break;
	case ASK_KEPT:
		put(t, KEPT, 0);
		go(s, t, accesses[which] ? PASS : LOOK, from);
		break;
	case TELL:
		put(t, TOLD + which, 1);
		go(s, t, TELL_LOOK, from);
		break;
	case TELL_LOOK:
		word = get(s, t, WORD);
		if (get(s, t, MODE) == UNFENCED)
			go(s, t, !word ? ACCESS_READ : TELL_AGAIN, from);
		else
			go(s, t, without == ACCESS_FENCE ? TELL_AGAIN : TELL_FENCE, from);
		break;
	case TELL_FENCE:
		flush(s, t);
		go(s, t, TELL_AGAIN, from);
		break;
	case TELL_AGAIN:
		go(s, t, get(s, t, WORD) && !get(s, t, ALLOW) ? UNTELL : ACCESS_READ, from);
		break;
	case UNTELL:
		put(t, TOLD + which, 0);
		go(s, t, PASS, from);
		break;
	case PASS:
		word = get(s, t, WORD);
		t->seen = (uint8_t)word;
		if (!word || get(s, t, ALLOW)) {
			go(s, t, TELL, from);
		} else {
			struct state again = *s;

			go(&again, &again.threads[which], PASS, from);
			t->step = ASK;
			reach(from, s);
		}
		break;
	case ACCESS_READ:
		t->value = (uint8_t)get(s, t, X);
		go(s, t, ACCESS_WRITE, from);
		break;
	case ACCESS_WRITE:
		put(t, X, t->value + 1u);
		go(s, t, ACCESS_DONE, from);
		break;
	case ACCESS_DONE:
		put(t, TOLD + which, 0);
		finish_one(s, t, from);
		break;
	case FINISHED:
		break;
	}
}

/* ---- all of them ---- */

struct outcome {
	uint32_t states, ends, wrong, stuck;
};

static bool is_end(const struct state *s)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (s->threads[i].step != FINISHED || s->threads[i].count)
			return false;
	return true;
}

/* How many states have no way to an end. */
static uint32_t count_stuck(void)
{
	uint32_t count = state_space_count();
	uint32_t *first = calloc(count + 1, sizeof *first), *into = malloc((edge_count + 1) * sizeof *into);
	uint32_t *work = malloc(count * sizeof *work), pending = 0, good = 0;
	bool *reached = calloc(count, sizeof *reached);

	assert_true(first && into && work && reached);
	for (uint32_t i = 0; i < edge_count; i++)
		first[edges[i][1] + 1]++;
	for (uint32_t i = 0; i < count; i++)
		first[i + 1] += first[i];
	for (uint32_t i = 0; i < edge_count; i++)
		into[first[edges[i][1]]++] = edges[i][0];
	/* Now first[i] is where those of i end. */
	for (uint32_t i = 0; i < count; i++)
		if (is_end(state_space_at(i)))
			reached[i] = true, work[pending++] = i;
	while (pending) {
		uint32_t at = work[--pending];

		good++;
		for (uint32_t k = at ? first[at - 1] : 0; k < first[at]; k++)
			if (!reached[into[k]])
				reached[into[k]] = true, work[pending++] = into[k];
	}
	free(first);
	free(into);
	free(work);
	free(reached);
	return count - good;
}

struct setting {
	uint8_t sections[2], accesses; /* how many each thread makes */
	uint8_t mode, kept;            /* at the start; kept: by the first */
	bool early;
};

static struct outcome explore(const struct setting *setting, enum without left_out)
{
	struct state start;
	struct outcome outcome = {0};
	unsigned sum = setting->sections[0] + setting->sections[1] + setting->accesses;

	memset(&start, 0, sizeof start);
	state_space_clear();
	edge_count = 0;
	without = left_out;
	early = setting->early;
	for (unsigned i = 0; i < THREADS; i++) {
		accesses[i] = i == 2;
		start.threads[i].left = i == 2 ? setting->accesses : setting->sections[i];
		start.threads[i].step = !start.threads[i].left ? FINISHED : i == 2 ? TELL : BEGIN;
	}
	start.memory[MODE] = setting->mode;
	start.memory[KEPT] = setting->kept;
	start.memory[WORD] = setting->kept;
	state_space_add(&start);
	for (uint32_t at = 0; at < state_space_count(); at++) {
		const struct state *s = state_space_at(at);

		for (unsigned i = 0; i < THREADS; i++) {
			struct state next = *s;

			if (next.threads[i].count) {
				flush_one(&next, &next.threads[i]);
				reach(at, &next);
			}
			step(s, i, at);
		}
		if (is_end(s)) {
			outcome.ends++;
			outcome.wrong += s->memory[X] != sum;
		}
	}
	outcome.states = state_space_count();
	outcome.stuck = count_stuck();
	return outcome;
}

static const struct setting settings[] = {
	{{2, 1}, 0, UNFENCED, 1, false}, {{1, 1}, 0, UNFENCED, 0, false}, {{2, 0}, 2, UNFENCED, 1, false},
	{{1, 0}, 2, UNFENCED, 0, false}, {{1, 0}, 2, FENCED, 0, false},   {{1, 1}, 1, UNFENCED, 1, false},
	{{1, 1}, 1, FENCED, 0, false},   {{1, 0}, 2, UNFENCED, 0, true},  {{1, 0}, 2, FENCED, 0, true},
	{{1, 1}, 1, UNFENCED, 0, true},  {{2, 1}, 0, FENCED, 1, false},   {{2, 0}, 2, FENCED, 1, false},
	{{1, 1}, 1, FENCED, 1, false},
};

static void nothing_is_lost(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct outcome outcome = explore(&settings[i], NOTHING);

		print_message("setting %zu: %u states, %u ends\n", i, outcome.states, outcome.ends);
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

		for (size_t i = 0; i < sizeof settings / sizeof *settings && !missed; i++) {
			struct outcome outcome = explore(&settings[i], left_out);

			missed = outcome.wrong || outcome.stuck;
		}
		if (!missed)
			fail_msg("leaving out %d does no harm", left_out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(all_of_it_is_needed),
	};
	int failed;

	if (state_space_begin(sizeof(struct state), ROOM))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	state_space_end();
	free(edges);
	return failed;
}
