/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A schedule is followed as far as it can be. Where the thread that it wants
 * cannot go on, others run until it can, and the report has the place. So every
 * list of steps is some run, always the same one, which is what makes it
 * possible to shorten a schedule by leaving steps out. Who only wants to see the
 * program break may say which strategy takes over there instead (sched_lost).
 */
#include "rt/sched_plan.h"

/* A thread that polls this often waits for somebody else. */
enum { POLLS = 1000 };

struct writer {
	char *to;
	uint64_t at, room;
};

static void put(struct writer *w, const char *text)
{
	for (; text && *text && w->at + 1 < w->room; text++)
		w->to[w->at++] = *text;
	w->to[w->at] = 0;
}

static void put_number(struct writer *w, uint32_t n)
{
	char digits[16];
	unsigned count = sizeof digits - 1;

	digits[count] = 0;
	do {
		digits[--count] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(w, digits + count);
}

static void put_place(struct writer *w, const char *function, const char *file, uint32_t line)
{
	put(w, function ? function : "?");
	put(w, " ");
	put(w, file ? file : "?");
	put(w, ":");
	put_number(w, line);
}

/* A string of a table of the executable's. */
static const char *text_at(const int32_t *field)
{
	return *field ? (const char *)field + *field : NULL;
}

void sched_describe(char *to, uint64_t size, const struct atomsan_site *site)
{
	struct writer w = {to, 0, size};

	put(&w, "");
	/* Small numbers stand for places that are not known. */
	if ((uint64_t)site >= 2)
		put_place(&w, text_at(&site->function), text_at(&site->file), site->line);
}

void sched_say_assertion(const char *condition, const char *file, unsigned line, const char *function)
{
	struct writer w = {sched.report->message, 0, sizeof sched.report->message};

	put(&w, "assertion '");
	put(&w, condition);
	put(&w, "' failed in ");
	put_place(&w, function, file, line);
	sched_say_crash();
}

void sched_say_crash(void)
{
	struct writer w = {sched.report->stack, 0, sizeof sched.report->stack};
	const struct atomsan_site *site = rt_self.sched->last_site;

	/* The last event is the nearest place that is known. */
	if ((uint64_t)site >= 2)
		put_place(&w, text_at(&site->function), text_at(&site->file), site->line);
	for (const struct atomsan_frame *frame = __atomsan_thread.top; frame > rt_self.frames;) {
		const struct atomsan_function *f = (--frame)->function;

		if (!f || f->flags & ATOMSAN_FN_LOOP)
			continue;
		put(&w, w.at ? ", in " : "in ");
		put_place(&w, text_at(&f->name), text_at(&f->file), f->line);
	}
}

static void lost(const struct sched_step *step, const struct sched_thread *t, enum sched_wait why)
{
	struct sched_report *report = sched.report;
	const struct sched_name *n = &sched_plan.names[step->name];
	uint32_t i = 0;

	if (report->diverged)
		return;
	report->diverged = 1;
	report->lost_step = sched_plan.next + 1;
	report->lost_wanted = step->events;
	report->lost_waits = why;
	for (; i < n->length && i + 1 < sizeof report->lost_name; i++)
		report->lost_name[i] = n->text[i];
	report->lost_name[i] = 0;
	if (!t)
		return;
	report->lost_thread = t->index + 1;
	report->lost_events = t->events;
	report->lost_object = (uint64_t)t->object;
	sched_describe(report->lost_where, sizeof report->lost_where, t->site ? t->site : t->last_site);
}

/* Nobody follows the schedule any more: from here on it is a run like any other of the strategy. */
static struct sched_thread *give_up(struct sched_thread *me)
{
	for (uint32_t i = 0; i < sched.count; i++)
		sched_thread(i)->until = 0;
	sched.mode = sched.base = sched_plan.lost;
	return sched_pick(me);
}

/* Somebody else, and again a decision at every point until the right one can go on. */
static struct sched_thread *instead(struct sched_thread *me, const struct sched_thread *of)
{
	struct sched_thread *chosen;

	if (me == of)
		me = NULL;
	if (sched_plan.lost != SCHED_OFF)
		return give_up(me);
	chosen = sched_pick(me);
	if (chosen)
		chosen->until = 0;
	return chosen;
}

/*
 * The right one waits for something. Somebody may bring that about without
 * doing an event: a thread that polls sees what it waited for, and ends, say;
 * that is no step of a schedule. So the others are let run, one by one, up to
 * their next event. NULL: they all stand before one.
 */
static struct sched_thread *silently(struct sched_thread *me, const struct sched_thread *of)
{
	if (me && me != of && me->status == SCHED_READY && !me->heard) {
		if (me->next_silent && me->repeats < POLLS)
			return me;
		me->heard = true;
	}
	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *t = sched_thread(i);

		if (t == of || t->heard || t->status != SCHED_READY)
			continue;
		if (t->next_silent || !t->beat) {
			t->until = t->events;
			return t;
		}
		t->heard = true;
	}
	return NULL;
}

