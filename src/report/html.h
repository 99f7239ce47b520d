/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Findings as one HTML file that needs no other and no network: the viewer of
 * src/report/viewer, and the findings and the source lines that they speak of
 * as data inside.
 */
#ifndef ATOMSAN_REPORT_HTML_H
#define ATOMSAN_REPORT_HTML_H

#include "report/report.h"

void report_html(FILE *out, const struct finding_list *list, const struct report_options *options);

#endif
