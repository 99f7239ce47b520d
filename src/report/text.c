/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/text.h"

#include "base/err.h"
#include "base/text.h"
#include "report/source.h"
#include "report/steps.h"

#include <stdlib.h>
#include <string.h>

/* Words are wrapped to the width, from the second line on with this many spaces in front. */
static void prose(const struct text_page *page, unsigned indent, const char *text)
{
	unsigned at = indent;
	char *safe = text_page_safe(text);

	for (char *word = strtok(safe, " "); word; word = strtok(NULL, " ")) {
		unsigned width = (unsigned)text_width(word);

		if (at > indent && at + 1 + width > page->options->width) {
			fprintf(page->out, "\n%*s", (int)indent, "");
			at = indent;
		}
		if (at > indent) {
			putc(' ', page->out);
			at++;
		}
		fputs(word, page->out);
		at += width;
	}
	putc('\n', page->out);
	free(safe);
}

static void put_place(const struct text_page *page, const struct finding_place *place)
{
	text_put(page->out, place->function ? place->function : "?");
	if (!place->file)
		return;
	fputs("  ", page->out);
	text_put(page->out, report_path(page->options, place->file));
	if (place->line)
		fprintf(page->out, ":%u", place->line);
	if (place->line && place->column)
		fprintf(page->out, ":%u", place->column);
}

static void put_units(const struct text_page *page, const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->unit_count; i++) {
		const struct finding_unit *unit = &finding->units[i];

		fprintf(page->out, "  unit %u  ", i + 1);
		text_page_style(page, TEXT_BOLD);
		put_place(page, &unit->place);
		text_page_style(page, TEXT_PLAIN);
		if (unit->thread) {
			fputs("  in ", page->out);
			text_put(page->out, unit->thread);
		}
		putc('\n', page->out);
		if (!unit->set && !unit->why)
			continue;
		char *why = unit->set && unit->why ? mem_textf("a unit for %s: %s", unit->set, unit->why)
						   : mem_textf("a unit%s%s", unit->set ? " for " : ": ",
							       unit->set ? unit->set : unit->why);

		fputs("          ", page->out);
		prose(page, 10, why);
		free(why);
	}
}

