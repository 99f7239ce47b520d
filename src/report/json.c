/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/json.h"

#include "finding/json.h"

void report_json(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	json_t *root = finding_list_to_json(list);

	json_object_set_new(root, "suppressed", json_integer((json_int_t)options->suppressed));
	json_dumpf(root, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	putc('\n', out);
	json_decref(root);
}
