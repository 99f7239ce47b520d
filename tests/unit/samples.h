/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings as the verbs would make them, for the tests of what stores and shows them. */
#ifndef ATOMSAN_TESTS_SAMPLES_H
#define ATOMSAN_TESTS_SAMPLES_H

#include "finding/finding.h"

/* The lost update of examples/bank.c, observed; with a path in front of "bank.c". */
struct finding_list *samples_bank(const char *folder);
/* One of each kind and state: the bank's, a cycle of three threads, a suspicion without threads, a race, a
 * deadlock; blind spots, counts, trials. */
struct finding_list *samples_all(const char *folder);
/* Markup, terminal escapes, bytes that are not UTF-8 and very long names wherever text may stand. */
struct finding_list *samples_hostile(void);
/* So many different findings. */
struct finding_list *samples_many(unsigned count);

#endif
