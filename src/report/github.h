/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Annotation lines, which GitHub Actions shows beside the changed code. It
 * takes ten of each level from one step of a job, so the most certain ones
 * are written and the rest is counted.
 */
#ifndef ATOMSAN_REPORT_GITHUB_H
#define ATOMSAN_REPORT_GITHUB_H

#include "report/report.h"

void report_github(FILE *out, const struct finding_list *list, const struct report_options *options);

#endif
