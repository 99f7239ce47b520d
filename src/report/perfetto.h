/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Interleavings as a trace of events, in the JSON that ui.perfetto.dev and
 * chrome://tracing open: a process for each finding, a thread for each lane,
 * a slice for each unit and each step, arrows for the conflicts. A step takes
 * a millisecond, for there is no time in an interleaving but its order.
 */
#ifndef ATOMSAN_REPORT_PERFETTO_H
#define ATOMSAN_REPORT_PERFETTO_H

#include "report/report.h"

void report_perfetto(FILE *out, const struct finding_list *list, const struct report_options *options);

#endif
