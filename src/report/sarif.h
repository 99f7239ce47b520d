/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Findings as SARIF 2.1.0, for code scanning. Each has two code flows: the
 * interleaving, merged and numbered, and the same with one flow for each
 * thread. Levels follow states: what happened is an error, what a run makes
 * possible a warning, a suspicion a note. What GitHub would cut off is cut
 * here, from the least certain end, and said so.
 */
#ifndef ATOMSAN_REPORT_SARIF_H
#define ATOMSAN_REPORT_SARIF_H

#include "report/report.h"

void report_sarif(FILE *out, const struct finding_list *list, const struct report_options *options);

/* "error", "warning", "note". */
const char *report_level(const struct finding *finding);
/* Indices of findings, the most certain first; the caller frees them. */
uint32_t *report_by_weight(const struct finding_list *list);
/* Where a finding is shown: the first unit's place, or the first access's that has one. */
struct finding_place report_place(const struct finding *finding);

#endif
