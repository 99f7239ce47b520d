/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists the findings of a store. */
#include "base/text.h"
#include "cli/findings.h"
#include "cli/publish.h"
#include "report/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *color_of(enum finding_state state)
{
	return state == FINDING_OBSERVED || state == FINDING_REPRODUCED ? "\033[31m"
	       : state == FINDING_HEALED                                ? "\033[32m"
									: "\033[33m";
}

static void print(const struct finding_list *list, const struct report_options *options)
{
	if (list->finding_count)
		printf("%-14s  %-10s  %-11s  %4s  %6s  %s\n", "id", "state", "review", "conf", "seen",
		       "what");
	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *f = &list->findings[i];
		const struct finding_place *place = f->unit_count ? &f->units[0].place : NULL;
		char *title = finding_title(f), *forced = finding_forced_text(f);

		printf("%-14s  %s%-10s%s  %-11s  %4.2f  %6llu  ", f->id,
		       options->color ? color_of(f->state) : "", finding_state_text(f->state),
		       options->color ? "\033[m" : "", finding_review_text(f->review), f->confidence,
		       (unsigned long long)f->seen);
		text_put(stdout, title);
		if (place && place->file) {
			fputs("  ", stdout);
			text_put(stdout, report_path(options, place->file));
			if (place->line)
				printf(":%u", place->line);
		}
		if (forced)
			printf("  (%s)", forced);
		putchar('\n');
		free(title);
		free(forced);
	}
	char *sum = report_sum(list, options);

	text_put(stdout, sum);
	putchar('\n');
	free(sum);
}

static void write_lines(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	print(list, options);
}

static int list_run(int argc, char **argv)
{
	static const struct report_format lines = {"list", "", write_lines};
	struct findings_filter filter = {0};
	struct report_options report;
	struct store_query query;
	const char *db = NULL, *strip = NULL;
	int json = 0, failed;
	struct err err;
	const struct cli_option options[] = {{"--json", NULL, &json},
					     {"--db", &db, NULL},
					     {"--strip-path-prefix", &strip, NULL},
					     FINDINGS_FILTER_OPTIONS(filter),
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_list, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first != argc)
		return cli_failf(&verb_list, "takes no arguments; usage: atomsan list %s",
				 verb_list.synopsis);
	if (findings_query(&verb_list, &filter, &query))
		return CLI_FAILED;
	query.brief = !json;
	struct store *store = findings_open(&verb_list, db, STORE_READ);

	if (!store)
		return CLI_FAILED;
	struct finding_list *list = store_load(store, &query, &err);

	store_close(store);
	if (!list)
		return cli_fail(&verb_list, &err);
	report_options_init(&report, stdout);
	report.strip_path_prefix = strip;
	failed = findings_write("-", json ? report_format_of("json") : &lines, list, &report, &err);
	finding_list_free(list);
	return failed ? cli_fail(&verb_list, &err) : CLI_OK;
}

const struct verb verb_list = {
	.name = "list",
	.synopsis = "[--json] [--db=FILE] [--all] [FILTER]...",
	.summary = "List the findings that are known",
	.help = "  --json           one JSON document with all there is to know\n"
		"  --db=FILE        the store; .atomsan/findings.db\n"
		"  --strip-path-prefix=P  show paths from behind P\n" FINDINGS_FILTER_HELP,
	.run = list_run,
};
