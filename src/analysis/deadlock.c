/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/deadlock.h"

#include "base/err.h"

#include <stdlib.h>

/* A lock that a thread has, and that somebody waits for. */
struct taking {
	const struct locking_op *op;
	uint32_t thread; /* of the trace */
};

struct takings {
	struct taking *all;
	uint32_t count;
};

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct taking *)a)->op->time, y = ((const struct taking *)b)->op->time;

	return (x > y) - (x < y);
}

static bool waited_before(const struct deadlock_wait *waits, uint32_t number)
{
	for (uint32_t i = 0; i < number; i++)
		if (waits[i].lock == waits[number].lock)
			return true;
	return false;
}

static void find_holders(struct takings *takings, const struct trace *trace, const struct locking *locking,
			 uint64_t lock)
{
	for (uint32_t t = 0; t < trace->thread_count; t++) {
		const struct locking_op *taken = locking_taken(locking, t, lock, UINT64_MAX);

		if (!taken || locking_given_up(locking, t, lock, taken->time))
			continue;
		takings->all = mem_resize(takings->all, takings->count + 1, sizeof(*takings->all));
		takings->all[takings->count++] = (struct taking){taken, t};
	}
}

static struct finding_access *tell(struct finding_list *list, struct finding *finding, char op,
				   const char *thread, const char *what)
{
	struct finding_access *access = finding_add_access(list, finding);

	access->unit = FINDING_NO_UNIT;
	access->op = op;
	access->thread = finding_text(list, thread);
	access->variable = finding_text(list, what);
	finding_add_variable(list, finding, what);
	return access;
}

static void tell_taking(const struct trace *trace, const struct model *model, const struct taking *taking,
			struct finding_list *list, struct finding *finding)
{
	char *name = model_lock_name(model, taking->op->address);
	struct finding_access *access =
		tell(list, finding, 'L', trace_thread_name(trace, taking->thread), name);
	struct trace_site site;

	free(name);
	if (taking->op->site == TRACE_NO_SITE || trace_site(trace, taking->op->site, &site, NULL) < 0)
		return;
	access->place = (struct finding_place){.function = finding_text(list, site.function),
					       .file = finding_text(list, site.file),
					       .line = site.line,
					       .column = site.column};
}

static void tell_wait(const struct model *model, const struct deadlock_wait *wait, struct finding_list *list,
		      struct finding *finding)
{
	char *name = wait->lock && model ? model_lock_name(model, wait->lock) : mem_text(wait->what);
	struct finding_access *access = tell(list, finding, 'B', wait->thread, name);

	free(name);
	access->place = wait->place;
	access->place.function = finding_text(list, wait->place.function);
	access->place.file = finding_text(list, wait->place.file);
	access->note = "for ever";
}

void deadlock_tell(const struct trace *trace, const struct model *model, const struct locking *locking,
		   const struct deadlock_wait *waits, uint32_t count, struct finding_list *list,
		   struct finding *finding)
{
	struct takings takings = {0};

	for (uint32_t i = 0; trace && i < count; i++)
		if (waits[i].lock && !waited_before(waits, i))
			find_holders(&takings, trace, locking, waits[i].lock);
	if (takings.count)
		qsort(takings.all, takings.count, sizeof(*takings.all), by_time);
	for (uint32_t i = 0; i < takings.count; i++)
		tell_taking(trace, model, &takings.all[i], list, finding);
	for (uint32_t i = 0; i < count; i++)
		tell_wait(model, &waits[i], list, finding);
	if (takings.count > 1 && finding->variable_count > 1)
		finding->advice = finding_textf(list, "Take %s and %s in the same order everywhere.",
						finding->variables[0], finding->variables[1]);
	free(takings.all);
}
