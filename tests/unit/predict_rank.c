/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The order in which predictions are tried (predict/rank.h), on predictions made up at random. */
#include "base/err.h"
#include "helper.h"
#include "predict/rank.h"

#include <stdlib.h>

static const struct history nothing;

enum { MOST = 60, GROUPS = 5, PLACES = 4 };

static void make(struct predict *p, uint32_t *groups, uint32_t count, uint64_t *random)
{
	*p = (struct predict){.history = &nothing, .count = count};
	p->predictions = mem_zalloc(count + 1, sizeof(*p->predictions));
	for (uint32_t i = 0; i < count; i++) {
		struct prediction *new = &p->predictions[i];

		groups[i] = (uint32_t)(helper_random(random) % GROUPS);
		if (!(helper_random(random) % 16))
			groups[i] = RANK_LEFT_OUT;
		new->places = groups[i] * 100 + helper_random(random) % PLACES;
		new->seen = !(helper_random(random) % 4);
		new->goal.count = 2;
		new->goal.threads[1] = 1;
		/* Some have the same cut-points. */
		new->goal.targets[0] = (uint32_t)(helper_random(random) % (count * 3 + 1));
	}
}

static uint64_t schedule_of(const struct predict *p, const uint32_t *groups, struct rank_turn turn)
{
	return (uint64_t)p->predictions[turn.prediction].goal.targets[0] << 32 |
	       groups[turn.prediction] << 1 | turn.disturber;
}

/* Of two groups that still have something, none is two turns ahead of the other; so for places. */
static void check_turns(const struct predict *p, const uint32_t *groups, const struct ranking *r, bool seen)
{
	uint32_t left[GROUPS] = {0}, had[GROUPS] = {0};

	for (uint32_t i = 0; i < r->count; i++)
		if (p->predictions[r->turns[i].prediction].seen == seen)
			left[groups[r->turns[i].prediction]]++;
	for (uint32_t i = 0; i < r->count; i++) {
		uint32_t group = groups[r->turns[i].prediction];

		if (p->predictions[r->turns[i].prediction].seen != seen)
			continue;
		for (uint32_t other = 0; other < GROUPS; other++)
			if (other != group && left[other])
				assert_true(had[group] <= had[other]);
		had[group]++;
		left[group]--;
	}
}

static void all_once(void **state)
{
	uint64_t random = 7;

	for (int round = 0; round < 2000; round++) {
		uint32_t count = (uint32_t)(helper_random(&random) % MOST), groups[MOST];
		bool both = helper_random(&random) % 2, behind = false;
		struct ranking r;
		struct predict p;

		make(&p, groups, count, &random);
		ranking_make(&r, &p, groups, both, 0);
		for (uint32_t i = 0; i < r.count; i++) {
			const struct prediction *it = &p.predictions[r.turns[i].prediction];

			assert_int_not_equal(groups[r.turns[i].prediction], RANK_LEFT_OUT);
			assert_true(it->seen || !behind);
			behind |= it->seen;
			for (uint32_t k = 0; k < i; k++)
				assert_true(schedule_of(&p, groups, r.turns[i]) !=
					    schedule_of(&p, groups, r.turns[k]));
		}
		/* Whatever is left out has a schedule that is there. */
		for (uint32_t i = 0; i < count; i++) {
			uint32_t found = 0;

			for (uint32_t k = 0; k < r.count; k++)
				found += groups[i] == groups[r.turns[k].prediction] &&
					 p.predictions[i].goal.targets[0] ==
						 p.predictions[r.turns[k].prediction].goal.targets[0];
			if (groups[i] == RANK_LEFT_OUT)
				continue;
			assert_true(both ? found == 2 : found == 1 || found == 2);
		}
		check_turns(&p, groups, &r, false);
		check_turns(&p, groups, &r, true);
		ranking_release(&r);
		free(p.predictions);
	}
}

/* One place: the ends, the middle, the quarters; and who goes on alternates. */
static void spread_out(void **state)
{
	static const uint32_t wanted[9] = {0, 8, 4, 2, 6, 1, 3, 5, 7};
	uint32_t groups[9] = {0};
	struct ranking r;
	struct predict p = {.history = &nothing, .count = 9};

	p.predictions = mem_zalloc(9, sizeof(*p.predictions));
	for (uint32_t i = 0; i < 9; i++)
		p.predictions[i].goal = (struct weave_goal){.count = 1, .targets = {i}};
	ranking_make(&r, &p, groups, true, 0);
	assert_int_equal(r.count, 18);
	for (uint32_t i = 0; i < 18; i++) {
		assert_int_equal(r.turns[i].prediction, wanted[i % 9]);
		assert_int_equal(r.turns[i].disturber, i < 9 ? i & 1 : !((i - 9) & 1));
	}
	ranking_release(&r);
	free(p.predictions);
}

