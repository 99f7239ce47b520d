/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings for programs: the document of docs/findings.schema.json, in ASCII whatever the names in it. */
#ifndef ATOMSAN_REPORT_JSON_H
#define ATOMSAN_REPORT_JSON_H

#include "report/report.h"

void report_json(FILE *out, const struct finding_list *list, const struct report_options *options);

#endif