static void go_on(struct sched_thread *t, uint64_t until)
{
	t->until = until;
	for (uint32_t i = 0; i < sched.count; i++)
		sched_thread(i)->heard = false;
}

struct sched_thread *sched_plan_pick(struct sched_thread *me)
{
	struct sched_thread *other;

	for (; sched_plan.next < sched_plan.step_count;
	     sched_plan.next++, sched.report->steps = sched_plan.next) {
		struct sched_step *step = &sched_plan.steps[sched_plan.next];
		uint32_t index = sched_plan.names[step->name].thread;
		struct sched_thread *t = index ? sched_thread(index - 1) : NULL;

		if (!t) {
			lost(step, NULL, SCHED_WAIT_UNBORN);
			return instead(me, NULL);
		}
		if (t->events >= step->events)
			continue;
		switch ((enum sched_status)t->status) {
		case SCHED_GONE:
			lost(step, t, SCHED_WAIT_ENDED);
			continue;
		case SCHED_READY:
			if (t->repeats < POLLS) {
				go_on(t, step->events);
				return t;
			}
			lost(step, t, SCHED_WAIT_REPEATING);
			return instead(me, t);
		case SCHED_AWAY:
			return NULL;
		case SCHED_BLOCKED:
			/* It is wanted because its time was over at this point. */
			if (t->deadline)
				return NULL;
			other = silently(me, t);
			if (other)
				return other;
			lost(step, t, t->waits);
			return instead(me, t);
		}
	}
	if (!sched_plan.over) {
		sched_plan.over = true;
		__atomsan_schedule_end();
	}
	if (sched.frees) {
		sched_release();
		return NULL;
	}
	sched.mode = sched.base;
	return sched_pick(me);
}

struct sched_thread *sched_plan_wants(enum sched_wait waits, const void *object)
{
	enum { FAR = 4096 }; /* steps: a signal is soon followed by who was waiting for it */

	for (uint64_t i = sched_plan.next; i < sched_plan.step_count && i - sched_plan.next < FAR; i++) {
		const struct sched_step *step = &sched_plan.steps[i];
		uint32_t index = sched_plan.names[step->name].thread;
		struct sched_thread *t = index ? sched_thread(index - 1) : NULL;

		if (t && t->waits == waits && t->object == object && !t->signalled &&
		    t->events < step->events)
			return t;
	}
	return NULL;
}

void sched_plan_lost(void)
{
	struct sched_step *step = &sched_plan.steps[sched_plan.next];
	uint32_t index = sched_plan.next < sched_plan.step_count ? sched_plan.names[step->name].thread : 0;

	if (sched_plan.next >= sched_plan.step_count)
		return;
	lost(step, index ? sched_thread(index - 1) : NULL, SCHED_WAIT_KERNEL);
	sched_plan.next++;
	sched.report->steps = sched_plan.next;
}