/* One place, one variable that is written again and again: turns are for what comes late and for what is
 * moved far. */
static void kinds_mixed(void **state)
{
	enum { WRITES = 64, COUNT = 8 };
	/* Accesses that change places: each comes at another time, and is moved another way. */
	static const uint32_t moved[COUNT] = {5, 20, 3, 30, 11, 2, 8, 13};

	for (uint32_t round = 0; round < 3; round++) {
		uint32_t groups[COUNT] = {0};
		bool had[COUNT] = {false};
		struct history h;
		struct ranking r;
		struct predict p = {.history = &h, .count = COUNT};

		history_init(&h);
		history_variable(&h);
		for (uint32_t i = 0; i < WRITES; i++)
			history_add(&h, (struct history_event){.thread = i & 1, .kind = HISTORY_WRITE});
		p.predictions = mem_zalloc(COUNT, sizeof(*p.predictions));
		for (uint32_t i = 0; i < COUNT; i++) {
			p.predictions[i].goal = (struct weave_goal){.count = 1, .targets = {i}};
			/* Neither the first write nor the last. */
			p.predictions[i].accesses[0] = 1 + i + moved[i];
			p.predictions[i].accesses[1] = 1 + i;
		}
		ranking_make(&r, &p, groups, false, round);
		assert_int_equal(r.count, COUNT);
		for (uint32_t i = 0; i < COUNT; i++) {
			uint32_t turn = (i + (round ? 2 : 0)) % 4, late = COUNT - 1, far = COUNT;

			while (had[late])
				late--;
			for (uint32_t k = 0; k < COUNT; k++)
				if (!had[k] && (far == COUNT || moved[k] > moved[far]))
					far = k;
			if (turn != 1)
				assert_int_equal(r.turns[i].prediction, turn ? far : late);
			assert_int_equal(r.turns[i].moved, moved[r.turns[i].prediction] * 100 / (WRITES + 1));
			assert_false(had[r.turns[i].prediction]);
			had[r.turns[i].prediction] = true;
		}
		ranking_release(&r);
		history_release(&h);
		free(p.predictions);
	}
}

/* What leaves the same value has no weight, whatever else speaks for it; what leaves another has. */
static void silent_late(void **state)
{
	static const uint8_t kinds[][3] = {{HISTORY_READ, HISTORY_WRITE, HISTORY_READ},
					   {HISTORY_READ, HISTORY_WRITE, HISTORY_WRITE},
					   {HISTORY_WRITE, HISTORY_WRITE, HISTORY_READ},
					   {HISTORY_WRITE, HISTORY_READ, HISTORY_WRITE}};

	for (unsigned pattern = 0; pattern < 4; pattern++)
		for (uint32_t values = 0; values < 27; values++) {
			const uint8_t *kind = kinds[pattern];
			uint32_t value[] = {values % 3, values / 3 % 3, values / 9}, group = 0;
			/* Which two of them must be the same: 0 is not known. */
			uint32_t a = kind[1] == HISTORY_READ ? value[0] : value[1];
			uint32_t b =
				kind[1] == HISTORY_READ || kind[2] == HISTORY_WRITE ? value[2] : value[0];
			struct prediction only = {.kind = PREDICT_SINGLE,
						  .access_count = 3,
						  .accesses = {0, 2, 1},
						  .goal = {.count = 1}};
			struct history h;
			struct predict p = {.history = &h, .predictions = &only, .count = 1};
			struct ranking r;

			/* Who comes in between came last in the run, and wrote last, if it wrote. */
			history_init(&h);
			history_variable(&h);
			for (uint32_t i = 0; i < 3; i++) {
				uint32_t k = (uint32_t[]){0, 2, 1}[i];

				history_add(&h, (struct history_event){.thread = k == 1,
								       .kind = kind[k],
								       .value = value[k]});
			}
			ranking_make(&r, &p, &group, false, 0);
			assert_int_equal(r.count, 1);
			assert_int_equal(r.turns[0].weight == 0, a && a == b);
			ranking_release(&r);
			history_release(&h);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_once), cmocka_unit_test(spread_out),
					   cmocka_unit_test(kinds_mixed), cmocka_unit_test(silent_late)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
