/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `atomsan explore` tells of a run in which all threads wait. */
#include "analysis/deadlock.h"
#include "cli/exploring.h"

#include <stdlib.h>
#include <string.h>

/* "FUNCTION FILE:LINE", as the runtime says where a thread waits. */
static struct finding_place place_of_text(struct finding_list *list, const char *text)
{
	struct finding_place place = {0};
	const char *space = strchr(text, ' '), *colon = strrchr(text, ':');

	if (!space || !colon || colon < space)
		return place;
	place.function = finding_textf(list, "%.*s", (int)(space - text), text);
	place.file = finding_textf(list, "%.*s", (int)(colon - space - 1), space + 1);
	place.line = (uint32_t)strtoul(colon + 1, NULL, 10);
	return place;
}

static bool is_lock(uint32_t waits)
{
	return waits == SCHED_WAIT_MUTEX || waits == SCHED_WAIT_RWLOCK || waits == SCHED_WAIT_SPIN;
}

/* Who waits for the end of one that waits is not what is wrong. */
static uint32_t find_waits(struct finding_list *list, const struct sched_report *report,
			   struct deadlock_wait *waits)
{
	uint32_t count = 0;

	for (int joins = 0; joins < 2 && !count; joins++)
		for (uint32_t i = 0; i < report->threads && i < SCHED_THREADS; i++) {
			const struct sched_report_thread *t = &report->thread[i];

			if (t->ended || !t->waits || (!joins && t->waits == SCHED_WAIT_JOIN))
				continue;
			waits[count++] = (struct deadlock_wait){.thread = t->name,
								.place = place_of_text(list, t->where),
								.what = run_waits_text(t->waits),
								.lock = is_lock(t->waits) ? t->object : 0};
		}
	return count;
}

/* "deadlock: one waits for right, two for left"; threads in one function are told apart by their own names.
 */
static const char *deadlock_title(struct finding_list *list, const struct finding *finding)
{
	const char *function = NULL, *title, *waits = " waits";
	bool one = true;

	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *a = &finding->accesses[i];

		if (a->op != 'B')
			continue;
		one &= a->place.function && (!function || !strcmp(function, a->place.function));
		function = a->place.function;
	}
	title = one && function ? finding_textf(list, "deadlock in %s:", function) : "deadlock:";
	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *a = &finding->accesses[i];

		if (a->op != 'B')
			continue;
		title = finding_textf(list, "%s %s%s for %s,", title,
				      !one && a->place.function ? a->place.function : a->thread, waits,
				      a->variable);
		waits = "";
	}
	return finding_textf(list, "%.*s", (int)strlen(title) - 1, title);
}

int exploring_deadlock(struct finding_list *list, struct trace *trace, struct checking *checking,
		       const struct sched_report *report, struct err *err)
{
	struct deadlock_wait *waits = mem_zalloc(SCHED_THREADS, sizeof *waits);
	uint32_t count = find_waits(list, report, waits);
	struct finding_list *others = finding_list_new("explore");
	struct finding *finding = finding_add(list);
	struct serial_options options;
	struct serial *serial = NULL;
	int failed = trace ? checking_prepare(checking, trace, &options, err) : 0;

	finding->kind = FINDING_DEADLOCK;
	finding->pattern = "deadlock";
	finding->verb = "explore";
	if (trace && !failed) {
		struct trace_cursor *cursor = trace_cursor_open(trace);
		struct trace_event event;

		serial = serial_new(trace, &options, others);
		while (trace_next(cursor, &event) > 0)
			serial_event(serial, &event);
		trace_cursor_close(cursor);
	}
	deadlock_tell(serial ? trace : NULL, serial ? serial_model(serial) : NULL,
		      serial ? serial_locking(serial) : NULL, waits, count, list, finding);
	finding->title = deadlock_title(list, finding);
	finding_identify(finding);
	if (serial) {
		serial_finish(serial);
		serial_free(serial);
		checking_release(checking);
	}
	finding_list_free(others);
	free(waits);
	return failed;
}
