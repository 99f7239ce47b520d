/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The kinds of findings as rules of SARIF, with words for people who meet them for the first time. */
#ifndef ATOMSAN_REPORT_RULES_H
#define ATOMSAN_REPORT_RULES_H

#include <jansson.h>

/* In the order of enum finding_kind. */
json_t *report_rules(void);

#endif
