/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan verify`: is a finding mended? The program is looked at as `test` looks
 * at it, and what was found before must not be found again by anybody: not by
 * those who suspect it, and not by those who force it. Silence counts only if
 * the block was there to be broken, so a run must have come through it.
 *
 * Who finds nothing has proven nothing, so what was tried is written into the
 * finding's history with the word.
 */
#include "base/text.h"
#include "cli/findings.h"
#include "cli/publish.h"
#include "cli/steps.h"
#include "trace/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum outcome { FIXED, STILL_THERE, NOT_SHOWN };

struct verified {
	struct finding_list *before; /* with the finding, as the store had it */
	enum outcome outcome;
	char *reason;
};

static const struct finding *finding_of(const struct verified *v)
{
	return &v->before->findings[0];
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* ---- what a run came through ---- */

static bool is_in(const char *name, const struct trace_function *function)
{
	return same(name, function->name) || same(name, function->linkage_name);
}

/* Did the run come to this function? An access of what was inlined into another one names its own. */
static bool came_to(struct trace *trace, const char *name)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_function function;
	struct trace_event event;
	struct trace_site site;
	struct err err;
	bool found = false;

	while (!found && trace_next(cursor, &event) > 0) {
		if (event.kind == TRACE_ENTER)
			found = !trace_function(trace, event.function, &function, &err) &&
				is_in(name, &function);
		else if (event.kind == TRACE_ACCESS && event.site != TRACE_NO_SITE)
			found = !trace_site(trace, event.site, &site, &err) && same(name, site.function);
	}
	trace_cursor_close(cursor);
	return found;
}

/* The first function of the finding that the run did not come to; NULL: it came to all. */
static const char *left_out(const struct finding *finding, struct trace *trace)
{
	uint32_t count = finding->unit_count ? finding->unit_count : finding->access_count;

	for (uint32_t i = 0; i < count; i++) {
		const char *name = finding->unit_count ? finding->units[i].place.function
						       : finding->accesses[i].place.function;

		if (name && !came_to(trace, name))
			return name;
	}
	return NULL;
}

/* ---- what was found ---- */

/* The block that is not atomic is the first unit; others only come in between. */
static bool same_block(const struct finding *a, const struct finding *b)
{
	return a->unit_count && b->unit_count &&
	       same(a->units[0].place.function, b->units[0].place.function) &&
	       same(a->units[0].set, b->units[0].set);
}

static const struct finding *found_again(const struct finding *finding, const struct finding_list *list)
{
	const struct finding *alike = NULL;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		if (same(finding->id, list->findings[i].id))
			return &list->findings[i];
		if (same_block(finding, &list->findings[i]))
			alike = &list->findings[i];
	}
	return alike;
}

static uint64_t count_of(const struct finding_list *list, const char *name)
{
	for (uint32_t i = 0; list && i < list->count_count; i++)
		if (same(list->counts[i].name, name))
			return (uint64_t)list->counts[i].value;
	return 0;
}

/* Who spoke of it before has to have been asked. */
static bool was_asked(const struct steps *steps, const struct finding *finding)
{
	static const struct {
		const char *verb;
		enum step step;
	} who[] = {{"lint", STEP_LINT},       {"check", STEP_CHECK}, {"run", STEP_CHECK},
		   {"predict", STEP_PREDICT}, {"race", STEP_RACE},   {"explore", STEP_EXPLORE}};

	for (size_t i = 0; i < sizeof who / sizeof *who; i++)
		if (same(finding->verb, who[i].verb) && !steps->found[who[i].step])
			return false;
	return steps->found[STEP_EXPLORE] && steps->trace;
}

static void judge(struct verified *v, const struct steps *steps, struct trace *trace)
{
	const struct finding *finding = finding_of(v), *again = found_again(finding, steps->all);
	const char *missing;

	if (again) {
		v->outcome = STILL_THERE;
		v->reason = same(again->id, finding->id)
				    ? mem_textf("%s by %s", finding_state_text(again->state), again->verb)
				    : mem_textf("%s is not atomic, as %s by %s in %s",
						finding->units[0].place.function,
						finding_state_text(again->state), again->verb, again->id);
		return;
	}
	v->outcome = NOT_SHOWN;
	if (!was_asked(steps, finding) || !trace) {
		v->reason = mem_textf("not all steps could be done");
		return;
	}
	missing = left_out(finding, trace);
	if (missing) {
		v->reason = mem_textf("the recorded run did not come to %s; other arguments may", missing);
		return;
	}
	v->outcome = FIXED;
	v->reason = mem_textf("not found by lint, in a recorded run or in %" PRIu64
			      " runs under the scheduler, %" PRIu64 " schedules predicted; build %.12s",
			      count_of(steps->found[STEP_EXPLORE], "runs"),
			      count_of(steps->found[STEP_EXPLORE], "predicted-schedules"),
			      steps->all->build_id ? steps->all->build_id : "not known");
}

static const char *outcome_text(enum outcome outcome)
{
	static const char *const texts[] = {
		[FIXED] = "fixed", [STILL_THERE] = "still there", [NOT_SHOWN] = "not shown"};

	return texts[outcome];
}

/* ---- the verb ---- */

static struct store *open_store(const struct publish *publish, const char *program, enum store_mode mode,
				struct err *err)
{
	char *path = publish->db ? mem_text(publish->db) : store_default_path(program);
	struct store *store = store_open(path, mode, err);

	free(path);
	return store;
}

/* How many of these nobody had found before. A mend that breaks something else is none; what was known
 * already is another matter. */
static uint32_t new_ones(const struct finding_list *list, struct store *store)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		struct store_query query = STORE_QUERY_ALL;
		struct finding_list *known;
		struct err err;

		query.id = list->findings[i].id;
		query.brief = true;
		known = store_load(store, &query, &err);
		count += known && !known->finding_count;
		finding_list_free(known);
	}
	return count;
}

static int write_down(const struct verified *v, uint32_t count, const struct publish *publish,
		      const char *program)
{
	struct err err;
	struct store *store = open_store(publish, program, STORE_WRITE, &err);
	int failed = !store;

	for (uint32_t i = 0; i < count && !failed; i++) {
		char *reason = mem_textf("verified: %s", v[i].reason);

		if (v[i].outcome == FIXED)
			failed = store_review(store, finding_of(&v[i])->id, FINDING_FIXED, reason, &err);
		free(reason);
	}
	store_close(store);
	return failed ? cli_fail(&verb_verify, &err) : CLI_OK;
}

static void print(const struct verified *v, uint32_t count, uint32_t others)
{
	for (uint32_t i = 0; i < count; i++) {
		char *title = finding_title(finding_of(&v[i]));

		printf("%s%s  ", i ? "" : "\n", finding_of(&v[i])->id);
		text_put(stdout, title);
		printf("\n  %s: ", outcome_text(v[i].outcome));
		text_put(stdout, v[i].reason);
		putchar('\n');
		free(title);
	}
	if (others)
		printf("%u finding%s that nobody had found before\n", others, others == 1 ? "" : "s");
}

static int verify(struct verified *v, uint32_t count, struct steps *steps, struct publish *publish)
{
	uint32_t outcomes[3] = {0}, others;
	struct store *store;
	struct trace *trace;
	struct err err;

	if (!steps_take(steps)) {
		finding_list_free(steps->all);
		return CLI_FAILED;
	}
	trace = steps->trace ? trace_open(steps->trace, &err) : NULL;
	for (uint32_t i = 0; i < count; i++) {
		judge(&v[i], steps, trace);
		outcomes[v[i].outcome]++;
		finding_add_trial(steps->all,
				  &(struct finding_trial){
					  .strategy = "verify",
					  .verdict = outcome_text(v[i].outcome),
					  .finding = finding_of(&v[i])->id,
					  .seed = steps->all->seed,
					  .runs = count_of(steps->found[STEP_EXPLORE], "runs"),
					  .failures = count_of(steps->found[STEP_EXPLORE], "failures")});
	}
	trace_close(trace);
	store = open_store(publish, steps->program[0], STORE_READ, &err);
	others = store ? new_ones(steps->all, store) : 0;
	store_close(store);
	if (findings_publish(&verb_verify, steps->all, publish) == CLI_FAILED)
		return CLI_FAILED;
	if (!publish->json)
		print(v, count, others);
	if (!publish->no_store && write_down(v, count, publish, steps->program[0]))
		return CLI_FAILED;
	if (outcomes[STILL_THERE] || others)
		return CLI_FINDINGS;
	return outcomes[NOT_SHOWN] ? CLI_FAILED : CLI_OK;
}

/* The findings that were asked for, as the store knows them; -1 after a sentence. */
static int look_up(struct verified *v, char **words, uint32_t count, const struct publish *publish,
		   const char *program)
{
	struct err err;
	struct store *store = open_store(publish, program, STORE_READ, &err);
	int failed = 0;

	if (!store) {
		cli_fail(&verb_verify, &err);
		failed = -1;
	}
	for (uint32_t i = 0; i < count && !failed; i++) {
		v[i].before = findings_one(&verb_verify, store, words[i]);
		failed = v[i].before ? 0 : -1;
	}
	store_close(store);
	return failed;
}

static int run(int argc, char **argv)
{
	struct publish publish = {0};
	struct steps steps = {.with_predict = true};
	const struct cli_option options[] = {
		STEPS_OPTIONS(steps), PUBLISH_OPTIONS(publish), {NULL, NULL, NULL}};
	int words = 1, first, status;
	struct err err;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	first = cli_options_anywhere(&verb_verify, words, argv, options);
	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first == words || words + 1 >= argc)
		return cli_failf(&verb_verify, "needs findings and a program; usage: atomsan verify %s",
				 verb_verify.synopsis);
	uint32_t count = (uint32_t)(words - first);
	struct verified *v = mem_zalloc(count, sizeof *v);

	if (look_up(v, argv + first, count, &publish, argv[words + 1]) < 0) {
		status = CLI_FAILED;
	} else if (steps_begin(&steps, &verb_verify, argv + words + 1, publish.db, &err) < 0) {
		status = cli_fail(&verb_verify, &err);
	} else {
		steps.quiet = publish.json;
		for (uint32_t i = 0; i < count; i++)
			if (finding_of(&v[i])->kind == FINDING_RACE)
				steps.race_runs = 10;
		status = steps_end(&steps, verify(v, count, &steps, &publish));
	}
	for (uint32_t i = 0; i < count; i++) {
		finding_list_free(v[i].before);
		free(v[i].reason);
	}
	free(v);
	return status;
}

const struct verb verb_verify = {
	.name = "verify",
	.synopsis = "[OPTION]... FINDING... -- PROGRAM [ARGUMENT]...",
	.summary = "Look whether findings are mended, and mark those that are as fixed",
	.help = STEPS_HELP PUBLISH_HELP
	"\n"
	"Exit status: 0 if they are, 66 if one is still there or something new was found, 1 if "
	"nothing can be said.\n",
	.run = run,
};
