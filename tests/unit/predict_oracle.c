/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prediction against brute force. For thousands of small random programs every
 * state that any execution can reach is known; a pattern is possible if and only
 * if some state lets it happen, and prediction must say exactly that. Each
 * schedule is executed step by step, and must be valid and end in the pattern.
 */
#include "predict/predict.h"
#include "predict/synth.h"
#include "predict_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A pattern over one variable: the unit, the kinds, and f. */
struct key {
	uint32_t unit, variable, kind1, f, kind2;
};

struct keys {
	struct key keys[4096];
	uint32_t count;
};

static bool has_key(const struct keys *keys, struct key key)
{
	for (uint32_t i = 0; i < keys->count; i++)
		if (!memcmp(&keys->keys[i], &key, sizeof(key)))
			return true;
	return false;
}

static void add_key(struct keys *keys, struct key key)
{
	if (has_key(keys, key))
		return;
	assert_true(keys->count < 4096);
	keys->keys[keys->count++] = key;
}

/* Is there a state with thread t between e1 and e2 and thread u right before f? Others may be anywhere. */
static bool meets(const struct program *p, uint32_t t, uint32_t low, uint32_t high, uint32_t u, uint32_t f)
{
	for (uint32_t state = 0; state < p->states; state++) {
		uint32_t at_t = state / p->stride[t] % (p->count[t] + 1);
		uint32_t at_u = state / p->stride[u] % (p->count[u] + 1);

		if (at_u == f && at_t > low && at_t <= high && p->reachable[state])
			return true;
	}
	return false;
}

static void brute_force(const struct program *p, struct keys *keys)
{
	for (uint32_t t = 0; t < p->threads; t++)
		for (uint32_t i = 0; i < p->count[t]; i++)
			for (uint32_t k = i + 1; k < p->count[t]; k++)
				for (uint32_t u = 0; u < p->threads; u++)
					for (uint32_t f = 0; u != t && f < p->count[u]; f++) {
						const struct step *e1 = &p->steps[t][i],
								  *e2 = &p->steps[t][k];
						const struct step *s = &p->steps[u][f];

						if (e1->kind > HISTORY_WRITE || e2->kind > HISTORY_WRITE ||
						    s->kind > HISTORY_WRITE || !e1->unit ||
						    e1->unit != e2->unit || e1->object != e2->object ||
						    e1->object != s->object)
							continue;
						if (s->kind == HISTORY_READ &&
						    (e1->kind == HISTORY_READ || e2->kind == HISTORY_READ))
							continue;
						struct key key = {e1->unit, e1->object, e1->kind,
								  u * MAX_STEPS + f, e2->kind};

						if (!has_key(keys, key) && meets(p, t, i, k, u, f))
							add_key(keys, key);
					}
}

/* Executes a schedule by the program's rules and looks for the accesses of the pattern. */
static void check_schedule(const struct program *p, const struct prediction *prediction,
			   const struct synth_schedule *schedule)
{
	const struct history *h = &p->history;
	uint32_t done[MAX_THREADS] = {0};
	uint32_t order[PREDICT_MAX_ACCESSES], now = 1;

	memset(order, 0, sizeof order);
	for (uint32_t i = 0; i < schedule->count; i++) {
		uint32_t t = schedule->steps[i].thread;

		for (;;) {
			/* Steps that the history dropped happen along the way. */
			uint32_t event = done[t] < p->count[t] ? p->steps[t][done[t]].event : HISTORY_NONE;

			if (done[t] == p->count[t] ||
			    (event != HISTORY_NONE && event >= schedule->steps[i].limit))
				break;
			if (event == HISTORY_NONE) {
				uint32_t rest = done[t];

				while (rest < p->count[t] && p->steps[t][rest].event == HISTORY_NONE)
					rest++;
				if (rest == p->count[t] ||
				    p->steps[t][rest].event >= schedule->steps[i].limit)
					break;
			}
			assert_true(program_step(p, done, t));
			for (uint32_t k = 0; k < prediction->access_count; k++)
				if (prediction->accesses[k] == event)
					order[k] = now;
			now++;
		}
	}
	/* Every target was reached, and nothing of it was passed. */
	for (uint32_t k = 0; k < prediction->goal.count; k++)
		for (uint32_t e = 0; e < h->count; e++)
			if (h->events[e].thread == prediction->goal.threads[k])
				assert_int_equal(program_step_of(p, h->events[e].thread, e) <
							 done[h->events[e].thread],
						 e < prediction->goal.targets[k]);
	if (prediction->kind == PREDICT_SINGLE) {
		assert_true(order[0] && order[1] && !order[2]);
		assert_true(order[0] < order[1]);
	}
}

struct sums {
	uint64_t programs, possible, predicted, schedules, unscheduled, impossible;
};

/*
 * `exact`: what is predicted is possible. Without, there is synchronisation
 * other than locks, about which prediction may be too hopeful: then it must
 * fail to make a schedule of what is impossible.
 */
