/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What came of a run: its verdict, in words, and what its threads really did. */
#include "base/deaf.h"
#include "predict/run_inside.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const char *run_verdict_text(enum run_verdict verdict)
{
	static const char *const texts[] = {
#define X(name, text) text,
		RUN_VERDICTS(X)
#undef X
	};

	return texts[verdict];
}

const char *run_waits_text(uint32_t waits)
{
	static const char *const texts[] = {
#define X(name, text) text,
		SCHED_WAITS(X)
#undef X
	};

	return waits < SCHED_WAIT_COUNT ? texts[waits] : "something";
}

static void describe_lost(const struct sched_report *report, char *text, size_t room)
{
	if (!report->lost_thread) {
		snprintf(text, room, "step %" PRIu64 " wants %.63s, which did not exist at that point",
			 report->lost_step, report->lost_name);
		return;
	}
	if (report->lost_waits == SCHED_WAIT_ENDED) {
		snprintf(text, room,
			 "step %" PRIu64 " wants event %" PRIu64 " of %.63s, which ended after %" PRIu64,
			 report->lost_step, report->lost_wanted, report->lost_name, report->lost_events);
		return;
	}
	snprintf(text, room,
		 "at step %" PRIu64 " %.63s had done %" PRIu64 " of %" PRIu64
		 " events and waited for %s%s%.127s",
		 report->lost_step, report->lost_name, report->lost_events, report->lost_wanted,
		 run_waits_text(report->lost_waits), *report->lost_where ? " in " : "", report->lost_where);
}

static void describe_deadlock(const struct sched_report *report, char *text, size_t room)
{
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < report->threads && i < SCHED_THREADS && at < room; i++) {
		const struct sched_report_thread *t = &report->thread[i];
		int n;

		if (t->ended || !t->waits)
			continue;
		n = snprintf(text + at, room - at, "%s%.63s waits for %s%s%.63s%s%.127s", at ? "; " : "",
			     t->name, run_waits_text(t->waits), t->holder ? " of " : "",
			     t->holder && t->holder <= SCHED_THREADS ? report->thread[t->holder - 1].name
								     : "",
			     *t->where ? " in " : "", t->where);
		at += n > 0 ? (size_t)n : 0;
	}
}

static bool output_is_as_expected(const struct run *run)
{
	off_t length = lseek(run->output_fd, 0, SEEK_CUR);
	const char *bytes;
	bool same;

	if (length != (off_t)run->setup.expected_length)
		return false;
	if (!length)
		return true;
	bytes = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, run->output_fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	same = !memcmp(bytes, run->setup.expected_output, (size_t)length);
	munmap((void *)bytes, (size_t)length);
	return same;
}

/* The command reads the program's output and says by its status whether it is right. */
static int check(const struct run *run, bool *right, struct err *err)
{
	off_t length = lseek(run->output_fd, 0, SEEK_CUR);
	const char *bytes =
		length ? mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, run->output_fd, 0) : "";
	FILE *command;
	int status;

	if (bytes == MAP_FAILED)
		return err_set(err, "cannot read the program's output: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	command = popen(run->setup.check, "we");
	if (!command)
		return err_set(err, "cannot run the check: %s", strerror(errno));
	fwrite(bytes, 1, (size_t)length, command);
	status = pclose(command);
	if (length)
		munmap((void *)bytes, (size_t)length);
	if (status < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return err_set(err, "the check '%s' cannot be run", run->setup.check);
	*right = status == 0;
	return 0;
}

static int judge_end(const struct run *run, struct run_result *r, struct err *err)
{
	const struct sched_report *report = run->report;
	bool right = true;

	if (report->state == SCHED_DEADLOCK) {
		r->verdict = RUN_DEADLOCK;
		describe_deadlock(report, r->text, sizeof r->text);
	} else if (run->timed_out) {
		r->verdict = run->stuck ? RUN_DEADLOCK : RUN_TIMEOUT;
		snprintf(r->text, sizeof r->text,
			 run->stuck ? "all threads wait for each other" : "it did not end within %g seconds",
			 run->setup.timeout_ms / 1e3);
	} else if (WIFSIGNALED(run->status)) {
		bool assertion = WTERMSIG(run->status) == SIGABRT && *report->message;

		r->verdict = assertion ? RUN_ASSERTION : RUN_CRASH;
		if (*report->message)
			snprintf(r->text, sizeof r->text, "%.255s", report->message);
		else
			snprintf(r->text, sizeof r->text, "it was killed by signal %d (%s)",
				 WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
		snprintf(r->stack, sizeof r->stack, "%.511s", report->stack);
	} else if (WEXITSTATUS(run->status) != run->setup.expected_status) {
		r->verdict = RUN_EXIT;
		snprintf(r->text, sizeof r->text, "its exit status is %d", WEXITSTATUS(run->status));
	} else if (run->setup.expected_output && !output_is_as_expected(run)) {
		r->verdict = RUN_OUTPUT;
		snprintf(r->text, sizeof r->text, "its output is not the expected one");
	} else if (run->setup.check && check(run, &right, err) < 0) {
		return -1;
	} else if (!right) {
		r->verdict = RUN_CHECK;
		snprintf(r->text, sizeof r->text, "the check says that its output is wrong");
	} else {
		r->verdict = r->followed ? RUN_PASSED : RUN_NOT_FOLLOWED;
		snprintf(r->text, sizeof r->text, "it did what it should");
	}
	return 0;
}

int run_judge(struct run *run, struct run_result *r, struct err *err)
{
	const struct sched_report *report = run->report;

	memset(r, 0, sizeof *r);
	r->status = run->status;
	r->seconds = run_now() - run->began;
	r->report = report;
	if (!run->setup.strategy) {
		r->followed = true;
		return judge_end(run, r, err);
	}
	if (report->state == SCHED_UNCLAIMED)
		return err_set(err, "%s: was not scheduled: %s", run->setup.argv[0],
			       deaf_reason(run->setup.argv[0]));
	if (report->state == SCHED_REFUSED)
		return err_set(err, "%s: the runtime refused the schedule: %.200s", run->setup.argv[0],
			       report->message);
	r->followed = !report->diverged;
	if (report->diverged)
		describe_lost(report, r->lost, sizeof r->lost);
	return judge_end(run, r, err);
}

/* ---- what really happened ---- */

void run_steps(const struct sched_report *report, struct schedule *schedule)
{
	uint64_t count = report->switches < SCHED_SWITCHES ? report->switches : SCHED_SWITCHES;

	for (uint64_t i = 0; i < count; i++) {
		const struct sched_switch *s = &report->log[i];

		if (s->thread < SCHED_THREADS)
			schedule_add(schedule, report->thread[s->thread].name, s->events, NULL);
	}
	/* Who had the processor in the end never gave it up. */
	if (count == report->switches && report->current < SCHED_THREADS && report->state == SCHED_RUNNING)
		schedule_add(schedule, report->thread[report->current].name,
			     report->thread[report->current].events, NULL);
}

uint64_t run_switches(const struct sched_report *report, uint64_t *preemptions)
{
	uint64_t count = report->switches < SCHED_SWITCHES ? report->switches : SCHED_SWITCHES;

	*preemptions = 0;
	for (uint64_t i = 0; i < count; i++)
		*preemptions += !report->log[i].forced;
	return report->switches;
}
