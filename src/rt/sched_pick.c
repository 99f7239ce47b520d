/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who comes next, where no schedule says so. Every choice follows from the
 * seed and from what the program does, so one seed gives one run.
 *
 *   serial  whoever runs goes on until it waits
 *   random  every time anybody of those who can
 *   pct     the one with the highest priority; priorities are random, and at
 *           d - 1 random moments that of the one who runs becomes the lowest
 *           (Burckhardt et al., ASPLOS 2010)
 *   pos     the one whose next event has the highest priority; an event gets
 *           its priority when it comes up, and again when one that it races
 *           with was done (Yuan, Yang, Gu, CAV 2018)
 *   surw    the events that matter are interleaved uniformly: who does the next
 *           one is drawn in proportion to how many each has left, and the
 *           others stop before theirs (Zhao et al., ASPLOS 2025)
 *
 * A thread that spins, sleeps or yields is chosen only if all others do so,
 * too: else a strategy without chance in it would never come to an end. So is
 * one that has run for very long, which may spin over several locations.
 */
#include "rt/scheduler.h"

enum { LONG_TURN = 50000, DEPTHS = 64 };

/* Priorities: of threads that have just been created, below that those that a change gave, and below
 * that those of threads with nothing to do. */
#define CREATED (1ull << 63)
#define CHANGED (1ull << 62)
#define TIRED (1ull << 61)

static struct {
	uint64_t steps;           /* points so far */
	uint64_t changes[DEPTHS]; /* PCT: at which of them priorities change */
	uint64_t tired;           /* PCT: lower than that of any thread that was tired before */
	uint32_t depth;
} pick;

uint64_t sched_random(void)
{
	uint64_t x = sched.random += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* From 0 to limit - 1, each as likely as the other. */
static uint64_t below(uint64_t limit)
{
	return (uint64_t)((unsigned __int128)sched_random() * limit >> 64);
}

void sched_pick_begin(void)
{
	uint64_t steps = sched_plan_steps();

	sched.random = rt_options.seed;
	pick.tired = TIRED;
	pick.depth = rt_options.sched_depth < DEPTHS ? (uint32_t)rt_options.sched_depth : DEPTHS;
	for (uint32_t i = 0; i + 1 < pick.depth; i++)
		pick.changes[i] = 1 + below(steps ? steps : 1000);
}

void sched_pick_created(struct sched_thread *t)
{
	t->priority = sched_random() | CREATED;
	/* Threads yet to be created count with those who are going to create them. */
	t->weight = sched_plan_weight(t);
	if (t->parent != SCHED_NOBODY) {
		struct sched_thread *parent = sched_thread(t->parent);

		parent->weight -= t->weight < parent->weight ? t->weight : parent->weight;
	}
}

void sched_pick_done(struct sched_thread *t)
{
	t->priority = sched_random();
	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *o = sched_thread(i);

		if (o != t && o->status == SCHED_READY && o->next_object == t->next_object &&
		    (o->next_writes || t->next_writes))
			o->priority = sched_random();
	}
}

static bool tired(const struct sched_thread *t)
{
	return t->yields || (t->index == sched.last && t->events - t->since > LONG_TURN);
}

/* Waits whose time is over. Else a thread that polls until another's time is over would do so for ever. */
static bool expire(void)
{
	uint64_t now = 0;
	bool any = false;

	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *t = sched_thread(i);

		if (t->status != SCHED_BLOCKED || !t->deadline)
			continue;
		if (!now)
			now = sched_now();
		if (now >= t->deadline) {
			t->status = SCHED_READY;
			t->expired = true;
			sched.progress++;
			any = true;
		}
	}
	return any;
}

/* Those who can go on; the tired ones only if there are no others. */
static uint32_t candidates(uint32_t *list)
{
	/* A sleeper may wake up at any time: where chance rules anyway, it is sometimes let. */
	for (int with_tired = sched.mode == SCHED_RANDOM && !below(4); with_tired < 2; with_tired++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < sched.count; i++) {
			const struct sched_thread *t = sched_thread(i);

			if (t->status == SCHED_READY && (with_tired || !tired(t)))
				list[n++] = i;
		}
		if (n)
			return n;
		if (!with_tired && expire())
			with_tired = -1;
	}
	return 0;
}

