/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares what is known with a baseline: only what is new fails. */
#include "base/text.h"
#include "cli/findings.h"
#include "finding/baseline.h"
#include "finding/json.h"
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Findings of the list are sorted by id, as the baseline is. */
static int compare(const void *a, const void *b)
{
	return strcmp(((const struct finding *)a)->id, ((const struct finding *)b)->id);
}

static bool list_has(const struct finding_list *list, const char *id)
{
	struct finding key;

	snprintf(key.id, sizeof key.id, "%s", id);
	return list->finding_count &&
	       bsearch(&key, list->findings, list->finding_count, sizeof(*list->findings), compare);
}

static uint32_t print_text(const struct finding_list *list, const struct baseline *base)
{
	uint32_t fresh = 0, gone = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *f = &list->findings[i];
		char *title;

		if (baseline_has(base, f->id))
			continue;
		fresh++;
		title = finding_title(f);
		printf("+ %s  %-10s  ", f->id, finding_state_text(f->state));
		text_put(stdout, title);
		putchar('\n');
		free(title);
	}
	for (uint32_t i = 0; i < base->count; i++) {
		if (list_has(list, base->entries[i].id))
			continue;
		gone++;
		printf("- %s  %-10s  ", base->entries[i].id, "gone");
		text_put(stdout, base->entries[i].words);
		putchar('\n');
	}
	printf("SUMMARY: atomsan: %u new, %u gone, %u known\n", fresh, gone, list->finding_count - fresh);
	return fresh;
}

static uint32_t print_json(const struct finding_list *list, const struct baseline *base)
{
	json_t *root = json_object(), *added = json_array(), *gone = json_array(), *known = json_array();
	uint32_t fresh = 0;

	json_object_set_new(root, "version", json_integer(1));
	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *f = &list->findings[i];

		if (baseline_has(base, f->id)) {
			json_array_append_new(known, json_string(f->id));
		} else {
			json_array_append_new(added, finding_to_json(f));
			fresh++;
		}
	}
	for (uint32_t i = 0; i < base->count; i++)
		if (!list_has(list, base->entries[i].id))
			json_array_append_new(gone, json_string(base->entries[i].id));
	json_object_set_new(root, "new", added);
	json_object_set_new(root, "gone", gone);
	json_object_set_new(root, "known", known);
	json_dumpf(root, stdout, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(root);
	return fresh;
}

static struct finding_list *load(const char *db, const char *file)
{
	struct store_query query = STORE_QUERY_ALL;
	struct finding_list *list;
	struct err err;

	if (file) {
		list = finding_list_read(file, &err);
	} else {
		struct store *store = findings_open(&verb_diff, db, STORE_READ);

		if (!store)
			return NULL;
		query.review = STORE_OPEN;
		list = store_load(store, &query, &err);
		store_close(store);
	}
	if (!list) {
		cli_fail(&verb_diff, &err);
		return NULL;
	}
	if (list->finding_count)
		qsort(list->findings, list->finding_count, sizeof(*list->findings), compare);
	return list;
}

static int diff_run(int argc, char **argv)
{
	const char *db = NULL;
	int json = 0, update = 0, status;
	struct baseline base;
	struct err err;
	const struct cli_option options[] = {{"--json", NULL, &json},
					     {"--update", NULL, &update},
					     {"--db", &db, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_diff, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1 && argc - first != 2)
		return cli_failf(&verb_diff, "needs a baseline; usage: atomsan diff %s", verb_diff.synopsis);
	struct finding_list *list = load(db, argc - first == 2 ? argv[first + 1] : NULL);

	if (!list)
		return CLI_FAILED;
	if (update) {
		status = baseline_write(list, argv[first], &err) ? cli_fail(&verb_diff, &err) : CLI_OK;
	} else if (baseline_read(&base, argv[first], &err)) {
		status = cli_fail(&verb_diff, &err);
	} else {
		uint32_t fresh = json ? print_json(list, &base) : print_text(list, &base);

		baseline_release(&base);
		status = fflush(stdout) || ferror(stdout) ? cli_failf(&verb_diff, "cannot write the output")
			 : fresh                          ? CLI_FINDINGS
							  : CLI_OK;
	}
	finding_list_free(list);
	return status;
}

const struct verb verb_diff = {
	.name = "diff",
	.synopsis = "[--update] [--json] [--db=FILE] BASE [FILE]",
	.summary = "Compare findings with a baseline; only new ones fail",
	.help = "  BASE       a baseline, or a document that some verb printed with --json\n"
		"  FILE       what to compare with it, such a document; the store without\n"
		"  --update   write the findings to BASE instead\n"
		"  --json     one JSON document\n"
		"  --db=FILE  the store; .atomsan/findings.db\n",
	.run = diff_run,
};
