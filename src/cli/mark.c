/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes down what people think of a finding. */
#include "cli/findings.h"
#include "cli/publish.h"
#include "report/format.h"

#include <stdio.h>
#include <string.h>

static int mark_all(struct store *store, int count, char **words, enum finding_review review,
		    const char *reason, int json)
{
	struct err err;

	for (int i = 0; i < count; i++) {
		struct finding_list *list = findings_one(&verb_mark, store, words[i]);

		if (!list)
			return CLI_FAILED;
		char id[sizeof list->findings[0].id];

		memcpy(id, list->findings[0].id, sizeof id);
		finding_list_free(list);
		if (store_review(store, id, review, reason, &err))
			return cli_fail(&verb_mark, &err);
		if (!json) {
			printf("%s: %s\n", id, finding_review_text(review));
			continue;
		}
		list = findings_one(&verb_mark, store, id);
		if (!list)
			return CLI_FAILED;
		int failed = findings_write("-", report_format_of("json"), list, &(struct report_options){0},
					    &err);

		finding_list_free(list);
		if (failed)
			return cli_fail(&verb_mark, &err);
	}
	return CLI_OK;
}

static int mark_run(int argc, char **argv)
{
	const char *db = NULL, *reason = NULL;
	int json = 0;
	const struct cli_option options[] = {{"--json", NULL, &json},
					     {"--db", &db, NULL},
					     {"--reason", &reason, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_mark, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first < 2)
		return cli_failf(&verb_mark, "needs findings and a word for them; usage: atomsan mark %s",
				 verb_mark.synopsis);
	int review = finding_review_of(argv[argc - 1]);

	if (review < 0)
		return cli_failf(&verb_mark,
				 "'%s' is not a review; the last argument is new, confirmed, false-alarm, "
				 "intended or fixed",
				 argv[argc - 1]);
	if ((review == FINDING_FALSE_ALARM || review == FINDING_INTENDED) && (!reason || !*reason))
		return cli_failf(&verb_mark, "who marks a finding as %s says why: --reason=TEXT",
				 argv[argc - 1]);
	struct store *store = findings_open(&verb_mark, db, STORE_WRITE);

	if (!store)
		return CLI_FAILED;
	int status =
		mark_all(store, argc - first - 1, argv + first, (enum finding_review)review, reason, json);

	store_close(store);
	return status;
}

const struct verb verb_mark = {
	.name = "mark",
	.synopsis = "[--reason=TEXT] [--json] [--db=FILE] FINDING... REVIEW",
	.summary = "Write down what you think of a finding",
	.help = "  REVIEW         new, confirmed, false-alarm, intended, fixed\n"
		"  --reason=TEXT  why; false-alarm and intended need one\n"
		"  --json         print the finding as it is now\n"
		"  --db=FILE      the store; .atomsan/findings.db\n",
	.run = mark_run,
};
