/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The parts of source files that a report needs, to be put into it. Parts that
 * touch become one. There is a limit to what goes into a report; lines beyond
 * it are left out, as those of files that cannot be read.
 */
#ifndef ATOMSAN_REPORT_EXCERPT_H
#define ATOMSAN_REPORT_EXCERPT_H

#include "report/report.h"
#include "report/source.h"

#include <jansson.h>

struct excerpt_list;

struct excerpt_list *excerpt_list_new(const struct report_options *options);
void excerpt_list_free(struct excerpt_list *list);

/* Lines `from` to `to` and some around them. A file of NULL and a line of 0 are no wish. */
void excerpt_want(struct excerpt_list *list, const char *file, uint32_t from, uint32_t to, uint32_t around);

/* {"bank.c": [[12, ["line 12", "line 13", ...]], ...]}, with paths as they are shown. */
json_t *excerpt_list_json(struct excerpt_list *list, struct source_files *files);

#endif