static struct sched_thread *highest(const uint32_t *list, uint32_t n)
{
	struct sched_thread *best = sched_thread(list[0]);

	for (uint32_t i = 1; i < n; i++)
		if (sched_thread(list[i])->priority > best->priority)
			best = sched_thread(list[i]);
	return best;
}

/* The next one after the one who had the token last, or that one itself if it can go on. Where all are tired
 * one of them waits for what another one will see when it looks again. */
static struct sched_thread *in_turn(const struct sched_thread *me, const uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (me && list[i] == me->index && !tired(me))
			return sched_thread(list[i]);
	for (uint32_t i = 0; i < n; i++)
		if (list[i] > sched.last && sched.last != SCHED_NOBODY)
			return sched_thread(list[i]);
	return sched_thread(list[0]);
}

/* As in_turn; but where the schedule names somebody, that one whenever it can, and the others point by point.
 */
static struct sched_thread *serial(const struct sched_thread *me, const uint32_t *list, uint32_t n)
{
	const struct sched_thread *first = sched_plan_first();
	bool waits = first && first->status != SCHED_GONE;
	struct sched_thread *chosen = in_turn(me, list, n);

	for (uint32_t i = 0; waits && i < n; i++)
		if (list[i] == first->index && !tired(first)) {
			chosen = sched_thread(list[i]);
			waits = false;
		}
	chosen->until = waits ? 0 : chosen->events + LONG_TURN;
	return chosen;
}

static struct sched_thread *pct(struct sched_thread *me, const uint32_t *list, uint32_t n)
{
	pick.steps++;
	for (uint32_t i = 0; me && i + 1 < pick.depth; i++)
		if (pick.changes[i] == pick.steps)
			me->priority = CHANGED - i;
	/* One that only polls would keep the rest from ever running; of several, each comes in turn. */
	if (me && tired(me))
		me->priority = --pick.tired;
	return highest(list, n);
}

/* Everybody is run up to the next event of its that matters; then one of them is drawn. */
static struct sched_thread *surw(const uint32_t *list, uint32_t n)
{
	uint64_t total = 0, at;
	uint32_t before = 0;

	/* All are tired, then: whoever is let look again may find that he can go on, and he who sleeps
	 * again and again, and never comes to anything that matters, must not keep him from it. */
	if (tired(sched_thread(list[0])))
		return sched_thread(list[below(n)]);
	for (uint32_t i = 0; i < n; i++) {
		const struct sched_thread *t = sched_thread(list[i]);

		before += !t->next_counts;
		/* One more than is known of, for an earlier run need not have seen all. */
		total += t->weight + 1;
	}
	at = below(before ? before : total);
	for (uint32_t i = 0; i < n; i++) {
		struct sched_thread *t = sched_thread(list[i]);
		uint64_t share = before ? !t->next_counts : t->weight + 1;

		if (at < share)
			return t;
		at -= share;
	}
	return sched_thread(list[0]);
}

struct sched_thread *sched_pick(struct sched_thread *me)
{
	static uint32_t list[SCHED_THREADS];
	uint32_t n = candidates(list);
	struct sched_thread *chosen = NULL;

	if (!n)
		return NULL;
	switch (sched.mode) {
	case SCHED_RANDOM:
		chosen = sched_thread(list[below(n)]);
		break;
	case SCHED_PCT:
		chosen = pct(me, list, n);
		break;
	case SCHED_POS:
		chosen = highest(list, n);
		sched_pick_done(chosen);
		break;
	case SCHED_SURW:
		chosen = surw(list, n);
		if (chosen->next_counts && chosen->weight)
			chosen->weight--;
		break;
	case SCHED_OFF:
	case SCHED_FOLLOW: /* a schedule that is lost: who would go on in the end */
	case SCHED_SERIAL:
		chosen = serial(me, list, n);
		break;
	}
	return chosen;
}
