/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON values for reports that other programs read. */
#ifndef ATOMSAN_REPORT_VALUE_H
#define ATOMSAN_REPORT_VALUE_H

#include <jansson.h>

/* The text as UTF-8, null for NULL. */
json_t *value_text(const char *text);
/* The same of a text that is given away. */
json_t *value_take(char *text);

#endif
