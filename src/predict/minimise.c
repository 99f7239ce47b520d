/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/minimise.h"

struct search {
	struct schedule *best;
	minimise_fails *fails;
	void *context;
	uint32_t left, used;
	bool exact; /* only beginnings of the best are to be tried, and taken as they are */
};

/* The header of a schedule, and of its steps those below `first` and from `last` on. */
static struct schedule *without(const struct schedule *s, uint32_t first, uint32_t last)
{
	struct schedule *shorter = schedule_copy(s);

	schedule_clear(shorter);
	for (uint32_t i = 0; i < s->step_count; i++)
		if (i < first || i >= last)
			schedule_add(shorter, s->steps[i].thread, s->steps[i].events, s->steps[i].note);
	return shorter;
}

/* Does it fail without these steps? Then it is the best, or what came of it if that is as short. */
static bool try(struct search *s, uint32_t first, uint32_t last)
{
	struct schedule *candidate, *actual;
	bool fails;

	if (!s->left)
		return false;
	s->left--;
	s->used++;
	candidate = without(s->best, first, last);
	actual = schedule_copy(candidate);
	schedule_clear(actual);
	fails = s->fails(s->context, candidate, actual);
	if (fails) {
		bool shorter = s->exact || candidate->step_count <= actual->step_count;

		schedule_free(s->best);
		s->best = shorter ? candidate : actual;
		schedule_free(shorter ? actual : candidate);
		return true;
	}
	schedule_free(candidate);
	schedule_free(actual);
	return false;
}

/* A short beginning, with the rest left to chance-free going on, is often enough. */
static void cut_end(struct search *s)
{
	uint32_t fails = s->best->step_count, passes = 0;

	for (uint32_t length = 0; length < fails && s->left; length = length ? length * 2 : 1) {
		uint32_t before = s->best->step_count;

		if (try(s, length, before)) {
			fails = length;
			break;
		}
		passes = length;
	}
	while (passes + 1 < fails && s->left && s->best->step_count > passes + 1) {
		uint32_t middle = passes + (fails - passes) / 2;

		if (middle < s->best->step_count && try(s, middle, s->best->step_count))
			fails = middle;
		else
			passes = middle;
	}
}

static void leave_out(struct search *s)
{
	uint32_t parts = 2;

	while (s->best->step_count && s->left) {
		uint32_t count = s->best->step_count, size = count / parts ? count / parts : 1;
		bool shorter = false;

		for (uint32_t at = 0; at < s->best->step_count && !shorter; at += size) {
			uint32_t end = at + size < count ? at + size : count;

			shorter = try(s, at, end) && s->best->step_count < count;
		}
		if (shorter)
			parts = parts > 2 ? parts - 1 : 2;
		else if (size == 1)
			break;
		else
			parts *= 2;
	}
}

/*
 * What is left may want what cannot be, and owe its success to how that was
 * made up for. What the run then did can be followed; and so can every
 * beginning of it.
 */
static void make_exact(struct search *s)
{
	struct schedule *actual = schedule_copy(s->best);

	schedule_clear(actual);
	s->used++;
	if (!s->fails(s->context, s->best, actual)) {
		schedule_free(actual);
		return;
	}
	schedule_free(s->best);
	s->best = actual;
	s->exact = true;
	if (!s->left)
		s->left = 16;
	cut_end(s);
}

struct schedule *minimise(const struct schedule *schedule, minimise_fails *fails, void *context,
			  uint32_t runs, uint32_t *used)
{
	struct search s = {.best = schedule_copy(schedule), .fails = fails, .context = context, .left = runs};

	cut_end(&s);
	leave_out(&s);
	make_exact(&s);
	*used = s.used;
	return s.best;
}
