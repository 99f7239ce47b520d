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
	if (prediction->kind == PREDICT_CYCLE) {
		/* Conflicting accesses stand as the prediction says, those of the future behind the others.
		 */
		for (uint32_t a = 0; a < prediction->access_count; a++)
			for (uint32_t b = a + 1; b < prediction->access_count; b++)
				if (prediction->variables[a] == prediction->variables[b] &&
				    h->events[prediction->accesses[a]].thread !=
					    h->events[prediction->accesses[b]].thread)
					assert_true(order[a] && (!order[b] || order[a] < order[b]));
	} else if (prediction->kind == PREDICT_NESTED) {
		assert_true(order[0] && order[1] && order[2] && !order[3]);
		assert_true(order[0] < order[1] && order[1] < order[2]);
	} else if (prediction->kind == PREDICT_CROSSED) {
		assert_true(order[0] && order[1] && !order[2] && !order[3]);
	} else if (prediction->kind == PREDICT_SINGLE) {
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
 * fail to make a schedule of what is impossible. Either way all that is possible
 * must be predicted, and have a schedule.
 */
static void compare(const struct shape *shape, uint32_t programs, uint64_t seed, bool exact,
		    struct sums *sums)
{
	static struct keys possible, predicted, scheduled;
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
		possible.count = predicted.count = scheduled.count = 0;
		brute_force(&p, &possible);
		predict_init(&predict, &p.history, &options);
		predict_run(&predict);
		synth_init(&synth, &predict);
		for (uint32_t k = 0; k < predict.count; k++) {
			struct prediction *x = &predict.predictions[k];
			const struct history_event *events = p.history.events;
			const struct history_event *e1 = &events[x->accesses[0]],
						   *f = &events[x->accesses[1]],
						   *e2 = &events[x->accesses[2]];
			struct key key = {e1->unit, e1->object, e1->kind, f->site - 1, e2->kind};
			struct synth_schedule schedule;

			add_key(&predicted, key);
			if (synth_build(&synth, x, &schedule)) {
				check_schedule(&p, x, &schedule);
				add_key(&scheduled, key);
				sums->schedules++;
			} else {
				assert_false(exact);
				sums->unscheduled++;
			}
			synth_schedule_release(&schedule);
		}
		for (uint32_t k = 0; k < possible.count; k++)
			if (!has_key(&scheduled, possible.keys[k]))
				fail_msg("program %llu: unit %u variable %u kinds %u %u f %u is possible and "
					 "%s",
					 (unsigned long long)(seed + i), possible.keys[k].unit,
					 possible.keys[k].variable, possible.keys[k].kind1,
					 possible.keys[k].kind2, possible.keys[k].f,
					 has_key(&predicted, possible.keys[k]) ? "has no schedule"
									       : "is not predicted");
		/* A schedule that leads to what is impossible would have been found out when it was executed.
		 */
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

/* A pattern over two variables: the form, the units, and for each access its kind and variable. */
struct pair_key {
	uint32_t kind, unit1, unit2, x, y, kinds;
};

static struct pair_key pair_keys[2][16384];
static uint32_t pair_counts[2];

static bool has_pair(unsigned list, const struct pair_key *key)
{
	for (uint32_t i = 0; i < pair_counts[list]; i++)
		if (!memcmp(&pair_keys[list][i], key, sizeof(*key)))
			return true;
	return false;
}

static void add_pair(unsigned list, const struct pair_key *key)
{
	if (has_pair(list, key))
		return;
	assert_true(pair_counts[list] < 16384);
	pair_keys[list][pair_counts[list]++] = *key;
}

/* Can thread t be between steps a and b all the while from c to d of thread u? Two threads. */
static bool encloses(const struct program *p, uint32_t t, uint32_t a, uint32_t b, uint32_t u, uint32_t c,
		     uint32_t d)
{
	bool seen[MAX_STEPS + 1][MAX_STEPS + 1] = {0};

	for (uint32_t i = a + 1; i <= b; i++) {
		uint32_t done[MAX_THREADS];

		done[t] = i;
		done[u] = c;
		seen[i][c] = program_reaches(p, done);
	}
	for (uint32_t k = c; k <= d; k++)
		for (uint32_t i = a + 1; i <= b; i++) {
			uint32_t done[MAX_THREADS];

			if (!seen[i][k])
				continue;
			if (k == d)
				return true;
			done[t] = i;
			done[u] = k;
			if (program_step(p, done, t) && done[t] <= b)
				seen[done[t]][k] = true;
			done[t] = i;
			if (program_step(p, done, u))
				seen[i][done[u]] = true;
		}
	return false;
}

/* Is there a state with both in the open? */
static bool overlap(const struct program *p, uint32_t t, uint32_t a, uint32_t b, uint32_t u, uint32_t d,
		    uint32_t c)
{
	for (uint32_t i = a + 1; i <= b; i++)
		for (uint32_t k = d + 1; k <= c; k++) {
			uint32_t done[MAX_THREADS];

			done[t] = i;
			done[u] = k;
			if (program_reaches(p, done))
				return true;
		}
	return false;
}

static bool conflicts(const struct step *a, const struct step *b)
{
	return a->object == b->object && (a->kind == HISTORY_WRITE || b->kind == HISTORY_WRITE);
}

static bool in_unit(const struct step *a, const struct step *b)
{
	return a->kind <= HISTORY_WRITE && b->kind <= HISTORY_WRITE && a->unit && a->unit == b->unit &&
	       a->object != b->object;
}

static void brute_force_pairs(const struct program *p)
{
	for (uint32_t t = 0; t < 2; t++) {
		const struct step *ours = p->steps[t], *theirs = p->steps[!t];

		for (uint32_t a = 0; a < p->count[t]; a++)
			for (uint32_t b = a + 1; b < p->count[t]; b++)
				for (uint32_t c = 0; in_unit(&ours[a], &ours[b]) && c < p->count[!t]; c++)
					for (uint32_t d = c + 1; d < p->count[!t]; d++) {
						uint32_t kinds = ours[a].kind << 3 | ours[b].kind << 2 |
								 theirs[c].kind << 1 | theirs[d].kind;
						struct pair_key key = {0,
								       ours[a].unit,
								       theirs[c].unit,
								       ours[a].object,
								       ours[b].object,
								       kinds};

						if (!in_unit(&theirs[c], &theirs[d]))
							continue;
						key.kind = PREDICT_NESTED;
						if (conflicts(&ours[a], &theirs[c]) &&
						    conflicts(&ours[b], &theirs[d]) && !has_pair(0, &key) &&
						    encloses(p, t, a, b, !t, c, d))
							add_pair(0, &key);
						key.kind = PREDICT_CROSSED;
						if (conflicts(&ours[a], &theirs[d]) &&
						    conflicts(&ours[b], &theirs[c]) && key.x < key.y &&
						    !has_pair(0, &key) && overlap(p, t, a, b, !t, c, d))
							add_pair(0, &key);
					}
	}
}

static void compare_pairs(const struct shape *shape, uint32_t programs, uint64_t seed)
{
	struct predict_options options = {.no_cycles = true};
	uint64_t made_programs = 0, patterns = 0, schedules = 0;

	for (uint64_t i = 0; made_programs < programs; i++) {
		struct program p;
		struct predict predict;
		struct synth synth;

		assert_true(i < programs * 50ull);
		if (!program_make(&p, shape, seed + i)) {
			program_release(&p);
			continue;
		}
		made_programs++;
		pair_counts[0] = pair_counts[1] = 0;
		brute_force_pairs(&p);
		predict_init(&predict, &p.history, &options);
		predict_run(&predict);
		synth_init(&synth, &predict);
		for (uint32_t k = 0; k < predict.count; k++) {
			struct prediction *x = &predict.predictions[k];
			const struct history_event *events = p.history.events;
			struct synth_schedule schedule;

			if (x->kind == PREDICT_SINGLE)
				continue;
			struct pair_key key = {
				x->kind,
				events[x->accesses[0]].unit,
				events[x->accesses[1]].unit,
				events[x->accesses[0]].object,
				events[x->accesses[3]].object,
				events[x->accesses[0]].kind << 3 | events[x->accesses[3]].kind << 2 |
					events[x->accesses[1]].kind << 1 | events[x->accesses[2]].kind};

			if (!has_pair(0, &key))
				fail_msg("program %llu: kind %u units %u %u variables %u %u is predicted and "
					 "impossible",
					 (unsigned long long)(seed + i), key.kind, key.unit1, key.unit2,
					 key.x, key.y);
			add_pair(1, &key);
			assert_true(synth_build(&synth, x, &schedule));
			check_schedule(&p, x, &schedule);
			schedules++;
			synth_schedule_release(&schedule);
		}
		for (uint32_t k = 0; k < pair_counts[0]; k++)
			if (!has_pair(1, &pair_keys[0][k]))
				fail_msg("program %llu: kind %u units %u %u variables %u %u kinds %u is "
					 "possible "
					 "and not predicted",
					 (unsigned long long)(seed + i), pair_keys[0][k].kind,
					 pair_keys[0][k].unit1, pair_keys[0][k].unit2, pair_keys[0][k].x,
					 pair_keys[0][k].y, pair_keys[0][k].kinds);
		patterns += pair_counts[0];
		assert_int_equal(predict.counts.skipped, 0);
		synth_release(&synth);
		predict_release(&predict);
		program_release(&p);
	}
	print_message("%llu programs, %llu patterns over two variables, %llu schedules\n",
		      (unsigned long long)made_programs, (unsigned long long)patterns,
		      (unsigned long long)schedules);
	assert_true(patterns > programs / 4);
}

static void two_variables(void **state)
{
	compare_pairs(&(struct shape){.threads = 2, .steps = 13, .locks = 3, .variables = 2}, 6000, 1);
	compare_pairs(&(struct shape){.threads = 2, .steps = 13, .locks = 3, .variables = 3, .crossed = true},
		      4000, 1);
	compare_pairs(&(struct shape){.threads = 2,
				      .steps = 13,
				      .locks = 2,
				      .variables = 2,
				      .rwlocks = true,
				      .crossed = true},
		      3000, 1);
}

/* The step of thread t that accesses the variable. */
static uint32_t access_step(const struct program *p, uint32_t t, uint32_t variable)
{
	for (uint32_t i = 0; i < p->count[t]; i++)
		if (p->steps[t][i].kind <= HISTORY_WRITE && p->steps[t][i].object == variable)
			return i;
	abort();
}

/*
 * Each thread before the next one (turn 1), or before the one before it (turn n - 1),
 * on the variable that the two share: is there an execution in which every unit
 * is past the access by which it is left, and has not been entered too early?
 */
static bool ring_possible(const struct program *p, uint32_t turn)
{
	uint32_t n = p->threads, out[MAX_THREADS], in[MAX_THREADS], *queue, head = 0, tail = 0;
	bool found = false, gaps = false;
	uint8_t *seen;

	for (uint32_t t = 0; t < n; t++) {
		uint32_t next = (t + turn) % n, variable = turn == 1 ? next : t;

		out[t] = access_step(p, t, variable);
		in[next] = access_step(p, next, variable);
		if (!conflicts(&p->steps[t][out[t]], &p->steps[next][in[next]]))
			return false;
	}
	for (uint32_t t = 0; t < n; t++)
		gaps |= out[t] < in[t];
	if (!gaps)
		return false;
	seen = calloc(p->states, 1);
	queue = calloc(p->states, sizeof(*queue));
	queue[tail++] = 0;
	while (head < tail && !found) {
		uint32_t state = queue[head++], at[MAX_THREADS];

		found = true;
		for (uint32_t t = 0; t < n; t++) {
			at[t] = state / p->stride[t] % (p->count[t] + 1);
			found &= at[t] > out[t] && (out[t] > in[t] || at[t] <= in[t]);
		}
		for (uint32_t t = 0; t < n; t++) {
			uint32_t done[MAX_THREADS], next = 0, before = (t + n - turn) % n;

			memcpy(done, at, sizeof done);
			if ((at[t] == in[t] && at[before] <= out[before]) || !program_step(p, done, t))
				continue;
			for (uint32_t u = 0; u < n; u++)
				next += p->stride[u] * done[u];
			if (!seen[next]) {
				seen[next] = 1;
				queue[tail++] = next;
			}
		}
	}
	free(queue);
	free(seen);
	return found;
}

static void compare_rings(const struct shape *shape, uint32_t programs)
{
	uint64_t cycles = 0, made_programs = 0;

	for (uint64_t seed = 1; made_programs < programs; seed++) {
		struct predict_options options = {0};
		uint32_t possible = 0, predicted = 0;
		struct program p;
		struct predict predict;
		struct synth synth;

		if (!program_make(&p, shape, seed)) {
			program_release(&p);
			continue;
		}
		made_programs++;
		possible = ring_possible(&p, 1) + ring_possible(&p, p.threads - 1);
		predict_init(&predict, &p.history, &options);
		predict_run(&predict);
		synth_init(&synth, &predict);
		for (uint32_t k = 0; k < predict.count; k++) {
			struct synth_schedule schedule;

			assert_int_equal(predict.predictions[k].kind, PREDICT_CYCLE);
			if (synth_build(&synth, &predict.predictions[k], &schedule)) {
				predicted++;
				check_schedule(&p, &predict.predictions[k], &schedule);
			}
			synth_schedule_release(&schedule);
		}
		if (predicted != possible)
			fail_msg("program %llu: %u cycles are possible, %u have a schedule",
				 (unsigned long long)seed, possible, predicted);
		cycles += possible;
		synth_release(&synth);
		predict_release(&predict);
		program_release(&p);
	}
	print_message("%llu programs, %llu cycles of %u units\n", (unsigned long long)made_programs,
		      (unsigned long long)cycles, shape->threads);
	assert_true(cycles > programs / 20);
}

static void three_units(void **state)
{
	compare_rings(&(struct shape){.threads = 3, .steps = 6, .locks = 2, .variables = 3, .ring = true},
		      4000);
	compare_rings(&(struct shape){.threads = 3, .steps = 8, .locks = 3, .variables = 3, .ring = true},
		      4000);
	compare_rings(&(struct shape){.threads = 4, .steps = 4, .locks = 2, .variables = 4, .ring = true},
		      500);
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
	/* Tokens that are short: who posts must have waited before. */
	compare(&(struct shape){.threads = 3, .steps = 9, .locks = 2, .variables = 1, .semaphores = 1}, 2000,
		5900, false, &sums);
	compare(&(struct shape){.threads = 4, .steps = 6, .locks = 2, .variables = 1, .semaphores = 1}, 500,
		5, false, &sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_locks),  cmocka_unit_test(crossed_locks),
		cmocka_unit_test(read_locks),    cmocka_unit_test(created_and_joined),
		cmocka_unit_test(barriers),      cmocka_unit_test(semaphores),
		cmocka_unit_test(two_variables), cmocka_unit_test(three_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
