/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/steps.h"

#include "cli/checking.h"
#include "cli/child.h"
#include "cli/folder.h"
#include "finding/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WORDS 24

static void say(const struct steps *steps, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct steps *steps, const char *format, ...)
{
	va_list words;

	if (steps->quiet)
		return;
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fflush(stderr);
}

/* Runs atomsan with the words, standard output going to a file, and standard error to one, too, unless that
 * is NULL. Returns the exit status, -1 if there is none. */
static int run_verb(const struct steps *steps, const char *const *words, bool with_program,
		    const char *output, const char *errors)
{
	char **argv = mem_zalloc(MOST_WORDS + (size_t)steps->program_words + 3, sizeof(*argv));
	struct child child = {.argv = argv, .output = output, .errors = errors};
	int count = 0, status;
	struct err err;

	argv[count++] = steps->self;
	for (int i = 0; words[i]; i++) {
		BUG_ON(i == MOST_WORDS);
		argv[count++] = (char *)words[i];
	}
	if (with_program) {
		argv[count++] = "--";
		for (int i = 0; i < steps->program_words; i++)
			argv[count++] = steps->program[i];
	}
	bool ended = child_start(&child, &err) >= 0 && child_wait(0, &status, &err) >= 0;

	free(argv);
	return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The reason is the last thing that a verb says. */
static void say_last_line(const struct steps *steps, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512], last[512] = "";

	while (file && fgets(line, sizeof line, file))
		memcpy(last, line, sizeof last);
	if (file)
		fclose(file);
	say(steps, "%s", last);
}

static struct finding *known(struct finding_list *list, const char *id)
{
	for (uint32_t i = 0; i < list->finding_count; i++)
		if (!strcmp(list->findings[i].id, id))
			return &list->findings[i];
	return NULL;
}

/* Adds what a step found. Its list lives on, for its strings are used. */
static void take(struct steps *steps, const struct finding_list *found)
{
	struct finding_list *all = steps->all;

	for (uint32_t i = 0; i < found->blind_spot_count; i++) {
		uint32_t k = 0;

		while (k < all->blind_spot_count && strcmp(all->blind_spots[k], found->blind_spots[i]))
			k++;
		if (k == all->blind_spot_count)
			finding_add_blind_spot(all, found->blind_spots[i]);
	}
	for (uint32_t i = 0; i < found->finding_count; i++) {
		const struct finding *finding = &found->findings[i];
		struct finding *before = known(all, finding->id);

		if (!before)
			*finding_add(all) = *finding;
		else if (finding->state >= before->state)
			*before = *finding;
	}
	for (uint32_t i = 0; i < found->trial_count; i++)
		finding_add_trial(all, &found->trials[i]);
	if (!all->program && found->program)
		all->program = finding_text(all, found->program);
	if (!all->build_id && found->build_id)
		all->build_id = finding_text(all, found->build_id);
	if (found->seed)
		all->seed = found->seed;
}

static const char *const names[STEPS] = {[STEP_LINT] = "lint",
					 [STEP_CHECK] = "check",
					 [STEP_PREDICT] = "predict",
					 [STEP_RACE] = "race",
					 [STEP_EXPLORE] = "explore"};

/* One verb with --json, its words behind that; says what came of it. */
static void find(struct steps *steps, enum step step, const char *const *words, bool with_program)
{
	char *path = mem_textf("%s/%s.json", steps->folder, names[step]);
	/* What the program itself prints under race was seen under record. */
	char *errors = step == STEP_RACE ? mem_textf("%s/errors", steps->folder) : NULL;
	const char *all[MOST_WORDS + 1] = {names[step], "--json", "--no-store"};
	struct finding_list *found = NULL;
	struct err err;
	int count = 3;

	while (*words) {
		BUG_ON(count == MOST_WORDS);
		all[count++] = *words++;
	}
	say(steps, "%-8s ", names[step]);
	int status = run_verb(steps, all, with_program, path, errors);

	/* Without findings, race has the program's own status: there the document alone tells. */
	if (status == CLI_OK || status == CLI_FINDINGS || step == STEP_RACE)
		found = finding_list_read(path, &err);
	if (found) {
		say(steps, "%u finding%s\n", found->finding_count, found->finding_count == 1 ? "" : "s");
		take(steps, found);
	} else {
		if (errors)
			say_last_line(steps, errors);
		say(steps, "was not done\n");
	}
	steps->found[step] = found;
	free(errors);
	free(path);
}

