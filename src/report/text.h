/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Findings for people at a terminal: what was not seen, then every finding
 * with its interleaving as numbered steps in one column per thread, and in the
 * last line the sum, which a script can look for: "SUMMARY: atomsan: ".
 */
#ifndef ATOMSAN_REPORT_TEXT_H
#define ATOMSAN_REPORT_TEXT_H

#include "report/report.h"

void report_text(FILE *out, const struct finding_list *list, const struct report_options *options);
/* One finding alone, without what is said of the run. */
void report_text_finding(FILE *out, const struct finding_list *list, const struct finding *finding,
			 const struct report_options *options);

#endif
