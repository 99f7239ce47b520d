/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/confirm.h"

#include "analysis/foretell.h"
#include "analysis/witness.h"
#include "base/text.h"
#include "cli/checking.h"
#include "cli/exploration.h"
#include "predict/hints.h"
#include "predict/minimise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As much as explore predicts, see there. */
enum { PREDICTED_MAX = 1000, PREDICT_WORK = 500000 };

/* A shorter schedule is worth so many runs and seconds. */
enum { MINIMISE_RUNS = 200, MINIMISE_SECONDS = 20 };

/* Those that take hints. */
static char *const strategies[] = {"pct", "surw"};
enum { STRATEGIES = sizeof(strategies) / sizeof(*strategies) };

/* What a predicted violation has in common with a finding, the more the higher. */
enum match { MATCH_NONE, MATCH_FUNCTION, MATCH_PLACES, MATCH_ID };

/* A schedule of a prediction. */
struct plan {
	struct schedule *schedule;
	uint32_t finding; /* in the list of predictions */
	enum match match; /* with the finding whose turn it is */
	uint32_t number;
};

struct work {
	struct confirm *confirm;
	struct finding_list *list;
	struct checking checking;
	uint64_t runs, seed;
	double seconds;
	struct run *first; /* whose trace this is */
	struct trace *trace;
	struct hints hints; /* for any finding */
	struct finding_list *predicted;
	struct plan *plans;
	uint32_t plan_count;
	struct schedule *header;
	const char *folder; /* as given */
	char *real_folder;  /* once it is there */
};

