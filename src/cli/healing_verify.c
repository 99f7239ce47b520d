/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan heal --verify`: the schedules that made the program fail, forced upon
 * it again, without healing and with it. A schedule that cannot be followed any
 * more is one that healing has made impossible.
 */
#include "base/text.h"
#include "cli/healing.h"
#include "finding/store.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tally {
	uint64_t runs, failed, infeasible;
	char first[400]; /* what failed first */
};

struct verified {
	char *id, *path;
	struct tally without, with;
};

static int try(struct healing *healing, const struct schedule *schedule, uint64_t times, struct tally *tally,
	       struct err *err)
{
	struct run_setup setup = target_setup(&healing->target);

	setup.strategy = "follow";
	setup.schedule = schedule;
	setup.every = schedule->every;
	setup.quiet = true;
	while (tally->runs < times) {
		struct run_result result;
		struct run *run = run_once(&setup, &result, err);

		if (!run)
			return -1;
		tally->runs++;
		if (run_failed(result.verdict)) {
			if (!tally->failed++)
				snprintf(tally->first, sizeof tally->first, "%s", result.text);
		} else if (!result.followed) {
			tally->infeasible++;
		}
		run_free(run);
	}
	return 0;
}

static int verify_one(struct healing *healing, struct verified *v, uint64_t times, struct err *err)
{
	struct schedule *schedule = schedule_read(v->path, err);
	const char *given = getenv("ATOMSAN_OPTIONS");
	char *before = mem_text(given ? given : ""), *options;
	int failed;

	if (!schedule) {
		free(before);
		return -1;
	}
	failed = try(healing, schedule, times, &v->without, err);
	options = healing_options(healing);
	setenv("ATOMSAN_OPTIONS", options, 1);
	free(options);
	failed = failed || try(healing, schedule, times, &v->with, err);
	setenv("ATOMSAN_OPTIONS", before, 1);
	free(before);
	schedule_free(schedule);
	return failed ? -1 : 0;
}

/* Where explore keeps them: beside the program. */
static char *schedule_folder(const struct healing *healing)
{
	const char *slash = strrchr(healing->target.path, '/');

	return mem_textf("%.*s.atomsan/schedules", slash ? (int)(slash - healing->target.path + 1) : 0,
			 healing->target.path);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct verified *)a)->id, ((const struct verified *)b)->id);
}

/* Those of one finding, or all that are there for this build. */
static struct verified *collect(const struct healing *healing, uint32_t *count)
{
	char *folder = schedule_folder(healing);
	DIR *directory = opendir(folder);
	struct verified *list = NULL;
	struct dirent *entry;

	*count = 0;
	while (directory && (entry = readdir(directory))) {
		const char *end = strstr(entry->d_name, ".schedule");
		struct schedule *schedule;
		struct err err;
		char *path;

		if (strncmp(entry->d_name, "F-", 2) || !end || end[strlen(".schedule")])
			continue;
		if (healing->finding && strncmp(entry->d_name, healing->finding, strlen(healing->finding)))
			continue;
		path = mem_textf("%s/%s", folder, entry->d_name);
		schedule = schedule_read(path, &err);
		if (!schedule || (schedule->build_id && healing->target.build_id &&
				  strcmp(schedule->build_id, healing->target.build_id))) {
			schedule_free(schedule);
			free(path);
			continue;
		}
		schedule_free(schedule);
		list = mem_resize(list, *count + 1, sizeof *list);
		list[*count] = (struct verified){
			.id = mem_textf("%.*s", (int)(end - entry->d_name), entry->d_name), .path = path};
		++*count;
	}
	if (directory)
		closedir(directory);
	free(folder);
	if (*count)
		qsort(list, *count, sizeof *list, by_id);
	return list;
}

static void print_tally(const char *name, const struct tally *tally)
{
	printf(",\"%s\":{\"runs\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"infeasible\":%" PRIu64 ",\"first\":",
	       name, tally->runs, tally->failed, tally->infeasible);
	text_json(stdout, tally->failed ? tally->first : NULL);
	putchar('}');
}

static void print(const struct healing *healing, const struct verified *list, uint32_t count)
{
	if (healing->publish.json) {
		fputs("{\"version\":1,\"program\":", stdout);
		text_json(stdout, healing->target.argv[0]);
		fputs(",\"schedules\":[", stdout);
		for (uint32_t i = 0; i < count; i++) {
			printf("%s\n{\"finding\":", i ? "," : "");
			text_json(stdout, list[i].id);
			fputs(",\"schedule\":", stdout);
			text_json(stdout, list[i].path);
			print_tally("without", &list[i].without);
			print_tally("healed", &list[i].with);
			putchar('}');
		}
		puts("]}");
		return;
	}
	puts("schedule of          without healing            with healing");
	for (uint32_t i = 0; i < count; i++) {
		const struct tally *a = &list[i].without, *b = &list[i].with;

		printf("%-20s %" PRIu64 " of %" PRIu64 " runs failed%*s%" PRIu64 " of %" PRIu64
		       " failed, %" PRIu64 " passed, %" PRIu64 " not feasible any more\n",
		       list[i].id, a->failed, a->runs, 8, "", b->failed, b->runs,
		       b->runs - b->failed - b->infeasible, b->infeasible);
		if (b->failed) {
			fputs("  with healing, ", stdout);
			text_put(stdout, b->first);
			putchar('\n');
		}
	}
}

struct verdicts {
	const struct verified *list;
	uint32_t count;
};

/* How often a finding's schedules failed without healing, if they never did with it. */
static uint64_t times_averted(const void *user, const struct finding *finding)
{
	const struct verdicts *verdicts = user;
	uint64_t times = 0;

	for (uint32_t i = 0; i < verdicts->count; i++) {
		const struct verified *v = &verdicts->list[i];

		if (strcmp(v->id, finding->id))
			continue;
		if (v->with.failed)
			return 0;
		times += v->without.failed;
	}
	return times;
}

static void tell_tally(struct finding_list *list, const struct verified *v, const struct tally *tally,
		       const char *strategy)
{
	const char *verdict = tally->failed                      ? "failed"
			      : tally->infeasible == tally->runs ? "not feasible"
								 : "passed";

	finding_add_trial(list, &(struct finding_trial){.schedule = v->path,
							.strategy = strategy,
							.verdict = verdict,
							.finding = v->id,
							.runs = tally->runs,
							.failures = tally->failed});
}

static void tell_trials(const void *user, struct finding_list *list)
{
	const struct verdicts *verdicts = user;

	for (uint32_t i = 0; i < verdicts->count; i++) {
		tell_tally(list, &verdicts->list[i], &verdicts->list[i].without, "kept, not healed");
		tell_tally(list, &verdicts->list[i], &verdicts->list[i].with, "kept, healed");
	}
}

int healing_verify(struct healing *healing)
{
	uint64_t times = healing->times ? strtoull(healing->times, NULL, 10) : 1;
	uint32_t count = 0;
	struct verified *list = collect(healing, &count);
	bool failed = false;
	int status = CLI_OK;
	struct err err;

	run_adopt();
	if (!count)
		status = cli_failf(
			&verb_heal,
			"there is no schedule of %s to verify with; 'atomsan explore' keeps those that fail",
			healing->finding ? healing->finding : "this build");
	for (uint32_t i = 0; i < count && status == CLI_OK; i++) {
		if (verify_one(healing, &list[i], times, &err) < 0)
			status = cli_fail(&verb_heal, &err);
		failed |= list[i].with.failed != 0;
	}
	if (status == CLI_OK) {
		print(healing, list, count);
		healing_keep(healing, times_averted, tell_trials, &(struct verdicts){list, count});
		status = failed ? CLI_FINDINGS : CLI_OK;
	}
	for (uint32_t i = 0; i < count; i++) {
		free(list[i].id);
		free(list[i].path);
	}
	free(list);
	return status;
}
