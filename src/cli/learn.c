/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan learn`: what runs that pass, findings and spec files say about which
 * code must be atomic, into the atomicity repository of a program. All runs but
 * the first are disturbed, by the scheduler and by noise in turn, so that pairs
 * which others may break are seen broken: that is what makes the rest worth
 * believing.
 */
#include "learn/learn.h"
#include "cli/findings.h"
#include "cli/noise.h"
#include "cli/repository.h"
#include "cli/target.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	struct target target;
	const char *runs, *repository, *spec, *finding, *db;
	struct noise noise;
	int from_findings, json, undisturbed;
};

struct learning {
	const struct options *options;
	struct target target;
	struct program_repository program;
	uint64_t runs, seed;
	char *noise; /* options of the runtime */
	uint64_t passed, failed;
	uint32_t from_findings, from_spec;
	struct learn_counts counts;
};

static bool number(const char *text, uint64_t most, uint64_t *to)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *to <= most;
}

static int read_noise(struct learning *l, struct err *err)
{
	const struct noise *noise = &l->options->noise;
	char *text = noise_text(noise, l->target.argv[0], l->options->db, err);

	if (!text)
		return -1;
	l->noise = mem_textf("filter=0:noise=%s%s%s", *text ? text : "random,20,sleep,20",
			     noise->budget ? ":noise_budget=" : "", noise->budget ? noise->budget : "");
	free(text);
	return 0;
}

static int take_spec(struct learning *l, struct err *err)
{
	struct spec *spec = spec_new();
	int result = spec_add_file(spec, l->options->spec, err);

	if (!result)
		result = learn_spec(&l->program.repository, &l->program.table, spec, &l->from_spec, err);
	spec_free(spec);
	return result;
}

static int take_findings(struct learning *l, struct err *err)
{
	char *path = l->options->db ? mem_text(l->options->db) : store_default_path(l->target.path);
	struct store_query query = STORE_QUERY_ALL;
	struct store *store = store_open(path, STORE_READ, err);
	struct finding_list *list = NULL;

	query.id = l->options->finding;
	query.review = STORE_OPEN;
	if (store)
		list = store_load(store, &query, err);
	if (list && l->options->finding && !list->finding_count) {
		err_set(err, "%s: there is no finding %s", path, l->options->finding);
		finding_list_free(list);
		list = NULL;
	}
	for (uint32_t i = 0; list && i < list->finding_count; i++)
		l->from_findings +=
			learn_finding(&l->program.repository, &l->program.table, &list->findings[i], false);
	free(path);
	if (store)
		store_close(store);
	if (!list)
		return -1;
	finding_list_free(list);
	return 0;
}

/* One run: recorded whole, judged, and learned from if it passed. */
static int take_run(struct learning *l, uint64_t which, struct err *err)
{
	static const char *const strategies[] = {"random", "pct", "pos"};
	struct run_setup setup = target_setup(&l->target);
	struct learn_counts before = l->counts;
	struct run_result result;
	struct run *run;
	int failed = 0;

	setup.trace = setup.quiet = true;
	setup.seed = l->seed + which;
	setup.options = "filter=0";
	if (which % 2 && !l->options->undisturbed)
		setup.strategy = strategies[which / 2 % 3];
	else if (which && !l->options->undisturbed)
		setup.options = l->noise;
	run = run_once(&setup, &result, err);
	if (!run)
		return -1;
	if (result.verdict == RUN_PASSED) {
		failed = learn_trace(&l->program.repository, &l->program.table, run_trace(run), &l->counts,
				     err);
		l->passed++;
	} else {
		l->failed++;
	}
	if (!failed && !l->options->json) {
		fprintf(stderr, "run %llu of %llu%s: ", (unsigned long long)which + 1,
			(unsigned long long)l->runs,
			setup.strategy              ? ", scheduled"
			: setup.options == l->noise ? ", with noise"
						    : "");
		if (result.verdict == RUN_PASSED)
			fprintf(stderr, "%u pairs, %u new, %u broken\n", l->counts.pairs - before.pairs,
				l->counts.fresh - before.fresh, l->counts.broken - before.broken);
		else
			fprintf(stderr, "failed (%s), and nothing was learned from it\n", result.text);
	}
	run_free(run);
	return failed;
}

static int learn(struct learning *l, struct err *err)
{
	if (program_repository_open(&l->program, l->target.path, l->options->repository, err) < 0 ||
	    (l->options->spec && take_spec(l, err) < 0) ||
	    ((l->options->from_findings || l->options->finding) && take_findings(l, err) < 0))
		return -1;
	run_adopt();
	for (uint64_t i = 0; i < l->runs; i++)
		if (take_run(l, i, err) < 0)
			return -1;
	if (l->runs && !l->passed)
		return err_set(err, "none of %llu runs of %s passed, so nothing was learned",
			       (unsigned long long)l->runs, l->target.argv[0]);
	return program_repository_save(&l->program, err);
}

static void tell(const struct learning *l)
{
	const struct repository *r = &l->program.repository;

	if (l->options->json) {
		json_t *document = json_pack("{s:s, s:I, s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:i}",
					     "repository", l->program.path, "runs", (json_int_t)l->runs,
					     "passed", (json_int_t)l->passed, "failed", (json_int_t)l->failed,
					     "sections", (int)r->section_count, "new", (int)l->counts.fresh,
					     "broken", (int)r->broken_count, "lost", (int)l->program.lost,
					     "from_findings", (int)l->from_findings, "from_spec",
					     (int)l->from_spec, "from_annotations", (int)l->counts.brackets);

		json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(document);
		return;
	}
	printf("%s: %u sections, %u broken pairs", l->program.path, r->section_count, r->broken_count);
	if (l->runs)
		printf("; %llu of %llu runs passed", (unsigned long long)l->passed,
		       (unsigned long long)l->runs);
	if (l->options->from_findings || l->options->finding)
		printf("; %u sections from findings", l->from_findings);
	if (l->options->spec)
		printf("; %u from %s", l->from_spec, l->options->spec);
	if (l->counts.elsewhere)
		printf("; %u pairs are not the executable's, and were left out", l->counts.elsewhere);
	putchar('\n');
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	const struct cli_option table[] = {
		{"--runs", &o.runs, NULL},
		{"--repository", &o.repository, NULL},
		{"--from-findings", NULL, &o.from_findings},
		{"--finding", &o.finding, NULL},
		{"--spec", &o.spec, NULL},
		{"--db", &o.db, NULL},
		NOISE_OPTIONS(o.noise),
		NOISE_SEED_OPTION(o.noise),
		{"--undisturbed", NULL, &o.undisturbed},
		{"--json", NULL, &o.json},
		TARGET_OPTIONS(o.target),
		{NULL, NULL, NULL},
	};
	int first = cli_options(&verb_learn, argc, argv, table), status = CLI_OK;
	struct learning l = {.options = &o, .seed = 1};
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first >= argc)
		return cli_failf(&verb_learn, "which program? usage: atomsan learn %s", verb_learn.synopsis);
	l.runs = o.spec || o.finding || o.from_findings ? 0 : 10;
	if (o.runs && !number(o.runs, 1000000, &l.runs))
		return cli_failf(&verb_learn, "--runs takes a number, not '%s'", o.runs);
	if (o.noise.seed && (!number(o.noise.seed, UINT64_MAX - 1000000, &l.seed) || !l.seed))
		return cli_failf(&verb_learn, "--seed takes a number from 1 on, not '%s'", o.noise.seed);
	l.target = o.target;
	if (target_init(&l.target, argv + first, &err) < 0 || read_noise(&l, &err) < 0 || learn(&l, &err) < 0)
		status = cli_fail(&verb_learn, &err);
	else
		tell(&l);
	program_repository_release(&l.program);
	target_release(&l.target);
	free(l.noise);
	return status;
}

const struct verb verb_learn = {
	.name = "learn",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Find out which code must be atomic, from runs that pass",
	.help = "  --runs=N               run it so often; 10, or 0 with one of the next three\n"
		"  --from-findings        make sections of the findings in the store\n"
		"  --finding=ID           make a section of this one\n"
		"  --spec=FILE            add the sections that a spec file has\n"
		"  --repository=FILE      where to keep it; PROGRAM.atomicity\n"
		"  --db=FILE              the store; .atomsan/findings.db beside the program\n"
		"  --seed=N               of the runs that are disturbed; 1\n"
		"  --undisturbed          let all runs be as they are\n"
		"  --json                 say what came of it as a JSON document\n" TARGET_HELP NOISE_HELP
		"\n"
		"Every other run has noise, random:20:sleep:20 where nothing else is said.\n"
		"Nothing is learned from a run that fails. The exit status is 0, or 1 if none passed.\n",
	.run = run,
};
