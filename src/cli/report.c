/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes reports from the store, or from what verbs printed. */
#include "cli/findings.h"
#include "cli/publish.h"
#include "finding/json.h"
#include "report/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct finding_list *from_store(const char *db, const struct findings_filter *filter)
{
	struct store_query query;
	struct err err;

	if (findings_query(&verb_report, filter, &query))
		return NULL;
	struct store *store = findings_open(&verb_report, db, STORE_READ);

	if (!store)
		return NULL;
	struct finding_list *list = store_load(store, &query, &err);

	store_close(store);
	if (!list)
		cli_fail(&verb_report, &err);
	return list;
}

static struct finding_list *from_file(const char *path)
{
	struct err err;
	struct finding_list *list = finding_list_read(path, &err);

	if (!list)
		cli_fail(&verb_report, &err);
	return list;
}

static const struct report_format *choose(const char *name, const char *path)
{
	const struct report_format *format;

	if (!name) {
		format = report_format_for(path);
		return format ? format : report_format_of("text");
	}
	format = report_format_of(name);
	if (!format) {
		const char *names[16];
		int n = 0;

		for (const struct report_format *f = report_formats; f->name; f++)
			names[n++] = f->name;
		names[n] = NULL;
		const char *near = cli_nearest(name, names);

		cli_failf(&verb_report, "there is no format '%s'%s%s%s", name, near ? "; did you mean '" : "",
			  near ? near : "; 'atomsan report -h' names them", near ? "'?" : "");
	}
	return format;
}

static int report_run(int argc, char **argv)
{
	struct findings_filter filter = {0};
	struct report_options report;
	const char *db = NULL, *format_name = NULL, *output = "-", *strip = NULL, *root = NULL;
	struct err err;
	const struct cli_option options[] = {{"--format", &format_name, NULL},
					     {"-o", &output, NULL},
					     {"--db", &db, NULL},
					     {"--strip-path-prefix", &strip, NULL},
					     {"--source-root", &root, NULL},
					     FINDINGS_FILTER_OPTIONS(filter),
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_report, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first > 1)
		return cli_failf(&verb_report, "takes one file at most; usage: atomsan report %s",
				 verb_report.synopsis);
	const struct report_format *format = choose(format_name, output);

	if (!format)
		return CLI_FAILED;
	struct finding_list *list = argc > first ? from_file(argv[first]) : from_store(db, &filter);

	if (!list)
		return CLI_FAILED;
	report_options_init(&report, stdout);
	if (strcmp(output, "-") != 0)
		report = (struct report_options){0};
	report.strip_path_prefix = strip;
	report.source_root = root;
	int failed = findings_write(output, format, list, &report, &err);

	finding_list_free(list);
	return failed ? cli_fail(&verb_report, &err) : CLI_OK;
}

const struct verb verb_report = {
	.name = "report",
	.synopsis = "[--format=FORMAT] [-o FILE] [--db=FILE] [--source-root=DIR] [--all] [FILTER]... [FILE]",
	.summary = "Write a report: text, HTML, SARIF, JSON and more",
	.help = "  FILE                   what some verb printed with --json; the store without\n"
		"  --format=FORMAT        text, html, sarif, json, github, perfetto; else by the ending of\n"
		"                         the output: .txt .html .sarif .json .perfetto.json\n"
		"  -o FILE                the output; standard output without\n"
		"  --db=FILE              the store; .atomsan/findings.db\n"
		"  --source-root=DIR      where relative paths of sources are looked for as well\n"
		"  --strip-path-prefix=P  show paths from behind P\n" FINDINGS_FILTER_HELP,
	.run = report_run,
};
