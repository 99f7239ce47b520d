/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shows one finding with all that is known of it. */
#include "cli/findings.h"
#include "cli/publish.h"
#include "report/format.h"
#include "report/text.h"

static void write_one(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	report_text_finding(out, list, &list->findings[0], options);
}

static int show_run(int argc, char **argv)
{
	static const struct report_format one = {"show", "", write_one};
	struct report_options report;
	const char *db = NULL, *strip = NULL, *root = NULL;
	int json = 0, failed;
	struct err err;
	const struct cli_option options[] = {{"--json", NULL, &json},
					     {"--db", &db, NULL},
					     {"--strip-path-prefix", &strip, NULL},
					     {"--source-root", &root, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_show, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_show, "needs one finding; usage: atomsan show %s", verb_show.synopsis);
	struct store *store = findings_open(&verb_show, db, STORE_READ);

	if (!store)
		return CLI_FAILED;
	struct finding_list *list = findings_one(&verb_show, store, argv[first]);

	store_close(store);
	if (!list)
		return CLI_FAILED;
	report_options_init(&report, stdout);
	report.strip_path_prefix = strip;
	report.source_root = root;
	failed = findings_write("-", json ? report_format_of("json") : &one, list, &report, &err);
	finding_list_free(list);
	return failed ? cli_fail(&verb_show, &err) : CLI_OK;
}

const struct verb verb_show = {
	.name = "show",
	.synopsis = "[--json] [--db=FILE] [--source-root=DIR] FINDING",
	.summary = "Show one finding with its interleaving and its history",
	.help = "  FINDING                its id, or the beginning of it\n"
		"  --json                 one JSON document\n"
		"  --db=FILE              the store; .atomsan/findings.db\n"
		"  --source-root=DIR      where relative paths of sources are looked for as well\n"
		"  --strip-path-prefix=P  show paths from behind P\n",
	.run = show_run,
};
