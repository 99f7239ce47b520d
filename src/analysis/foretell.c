/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/foretell.h"

#include "analysis/harmless.h"
#include "analysis/named.h"
#include "predict/load.h"
#include "predict/rank.h"
#include "predict/schedule.h"
#include "predict/synth.h"
#include "trace/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Places that are told as findings; more nobody reads. */
#define PLACES_LIMIT 20000
/* Predictions of one place that are looked at for one that would do harm. */
#define TRIES 4

struct foretold {
	struct trace *trace;
	const struct foretell_options *options;
	struct finding_list *list;
	struct foretell_stats *stats;
	struct history history;
	struct predict predict;
	struct named named;
	struct harmless harmless;
	struct map tried; /* place to how many of its predictions are among the chosen */
	uint32_t *chosen; /* predictions, those that the run did not show first */
	uint32_t chosen_count;
	uint32_t *findings; /* by prediction: index in the list; RANK_LEFT_OUT: it is not told */
	struct map places;  /* to the prediction that stands for the others, plus one */
	struct map spared;  /* places of predictions that do no harm */
};

/* A few of each place, and if there is a choice some that the run did not show already. */
static void choose(struct foretold *f)
{
	f->chosen = mem_zalloc(f->predict.count + 1ull, sizeof(*f->chosen));
	for (int seen = 0; seen < 2; seen++)
		for (uint32_t i = 0; i < f->predict.count; i++) {
			const struct prediction *p = &f->predict.predictions[i];
			uint32_t tries = map_get(&f->tried, p->places);

			if (p->seen != seen || tries == TRIES || (!tries && f->tried.count >= PLACES_LIMIT))
				continue;
			map_set(&f->tried, p->places, tries + 1);
			f->chosen[f->chosen_count++] = i;
			named_want(&f->named, i);
			if (!f->options->every_pattern)
				harmless_want(&f->harmless, i);
		}
	map_release(&f->tried);
}

static void seen(void *user, const struct load_access *access)
{
	struct foretold *f = user;

	named_seen(&f->named, access);
	harmless_seen(&f->harmless, access);
}