/* One finding's turn. */
struct turn {
	struct work *w;
	struct finding *finding;
	struct confirmation *c;
	double began;
	/* The failure that is made shorter. */
	enum run_verdict verdict;
	char *text;
	double until;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the recorded run ---- */

static void add_plan(void *user, const struct schedule *schedule, uint32_t finding)
{
	struct work *w = user;

	w->plans = mem_resize(w->plans, w->plan_count + 1, sizeof(*w->plans));
	w->plans[w->plan_count] = (struct plan){schedule_copy(schedule), finding, MATCH_NONE, w->plan_count};
	w->plan_count++;
}

static int predict(struct work *w, struct err *err)
{
	struct foretell_options options = {.schedules = PREDICTED_MAX, .made = add_plan, .user = w};
	struct foretell_stats stats;
	struct serial_options serial;

	if (checking_prepare(&w->checking, w->trace, &serial, err) < 0)
		return -1;
	options.model = serial.model;
	options.predict.work_limit = PREDICT_WORK;
	w->predicted = finding_list_new("predict");
	int failed = foretell(w->trace, &options, w->predicted, &stats, err);

	checking_release(&w->checking);
	return failed;
}

static int look_first(struct work *w, struct err *err)
{
	struct run_setup setup = target_setup(&w->confirm->target);
	struct run_result result;

	setup.strategy = "serial";
	setup.seed = w->seed;
	setup.quiet = true;
	setup.trace = true;
	w->first = run_once(&setup, &result, err);
	if (!w->first)
		return -1;
	if (run_failed(result.verdict))
		return err_set(err,
			       "nothing can be confirmed with a program that fails when its threads run one "
			       "after the other (%s); say what a good run is with --expect-status, "
			       "--expect-stdout, --check or --timeout",
			       result.text);
	w->trace = trace_open(run_trace(w->first), err);
	if (!w->trace)
		return -1;
	/* A trace that got too long knows of a part only. */
	if (w->trace->header.state == TRACE_STOPPED)
		return 0;
	return hints_make(&w->hints, w->trace, err) < 0 || predict(w, err) < 0 ? -1 : 0;
}

/* ---- which predictions are about a finding ---- */

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool has_place(const struct finding *f, const struct finding_place *place)
{
	for (uint32_t i = 0; i < f->access_count; i++)
		if (f->accesses[i].place.line == place->line &&
		    same(f->accesses[i].place.function, place->function))
			return true;
	return false;
}

static enum match match(const struct finding *f, const struct finding *predicted)
{
	if (!strcmp(f->id, predicted->id))
		return MATCH_ID;
	if (f->access_count && has_place(predicted, &f->accesses[0].place) &&
	    has_place(predicted, &f->accesses[f->access_count - 1].place))
		return MATCH_PLACES;
	for (uint32_t i = 0; f->unit_count && i < predicted->unit_count; i++)
		if (same(f->units[0].place.function, predicted->units[i].place.function) &&
		    same(f->units[0].set, predicted->units[i].set))
			return MATCH_FUNCTION;
	return MATCH_NONE;
}

static int by_match(const void *a, const void *b)
{
	const struct plan *x = a, *y = b;

	if (x->match != y->match)
		return x->match > y->match ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void choose_plans(struct turn *t)
{
	struct work *w = t->w;

	for (uint32_t i = 0; i < w->plan_count; i++)
		w->plans[i].match = match(t->finding, &w->predicted->findings[w->plans[i].finding]);
	if (w->plan_count)
		qsort(w->plans, w->plan_count, sizeof(*w->plans), by_match);
}

/* ---- runs ---- */

/* Is the function that the finding is about the one that another unit came in between of, whichever that is?
 * The static side tells of one that may; which one does is the run's affair. */
static bool is_split(const struct finding *f, const struct finding *seen)
{
	for (uint32_t u = 0; f->unit_count && u < seen->unit_count; u++) {
		bool before = false, between = false;

		if (!same(seen->units[u].place.function, f->units[0].place.function) ||
		    !same(seen->units[u].set, f->units[0].set))
			continue;
		for (uint32_t i = 0; i < seen->access_count; i++) {
			bool own = seen->accesses[i].unit == u;

			if (own && between)
				return true;
			before |= own;
			between |= before && !own;
		}
	}
	return false;
}

/* Did the violation happen in the run? If the checker knows it, its finding is there, in a list of its own.
 */
static bool look(struct turn *t, const struct run *run, struct finding_list **told, struct finding **detail)
{
	struct trace *trace = trace_open(run_trace(run), NULL);
	struct serial_options options;
	struct trace_event event;
	struct err err;
	bool happened = false;

	*detail = NULL;
	*told = finding_list_new("lint");
	if (!trace)
		return false;
	if (!checking_prepare(&t->w->checking, trace, &options, &err)) {
		struct serial *serial = serial_new(trace, &options, *told);
		struct witness *witness = witness_new(trace, t->finding);
		struct trace_cursor *cursor = trace_cursor_open(trace);

		/* A run that crashed may end in the middle of anything. */
		while (trace_next(cursor, &event) > 0) {
			serial_event(serial, &event);
			witness_event(witness, &event);
		}
		serial_finish(serial);
		serial_free(serial);
		trace_cursor_close(cursor);
		happened = witness_happened(witness);
		t->c->reached |= witness_reached(witness);
		witness_free(witness);
	}
	checking_release(&t->w->checking);
	trace_close(trace);
	for (uint32_t i = 0; i < (*told)->finding_count; i++)
		if (!strcmp((*told)->findings[i].id, t->finding->id)) {
			*detail = &(*told)->findings[i];
			happened = true;
		} else if (is_split(t->finding, &(*told)->findings[i])) {
			happened = true;
		}
	return happened;
}

static struct run *force(struct turn *t, const struct schedule *schedule, struct run_result *result,
			 struct err *err)
{
	struct run_setup setup = target_setup(&t->w->confirm->target);

	setup.strategy = "follow";
	setup.schedule = schedule;
	setup.every = schedule->every;
	setup.quiet = true;
	setup.trace = true;
	return run_once(&setup, result, err);
}

/* Fails in the same way, and because of the same. */
static bool fails_so(void *context, const struct schedule *candidate, struct schedule *actual)
{
	struct turn *t = context;
	struct finding_list *told;
	struct finding *detail;
	struct run_result result;
	struct err ignored;
	struct run *run;
	bool fails;

	if (now() > t->until || !(run = force(t, candidate, &result, &ignored)))
		return false;
	fails = result.verdict == t->verdict &&
		(result.verdict == RUN_DEADLOCK || same(result.text, t->text));
	if (fails) {
		fails = look(t, run, &told, &detail);
		finding_list_free(told);
	}
	if (fails && actual)
		run_steps(result.report, actual);
	run_free(run);
	return fails;
}

/* The finding as the failing run shows it, if the checker knows it; what lint says of it, if not. */
static void tell(struct turn *t, struct finding_list *told, const struct finding *detail)
{
	struct confirm *confirm = t->w->confirm;
	struct finding *f = t->finding;
	const char *advice = f->advice, *title = f->title;

	if (detail) {
		enum finding_kind kind = f->kind;

		*f = *detail;
		f->kind = kind;
		f->advice = advice;
		f->title = title;
	}
	f->verb = "lint";
	confirm->lists = mem_resize(confirm->lists, confirm->list_count + 1, sizeof(*confirm->lists));
	confirm->lists[confirm->list_count++] = told;
}

/* A run failed, and the violation was there. */
static int reproduced(struct turn *t, const struct run_result *failed, const char *strategy, uint64_t seed,
		      bool every, struct err *err)
{
	struct finding_list *list = t->w->list, *told;
	struct schedule *long_one = schedule_copy(t->w->header), *short_one;
	struct finding *detail;
	struct run_result result;
	struct run *run;
	uint32_t used;

	t->verdict = failed->verdict;
	t->text = mem_text(failed->text);
	t->until = now() + MINIMISE_SECONDS;
	long_one->every = every;
	long_one->end = SCHEDULE_SERIAL;
	long_one->seed = seed;
	long_one->strategy = mem_text(strategy);
	long_one->verdict = mem_textf("%s: %s", run_verdict_text(t->verdict), t->text);
	run_steps(failed->report, long_one);
	short_one = minimise(long_one, fails_so, t, MINIMISE_RUNS, &used);
	schedule_free(long_one);
	run = force(t, short_one, &result, err);
	if (!run) {
		schedule_free(short_one);
		return -1;
	}
	look(t, run, &told, &detail);
	run_free(run);
	tell(t, told, detail);
	if (!t->w->real_folder && target_make_folder(t->w->folder, err) < 0) {
		schedule_free(short_one);
		return -1;
	}
	if (!t->w->real_folder)
		t->w->real_folder = realpath(t->w->folder, NULL);
	t->c->schedule = finding_textf(list, "%s/%s.schedule",
				       t->w->real_folder ? t->w->real_folder : t->w->folder, t->finding->id);
	t->c->failure = finding_text(list, t->text);
	t->finding->state = FINDING_REPRODUCED;
	t->finding->confidence = 1;
	t->finding->schedule = t->c->schedule;
	t->finding->title = finding_textf(list, "%s: %s", t->c->title, t->text);

	int wrote = schedule_write(short_one, t->c->schedule, err);

	schedule_free(short_one);
	return wrote;
}

/* One run. 1: reproduced, 0: not, -1: err is set. */
static int attempt(struct turn *t, const struct run_setup *setup, struct err *err)
{
	struct finding_list *told;
	struct finding *detail;
	struct run_result result;
	struct run *run = run_once(setup, &result, err);
	int status = 0;

	if (!run)
		return -1;
	t->c->runs++;
	bool happened = look(t, run, &told, &detail), failed = run_failed(result.verdict);

	finding_list_free(told);
	t->c->happened += happened && !failed;
	t->c->failed_other += failed && !happened;
	if (happened && failed)
		status = reproduced(t, &result, setup->schedule ? "predicted" : setup->strategy,
				    setup->schedule ? 0 : setup->seed, setup->every, err) < 0
				 ? -1
				 : 1;
	run_free(run);
	return status;
}

static bool spent(const struct turn *t, double share)
{
	const struct work *w = t->w;

	if (w->seconds > 0)
		return now() - t->began >= w->seconds * share;
	return (double)t->c->runs >= (double)w->runs * share;
}

static bool about(void *user, uint32_t site)
{
	const struct turn *t = user;

	return witness_concerns(t->finding, t->w->trace, site);
}

static int try_predicted(struct turn *t, struct err *err)
{
	struct run_setup setup = target_setup(&t->w->confirm->target);
	int status = 0;

	setup.strategy = "follow";
	setup.quiet = true;
	setup.trace = true;
	for (uint32_t i = 0; !status && i < t->w->plan_count; i++) {
		const struct plan *plan = &t->w->plans[i];

		/* What is not quite the same must leave something for chance. */
		if (plan->match == MATCH_NONE || spent(t, plan->match == MATCH_ID ? 1 : 0.5))
			break;
		setup.schedule = plan->schedule;
		setup.every = plan->schedule->every;
		status = attempt(t, &setup, err);
	}
	return status;
}

static int try_chance(struct turn *t, struct err *err)
{
	struct run_setup setup = target_setup(&t->w->confirm->target);
	struct hints hints = {0};
	int status = 0;

	if (t->w->hints.text && hints_make_about(&hints, t->w->trace, about, t, err) < 0)
		return -1;
	/* A run that never came to its places knows nothing of them. */
	setup.hints = hints.shared_places ? hints.text : t->w->hints.text;
	setup.quiet = true;
	setup.trace = true;
	for (uint64_t i = 0; !status && !spent(t, 1); i++) {
		setup.strategy = strategies[i % STRATEGIES];
		setup.seed = t->w->seed + i;
		status = attempt(t, &setup, err);
	}
	hints_release(&hints);
	return status;
}

static int confirm_one(struct work *w, struct finding *finding, struct confirmation *c, struct err *err)
{
	struct turn t = {.w = w, .finding = finding, .c = c, .began = now()};

	memcpy(c->id, finding->id, sizeof(c->id));
	c->title = finding->title;
	choose_plans(&t);
	int status = try_predicted(&t, err);

	if (!status)
		status = try_chance(&t, err);
	free(t.text);
	if (status < 0)
		return -1;
	finding_add_trial(w->list, &(struct finding_trial){.schedule = c->schedule,
							   .strategy = "confirm",
							   .verdict = c->schedule ? "failed" : "passed",
							   .finding = c->id,
							   .seed = w->seed,
							   .runs = c->runs,
							   .failures = c->schedule ? 1 : 0});
	return 0;
}

/* ---- all ---- */

static void progress(const struct work *w, uint32_t done)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[Katomsan lint: confirming %u of %u", done + 1,
			w->list->finding_count);
}

static int work(struct work *w, struct err *err)
{
	struct confirm *confirm = w->confirm;
	int failed = look_first(w, err);

	confirm->found = mem_zalloc(w->list->finding_count + 1, sizeof(*confirm->found));
	for (uint32_t i = 0; !failed && i < w->list->finding_count; i++) {
		progress(w, i);
		failed = confirm_one(w, &w->list->findings[i], &confirm->found[i], err);
		confirm->count += !failed;
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return failed;
}

int confirm_all(struct confirm *confirm, struct finding_list *list, struct err *err)
{
	struct work w = {.confirm = confirm, .list = list, .seed = 1};
	char **argv = confirm->target.argv, *folder = target_schedules(&confirm->target);
	uint32_t count = 0;
	int failed = -1;

	if (!list->finding_count) {
		free(folder);
		return 0;
	}
	w.checking.spec_files = confirm->spec;
	run_adopt();
	while (argv[count + 1])
		count++;
	w.header = schedule_new();
	schedule_set_program(w.header, argv[0], argv + 1, count);
	schedule_set_environment(w.header, environ);
	w.header->build_id = confirm->target.build_id ? mem_text(confirm->target.build_id) : NULL;
	w.folder = confirm->folder ? confirm->folder : folder;
	if (!exploration_budget(confirm->budget ? confirm->budget : "100", &w.runs, &w.seconds, err) &&
	    !exploration_number("seed", confirm->seed, 1, UINT64_MAX / 2, &w.seed, err))
		failed = work(&w, err);
	for (uint32_t i = 0; i < w.plan_count; i++)
		schedule_free(w.plans[i].schedule);
	free(w.plans);
	finding_list_free(w.predicted);
	hints_release(&w.hints);
	trace_close(w.trace);
	run_free(w.first);
	schedule_free(w.header);
	free(w.real_folder);
	free(folder);
	return failed;
}

void confirm_print(const struct confirm *confirm, FILE *out)
{
	for (uint32_t i = 0; i < confirm->count; i++) {
		const struct confirmation *c = &confirm->found[i];
		const char *many = c->runs == 1 ? "" : "s";

		fprintf(out, "%s  ", c->id);
		text_put(out, c->title);
		if (c->schedule) {
			fputs(": reproduced (schedule ", out);
			text_put(out, c->schedule);
			fprintf(out, ", after %" PRIu64 " schedule%s)", c->runs, many);
		} else {
			fprintf(out, ": not reproduced in %" PRIu64 " schedule%s", c->runs, many);
			if (c->happened)
				fprintf(out, "; it happened in %" PRIu64 ", and nothing failed", c->happened);
			else if (!c->reached)
				fputs("; no run came to all of its places", out);
		}
		if (c->failed_other)
			fprintf(out, "; %" PRIu64 " failed because of something else", c->failed_other);
		putc('\n', out);
	}
	if (confirm->count)
		putc('\n', out);
}

void confirm_release(struct confirm *confirm)
{
	for (uint32_t i = 0; i < confirm->list_count; i++)
		finding_list_free(confirm->lists[i]);
	free(confirm->lists);
	free(confirm->found);
	target_release(&confirm->target);
}