static void put_edges(const struct text_page *page, const struct finding *finding)
{
	if (!finding->edge_count)
		return;
	fputs("\n  why no order of the units explains it\n", page->out);
	for (uint32_t i = 0; i < finding->edge_count; i++) {
		const struct finding_edge *edge = &finding->edges[i];

		fprintf(page->out, "    unit %u before unit %u: ", edge->from + 1, edge->to + 1);
		if (edge->source < finding->access_count && edge->target < finding->access_count) {
			const struct finding_access *source = &finding->accesses[edge->source];

			fprintf(page->out, "step %u %s ", edge->source + 1, report_op_text(source->op));
			text_put(page->out, source->variable ? source->variable : "it");
			fprintf(page->out, " before step %u %s it\n", edge->target + 1,
				report_op_text(finding->accesses[edge->target].op));
		} else {
			fputs("the same thread, one after the other\n", page->out);
		}
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_stack(const struct finding_access *a, const struct finding_access *b)
{
	if (a->depth != b->depth)
		return false;
	for (uint32_t i = 0; i < a->depth; i++)
		if (!same_text(a->stack[i].function, b->stack[i].function) ||
		    !same_text(a->stack[i].file, b->stack[i].file) || a->stack[i].line != b->stack[i].line ||
		    a->stack[i].column != b->stack[i].column)
			return false;
	return true;
}

/* The first access with the same stack: only there it is shown, for all of them. */
static uint32_t first_of_stack(const struct finding *finding, uint32_t step)
{
	uint32_t first = 0;

	while (!same_stack(&finding->accesses[first], &finding->accesses[step]))
		first++;
	return first;
}

static void put_stacks(const struct text_page *page, const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *access = &finding->accesses[i];

		/* One frame says no more than the step itself. */
		if (access->depth < 2 || first_of_stack(finding, i) != i)
			continue;
		fprintf(page->out, "\n  stack of step %u", i + 1);
		for (uint32_t k = i + 1; k < finding->access_count; k++)
			if (first_of_stack(finding, k) == i)
				fprintf(page->out, ", %u", k + 1);
		putc('\n', page->out);
		for (uint32_t f = 0; f < access->depth; f++) {
			fprintf(page->out, "    #%-2u ", f);
			put_place(page, &access->stack[f]);
			putc('\n', page->out);
		}
	}
}

static void put_head(const struct text_page *page, const struct finding *finding)
{
	char *title = finding_title(finding), *forced = finding_forced_text(finding);

	text_page_style(page, TEXT_BOLD);
	text_put(page->out, finding->id);
	fputs("  ", page->out);
	text_page_style(page, finding->state >= FINDING_OBSERVED && finding->state != FINDING_HEALED
				      ? TEXT_RED
				      : TEXT_YELLOW);
	text_put(page->out, title);
	text_page_style(page, TEXT_PLAIN);
	fprintf(page->out, "\n  %s, %s", finding_kind_title(finding->kind),
		finding_state_text(finding->state));
	if (finding->verb) {
		fputs(" by ", page->out);
		text_put(page->out, finding->verb);
	}
	if (finding->pattern) {
		fputs(", pattern ", page->out);
		text_put(page->out, finding->pattern);
	}
	fprintf(page->out, ", confidence %.2f", finding->confidence);
	if (finding->seen > 1)
		fprintf(page->out, ", seen %llu times", (unsigned long long)finding->seen);
	putc('\n', page->out);
	if (forced)
		fprintf(page->out, "  %s\n", forced);
	free(forced);
	if (finding->variable_count) {
		fputs("  on ", page->out);
		for (uint32_t i = 0; i < finding->variable_count; i++) {
			fputs(i ? ", " : "", page->out);
			text_put(page->out, finding->variables[i]);
		}
		putc('\n', page->out);
	}
	free(title);
}

/* What the store remembers. */
static void put_life(const struct text_page *page, const struct finding *finding)
{
	if (!finding->runs)
		return;
	fprintf(page->out, "\n  found in %llu run%s", (unsigned long long)finding->runs,
		finding->runs == 1 ? "" : "s");
	if (finding->first_seen) {
		fputs(", first at ", page->out);
		text_put(page->out, finding->first_seen);
	}
	if (finding->last_seen && finding->runs > 1) {
		fputs(", last at ", page->out);
		text_put(page->out, finding->last_seen);
	}
	putc('\n', page->out);
	/* One event says no more than the head of the finding. */
	for (uint32_t i = 0; i < finding->history_count && finding->history_count > 1; i++) {
		const struct finding_event *event = &finding->history[i];

		fputs("    ", page->out);
		text_put(page->out, event->time ? event->time : "?");
		fputs("  ", page->out);
		text_put(page->out, event->to ? event->to : "?");
		if (event->reason) {
			fputs(event->what && !strcmp(event->what, "state") ? " by " : ": ", page->out);
			text_put(page->out, event->reason);
		}
		putc('\n', page->out);
	}
}

static void put_changed(const struct text_page *page, const struct finding *finding)
{
	const char *file;
	uint32_t from = 0;

	while ((file = report_changed(page->sources, finding, &from))) {
		fputs("\n  ", page->out);
		text_page_style(page, TEXT_YELLOW);
		text_put(page->out, report_path(page->options, file));
		fputs(" has changed since it was last seen; its lines may be others.\n", page->out);
		text_page_style(page, TEXT_PLAIN);
	}
}

static void put_finding(const struct text_page *page, const struct finding_list *list,
			const struct finding *finding)
{
	char *replay = report_replay(list, finding);

	put_head(page, finding);
	put_units(page, finding);
	text_steps(page, finding);
	put_edges(page, finding);
	put_stacks(page, finding);
	put_changed(page, finding);
	put_life(page, finding);
	if (finding->advice) {
		fputs("\n  to mend it: ", page->out);
		prose(page, 4, finding->advice);
	}
	if (replay) {
		fputs("\n  to see it again: ", page->out);
		text_page_style(page, TEXT_BOLD);
		text_put(page->out, replay);
		text_page_style(page, TEXT_PLAIN);
		putc('\n', page->out);
	}
	free(replay);
}

/* What was tried for findings that are not told here is for those who ask for them. */
static bool is_told(const struct finding_list *list, const struct finding_trial *trial)
{
	for (uint32_t i = 0; trial->finding && i < list->finding_count; i++)
		if (!strcmp(list->findings[i].id, trial->finding))
			return true;
	return !trial->finding;
}

static void put_trials(const struct text_page *page, const struct finding_list *list)
{
	if (!list->trial_count)
		return;
	fputs("schedules that were tried\n", page->out);
	for (uint32_t i = 0; i < list->trial_count; i++) {
		const struct finding_trial *trial = &list->trials[i];
		bool infeasible = trial->verdict && !strcmp(trial->verdict, FINDING_INFEASIBLE);

		if (!is_told(list, trial))
			continue;
		fputs("  ", page->out);
		text_put(page->out, trial->strategy ? trial->strategy : "schedule");
		fputs(": ", page->out);
		if (trial->runs && infeasible)
			fprintf(page->out, "%llu could not be followed", (unsigned long long)trial->runs);
		else if (trial->runs)
			fprintf(page->out, "%llu of %llu runs failed, P(failure) = %.3f",
				(unsigned long long)trial->failures, (unsigned long long)trial->runs,
				(double)trial->failures / (double)trial->runs);
		else
			text_put(page->out, trial->verdict ? trial->verdict : "tried");
		if (trial->finding) {
			fputs(", for ", page->out);
			text_put(page->out, trial->finding);
		}
		if (trial->schedule) {
			fputs(", ", page->out);
			text_put(page->out, trial->schedule);
		}
		putc('\n', page->out);
	}
}

static struct report_options with_width(const struct report_options *options)
{
	struct report_options complete = *options;

	if (!complete.width)
		complete.width = 100;
	return complete;
}

void report_text_finding(FILE *out, const struct finding_list *list, const struct finding *finding,
			 const struct report_options *options)
{
	struct report_options complete = with_width(options);
	struct text_page page = {out, &complete, source_files_new(options->source_root)};

	put_finding(&page, list, finding);
	if (list->trial_count) {
		putc('\n', out);
		put_trials(&page, list);
	}
	source_files_free(page.sources);
}

void report_text(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	struct report_options complete = with_width(options);
	struct text_page page = {out, &complete, source_files_new(options->source_root)};
	char *sum = report_sum(list, &complete);

	for (uint32_t i = 0; i < list->blind_spot_count; i++) {
		text_page_style(&page, TEXT_YELLOW);
		fputs("not seen: ", out);
		text_page_style(&page, TEXT_PLAIN);
		prose(&page, 10, list->blind_spots[i]);
	}
	if (list->blind_spot_count)
		putc('\n', out);
	for (uint32_t i = 0; i < list->finding_count && !options->told; i++) {
		put_finding(&page, list, &list->findings[i]);
		putc('\n', out);
	}
	put_trials(&page, list);
	if (list->trial_count)
		putc('\n', out);
	/* CI looks for this line: it is whole, and has no colours inside. */
	fputs("SUMMARY: atomsan: ", out);
	text_put(out, sum);
	putc('\n', out);
	free(sum);
	source_files_free(page.sources);
}