/* The first of each place that does harm stands for all. */
static void ended(void *user, struct model *model)
{
	struct foretold *f = user;

	for (uint32_t i = 0; i < f->chosen_count; i++) {
		uint64_t place = f->predict.predictions[f->chosen[i]].places;

		if (map_get(&f->places, place))
			continue;
		if (!f->options->every_pattern && harmless_is(&f->harmless, model, f->chosen[i]))
			map_set(&f->spared, place, 1);
		else
			map_set(&f->places, place, f->chosen[i] + 1);
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Goes through the trace again, for what the accesses of the chosen predictions are. */
static int look_again(struct foretold *f, struct err *err)
{
	uint32_t total = f->named.time_count + f->harmless.time_count, kept = 0;
	uint32_t *times = mem_zalloc(total + 1ull, sizeof(*times));
	int result;

	if (f->named.time_count)
		memcpy(times, f->named.times, f->named.time_count * sizeof(*times));
	if (f->harmless.time_count)
		memcpy(times + f->named.time_count, f->harmless.times,
		       f->harmless.time_count * sizeof(*times));
	qsort(times, total, sizeof(*times), by_number);
	for (uint32_t i = 0; i < total; i++)
		if (!kept || times[kept - 1] != times[i])
			times[kept++] = times[i];
	result = total ? load_names(f->trace, &f->options->model, times, kept, seen, ended, f, err) : 0;
	free(times);
	return result;
}

/* A finding for this prediction: its index, which is that of an older one if they are the same. */
static uint32_t tell_one(struct foretold *f, uint32_t prediction, struct map *ids)
{
	struct finding *new = finding_add(f->list);
	uint32_t known;

	named_tell(&f->named, &f->predict.predictions[prediction], new);
	uint64_t id = strtoull(new->id + 2, NULL, 16) + 1;

	known = map_get(ids, id);
	if (known) { /* other places of the same units */
		f->list->finding_count--;
		return known - 1;
	}
	new->seen = 0;
	map_set(ids, id, f->list->finding_count);
	return f->list->finding_count - 1;
}

/* One prediction of each place is told; the others are counted. */
static int tell(struct foretold *f, struct err *err)
{
	struct map ids = {0};
	int result;

	choose(f);
	result = look_again(f, err);
	for (uint32_t i = 0; i < f->list->finding_count; i++)
		map_set(&ids, strtoull(f->list->findings[i].id + 2, NULL, 16) + 1, i + 1);
	f->findings = mem_zalloc(f->predict.count + 1ull, sizeof(*f->findings));
	for (uint32_t i = 0; !result && i < f->chosen_count; i++) {
		uint32_t chosen = f->chosen[i];

		if (map_get(&f->places, f->predict.predictions[chosen].places) == chosen + 1)
			f->findings[chosen] = tell_one(f, chosen, &ids);
	}
	for (uint32_t i = 0; !result && i < f->predict.count; i++) {
		uint32_t representative = map_get(&f->places, f->predict.predictions[i].places);

		f->findings[i] = representative ? f->findings[representative - 1] : RANK_LEFT_OUT;
		if (representative)
			f->list->findings[f->findings[i]].seen += !f->predict.predictions[i].late;
		else if (map_get(&f->spared, f->predict.predictions[i].places))
			f->stats->harmless += !f->predict.predictions[i].late;
	}
	map_release(&ids);
	return result;
}

static int write_schedule(struct foretold *f, struct rank_turn turn, const struct synth_schedule *made,
			  uint32_t number, struct err *err)
{
	uint32_t index = turn.prediction;
	const struct prediction *p = &f->predict.predictions[index];
	/* Of the predictions at the same places the first one has names. */
	const struct prediction *like = &f->predict.predictions[map_get(&f->places, p->places) - 1];
	struct finding *finding = &f->list->findings[f->findings[index]];
	struct schedule *s = schedule_of_trace(f->trace);
	char *path = f->options->folder
			     ? mem_textf("%s/%04u-%s.schedule", f->options->folder, number, finding->id)
			     : NULL;
	char pattern[64];
	int result;

	s->end = SCHEDULE_SERIAL;
	s->strayed = made->strayed;
	s->sort = turn.sort;
	s->weight = turn.weight;
	s->moved = turn.moved;
	free(s->strategy);
	s->strategy = mem_text("predicted");
	free(s->verdict);
	predict_pattern_text(&f->predict, p, pattern);
	s->verdict = mem_textf("%s %s, on %s", pattern, finding->title,
			       named_variable(&f->named, like, like->access_count - 1));
	/* Who was disturbed is the first of the goal; whoever runs in the end came in between. */
	if (!turn.disturber)
		s->first = mem_text(trace_thread_name(f->trace, p->goal.threads[0]));
	for (uint32_t i = 0; i < made->count; i++) {
		uint32_t event = made->steps[i].limit - 1;
		char *note = NULL;

		for (uint32_t k = 0; k < p->access_count; k++)
			if (p->accesses[k] == event)
				note = named_note(&f->named, event, named_variable(&f->named, like, k));
		schedule_add(s, trace_thread_name(f->trace, made->steps[i].thread),
			     f->history.events[event].number, note);
		free(note);
	}
	if (f->options->made)
		f->options->made(f->options->user, s, f->findings[index]);
	result = path ? schedule_write(s, path, err) : 0;
	if (!result) {
		f->stats->schedules++;
		f->stats->schedule_switches += s->step_count;
		if (!finding->schedule && path)
			finding->schedule = finding_text(f->list, path);
	}
	schedule_free(s);
	free(path);
	return result;
}

static int write_schedules(struct foretold *f, struct err *err)
{
	struct ranking ranking;
	struct synth synth;
	uint32_t written = 0;
	int result = 0;

	if (f->options->folder && mkdir(f->options->folder, 0777) < 0 && errno != EEXIST)
		return err_set(err, "cannot make the folder %s: %s", f->options->folder, strerror(errno));
	synth_init(&synth, &f->predict);
	ranking_make(&ranking, &f->predict, f->findings, f->options->both, f->options->round);
	for (uint32_t i = 0; !result && i < ranking.count && written < f->options->schedules; i++) {
		struct synth_schedule made;

		if (synth_build(&synth, &f->predict.predictions[ranking.turns[i].prediction], &made))
			result = write_schedule(f, ranking.turns[i], &made, ++written, err);
		else
			f->predict.counts.impossible[ORDER_SCHEDULE]++;
		synth_schedule_release(&made);
	}
	ranking_release(&ranking);
	synth_release(&synth);
	return result;
}

static void add_blind_spots(const struct trace *trace, struct finding_list *list)
{
	char *text = NULL, *rest, *line;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return;
	stats_blind_spots(trace, "", out);
	fclose(out);
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line)
			finding_add_blind_spot(list, line);
	free(text);
}

static void add_counts(struct foretold *f)
{
	struct foretell_stats *s = f->stats;
	struct finding_list *list = f->list;

	s->predicted = f->predict.count - f->predict.counts.late;
	s->seen = f->predict.counts.seen;
	s->counts = f->predict.counts;
	finding_add_count(list, "events", (double)s->events);
	finding_add_count(list, "threads", s->threads);
	finding_add_count(list, "entities", s->variables);
	finding_add_count(list, "shared entities", s->shared);
	finding_add_count(list, "contended entities", s->contended);
	finding_add_count(list, "locks", s->locks);
	finding_add_count(list, "context switches", (double)s->switches);
	finding_add_count(list, "predicted", (double)s->predicted);
	finding_add_count(list, "already seen", (double)s->seen);
	finding_add_count(list, "over one variable", (double)s->counts.by_kind[PREDICT_SINGLE]);
	finding_add_count(list, "over two variables",
			  (double)(s->counts.by_kind[PREDICT_NESTED] + s->counts.by_kind[PREDICT_CROSSED]));
	finding_add_count(list, "of three units or more", (double)s->counts.by_kind[PREDICT_CYCLE]);
	finding_add_count(list, "inside one update", (double)s->counts.inside);
	if (s->harmless)
		finding_add_count(list, "harmless and not reported", (double)s->harmless);
	for (unsigned r = 0; r < ORDER_REASON_COUNT; r++)
		if (s->counts.impossible[r])
			finding_add_count(list,
					  finding_textf(list, "impossible because of %s",
							order_reason_text((enum order_reason)r)),
					  (double)s->counts.impossible[r]);
	if (s->cut)
		finding_add_count(list, "long accesses cut short", (double)s->cut);
	if (s->counts.alike)
		finding_add_count(list, "alike and left out", (double)s->counts.alike);
	if (s->counts.skipped)
		finding_add_count(list, "combinations not looked at", (double)s->counts.skipped);
	if (f->options->folder) {
		finding_add_count(list, "schedules", (double)s->schedules);
		finding_add_count(list, "context switches in schedules", (double)s->schedule_switches);
	}
}

int foretell(struct trace *trace, const struct foretell_options *options, struct finding_list *list,
	     struct foretell_stats *stats, struct err *err)
{
	struct foretold f = {.trace = trace, .options = options, .list = list, .stats = stats};
	struct load_stats loaded;
	struct err load_err = {""};
	/* What stands before the damage is true all the same. */
	int damaged = load_history(trace, &options->model, &f.history, &loaded, &load_err), result;

	*stats = (struct foretell_stats){.events = loaded.events,
					 .switches = f.history.switches,
					 .cut = loaded.cut,
					 .threads = loaded.threads,
					 .variables = f.history.variable_count,
					 .shared = f.history.shared_variables,
					 .locks = f.history.lock_count};
	add_blind_spots(trace, list);
	predict_init(&f.predict, &f.history, &options->predict);
	predict_run(&f.predict);
	stats->contended = f.predict.contend.count;
	f.named = (struct named){.trace = trace, .predict = &f.predict, .list = list};
	f.harmless = (struct harmless){.predict = &f.predict};
	result = tell(&f, err);
	if (!result && (options->folder || options->made))
		result = write_schedules(&f, err);
	add_counts(&f);
	named_release(&f.named);
	harmless_release(&f.harmless);
	map_release(&f.places);
	map_release(&f.spared);
	free(f.chosen);
	free(f.findings);
	predict_release(&f.predict);
	history_release(&f.history);
	if (damaged)
		*err = load_err;
	return damaged ? damaged : result;
}
