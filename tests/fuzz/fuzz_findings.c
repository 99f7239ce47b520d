/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as a document of findings. What is taken must come back from its
 * own JSON as it was, and every report of it must come out.
 */
#include "finding/json.h"
#include "report/format.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *dump(const struct finding_list *list)
{
	json_t *root = finding_list_to_json(list);
	char *text = json_dumps(root, JSON_SORT_KEYS);

	json_decref(root);
	if (!text)
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct finding_list *list, *back;
	struct err err;
	char *first, *second;
	static FILE *out;

	list = finding_list_from_json((const char *)data, size, "input", &err);
	if (!list)
		return 0;
	first = dump(list);
	back = finding_list_from_json(first, strlen(first), "again", &err);
	if (!back)
		abort();
	second = dump(back);
	if (strcmp(first, second) != 0)
		abort();
	free(first);
	free(second);
	finding_list_merge(list);
	if (!out && !(out = fopen("/dev/null", "w")))
		abort();
	for (const struct report_format *format = report_formats; format->name; format++)
		format->write(out, list, &(struct report_options){.width = 60, .strip_path_prefix = "a/"});
	finding_list_free(list);
	finding_list_free(back);
	return 0;
}
