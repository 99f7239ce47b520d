/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Takes what a verb found elsewhere, as if it had been found here. */
#include "cli/findings.h"
#include "cli/publish.h"
#include "finding/json.h"

static int import_run(int argc, char **argv)
{
	struct publish publish = {0};
	struct err err;
	const struct cli_option options[] = {PUBLISH_OPTIONS(publish), {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_import, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_import, "needs one file; usage: atomsan import %s",
				 verb_import.synopsis);
	struct finding_list *list = finding_list_read(argv[first], &err);

	return list ? findings_publish(&verb_import, list, &publish) : cli_fail(&verb_import, &err);
}

const struct verb verb_import = {
	.name = "import",
	.synopsis = "[--json] [--db=FILE] [REPORT-OPTION]... FILE",
	.summary = "Take findings from another machine's JSON document",
	.help = PUBLISH_HELP,
	.run = import_run,
};