static void compare(const struct shape *shape, uint32_t programs, uint64_t seed, bool exact,
		    struct sums *sums)
{
	static struct keys possible, predicted;
	struct predict_options options = {.no_pairs = true, .no_cycles = true};

	*sums = (struct sums){0};
	for (uint64_t i = 0; sums->programs < programs; i++) {
		struct program p;
		struct predict predict;
		struct synth synth;

		assert_true(i < programs * 50ull);
		if (!program_make(&p, shape, seed + i)) {
			program_release(&p);
			continue;
		}
		possible.count = predicted.count = 0;
		brute_force(&p, &possible);
		predict_init(&predict, &p.history, &options);
		predict_run(&predict);
		synth_init(&synth, &predict);
		for (uint32_t k = 0; k < predict.count; k++) {
			const struct prediction *x = &predict.predictions[k];
			const struct history_event *events = p.history.events;
			const struct history_event *e1 = &events[x->accesses[0]],
						   *f = &events[x->accesses[1]],
						   *e2 = &events[x->accesses[2]];
			struct key key = {e1->unit, e1->object, e1->kind, f->site - 1, e2->kind};
			struct synth_schedule schedule;
			bool made = synth_build(&synth, x, &schedule);

			if (made) {
				check_schedule(&p, x, &schedule);
				sums->schedules++;
			} else {
				sums->unscheduled++;
			}
			if (exact || has_key(&possible, key))
				assert_true(made);
			else
				assert_false(made);
			add_key(&predicted, key);
			synth_schedule_release(&schedule);
		}
		for (uint32_t k = 0; k < possible.count; k++)
			if (!has_key(&predicted, possible.keys[k]))
				fail_msg("program %llu: unit %u variable %u kinds %u %u f %u is possible and "
					 "not predicted",
					 (unsigned long long)(seed + i), possible.keys[k].unit,
					 possible.keys[k].variable, possible.keys[k].kind1,
					 possible.keys[k].kind2, possible.keys[k].f);
		for (uint32_t k = 0; exact && k < predicted.count; k++)
			if (!has_key(&possible, predicted.keys[k]))
				fail_msg("program %llu: unit %u variable %u f %u is predicted and impossible",
					 (unsigned long long)(seed + i), predicted.keys[k].unit,
					 predicted.keys[k].variable, predicted.keys[k].f);
		sums->programs++;
		sums->possible += possible.count;
		sums->predicted += predicted.count;
		for (unsigned r = 0; r < ORDER_REASON_COUNT; r++)
			sums->impossible += predict.counts.impossible[r];
		assert_int_equal(predict.counts.skipped, 0);
		synth_release(&synth);
		predict_release(&predict);
		program_release(&p);
	}
	print_message(
		"%llu programs, %llu patterns possible, %llu predicted, %llu schedules, %llu without one, "
		"%llu proved impossible\n",
		(unsigned long long)sums->programs, (unsigned long long)sums->possible,
		(unsigned long long)sums->predicted, (unsigned long long)sums->schedules,
		(unsigned long long)sums->unscheduled, (unsigned long long)sums->impossible);
	assert_true(sums->possible > programs / 4);
}

static void nested_locks(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 2, .steps = 12, .locks = 3, .variables = 2}, 20000, 1, true,
		&sums);
	compare(&(struct shape){.threads = 3, .steps = 8, .locks = 2, .variables = 1}, 3000, 1, true, &sums);
}

static void crossed_locks(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 2, .steps = 12, .locks = 3, .variables = 2, .crossed = true}, 8000,
		7, true, &sums);
}

static void read_locks(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 2, .steps = 12, .locks = 2, .variables = 1, .rwlocks = true}, 8000,
		3, true, &sums);
	compare(&(struct shape){.threads = 2,
				.steps = 12,
				.locks = 3,
				.variables = 1,
				.rwlocks = true,
				.crossed = true},
		4000, 3, true, &sums);
}

static void created_and_joined(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 3, .steps = 7, .locks = 2, .variables = 1, .main_thread = true},
		3000, 11, true, &sums);
	assert_int_equal(sums.unscheduled, 0);
}

static void barriers(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 2, .steps = 7, .locks = 2, .variables = 1, .barrier = true}, 4000,
		5, true, &sums);
}

static void semaphores(void **state)
{
	struct sums sums;

	compare(&(struct shape){.threads = 2, .steps = 12, .locks = 2, .variables = 1, .semaphores = 1}, 4000,
		5, false, &sums);
	assert_true(sums.impossible > 0);
	compare(&(struct shape){.threads = 3, .steps = 8, .locks = 2, .variables = 1, .semaphores = 2}, 1500,
		5, false, &sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_locks), cmocka_unit_test(crossed_locks),
		cmocka_unit_test(read_locks),   cmocka_unit_test(created_and_joined),
		cmocka_unit_test(barriers),     cmocka_unit_test(semaphores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