/* Of a run, in whole seconds. Explore takes the text as it is, and says what is wrong with it. */
static unsigned time_limit(const struct steps *steps)
{
	double seconds = steps->timeout ? strtod(steps->timeout, NULL) : 10;

	return seconds > 0 && seconds < 100000 ? (unsigned)seconds + (seconds > (unsigned)seconds) : 100000;
}

static void record(struct steps *steps)
{
	char *trace = mem_textf("%s/run.atr", steps->folder), *output = mem_textf("%s/output", steps->folder);
	struct stat recorded;

	/* Recorded, a run takes longer. One that never ends is looked at as far as it came. */
	char *limit = mem_textf("--timeout=%u", 10 * time_limit(steps));

	say(steps, "record   ");
	int status =
		run_verb(steps, (const char *[]){"record", "-o", trace, limit, NULL}, true, output, NULL);

	free(limit);
	free(output);
	/* The program's own status is its own business here; explore judges it. */
	if (stat(trace, &recorded) < 0) {
		say(steps, "was not done\n");
		free(trace);
		return;
	}
	say(steps, "exit status %d\n", status);
	steps->trace = trace;
}

/* Aimed at nothing; who knows where gives --noise. */
static void race(struct steps *steps)
{
	char *runs = mem_textf("--runs=%u", steps->race_runs);
	char *timeout = mem_textf("--timeout=%u", time_limit(steps));

	find(steps, STEP_RACE,
	     (const char *[]){runs, "--noise-budget=200", steps->noise.given ? timeout : "--noise=random:20",
			      steps->noise.given ? NULL : timeout, NULL},
	     true);
	free(runs);
	free(timeout);
}

static void explore(struct steps *steps)
{
	const struct {
		const char *name, *text;
	} given[] = {{"budget", steps->budget ? steps->budget : "200"},
		     {"spec", steps->spec},
		     {"timeout", steps->timeout},
		     {"expect-status", steps->expect_status},
		     {"expect-stdout", steps->expect_stdout},
		     {"check", steps->check}};
	char *words[sizeof given / sizeof *given + 1] = {NULL};
	int count = 0;

	for (size_t i = 0; i < sizeof given / sizeof *given; i++)
		if (given[i].text)
			words[count++] = mem_textf("--%s=%s", given[i].name, given[i].text);
	find(steps, STEP_EXPLORE, (const char *const *)words, true);
	while (count)
		free(words[--count]);
}

bool steps_take(struct steps *steps)
{
	char *spec = steps->spec ? mem_textf("--spec=%s", steps->spec) : NULL;

	find(steps, STEP_LINT, (const char *[]){steps->program[0], spec, NULL}, false);
	/* Who ends us ends the step under way, and wants no other. */
	if (!child_signal())
		record(steps);
	if (!child_signal() && steps->trace)
		find(steps, STEP_CHECK, (const char *[]){steps->trace, spec, NULL}, false);
	if (!child_signal() && steps->trace && steps->with_predict)
		find(steps, STEP_PREDICT, (const char *[]){steps->trace, spec, NULL}, false);
	if (!child_signal())
		race(steps);
	if (!child_signal())
		explore(steps);
	free(spec);
	return !child_signal();
}

bool steps_any(const struct steps *steps)
{
	for (int i = 0; i < STEPS; i++)
		if (steps->found[i])
			return true;
	return false;
}

int steps_begin(struct steps *steps, const struct verb *verb, char **argv, const char *db, struct err *err)
{
	if (access(argv[0], X_OK) && strchr(argv[0], '/'))
		return err_set(err, "%s: %s", argv[0], strerror(errno));
	if (checking_files(&(struct checking){.spec_files = steps->spec}, err) < 0)
		return -1;
	/* The verbs that follow find it in the environment. */
	if (noise_apply(&steps->noise, argv[0], db, err) < 0)
		return -1;
	steps->self = cli_self(err);
	if (!steps->self)
		return -1;
	child_expect_signals();
	steps->folder = folder_make(verb->name, err);
	if (!steps->folder) {
		free(steps->self);
		return -1;
	}
	if (!steps->race_runs)
		steps->race_runs = 2;
	steps->program = argv;
	steps->all = finding_list_new(verb->name);
	for (; argv[steps->program_words]; steps->program_words++)
		finding_add_argument(steps->all, argv[steps->program_words]);
	return 0;
}

int steps_end(struct steps *steps, int status)
{
	folder_remove(steps->folder);
	for (int i = 0; i < STEPS; i++)
		finding_list_free(steps->found[i]);
	free(steps->trace);
	free(steps->self);
	free(steps->folder);
	return child_signal() ? child_end(child_signal()) : status;
}
