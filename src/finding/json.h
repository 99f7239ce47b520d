/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Findings as JSON and back. The document is the one that every verb prints
 * with --json; docs/findings.schema.json describes it. Reading trusts nothing:
 * what comes out of it is as well formed as what a verb makes itself (every
 * index has something to point to), or there is an error.
 *
 * JSON is UTF-8. Bytes that are not come out as U+FFFD, and that is what is
 * read back.
 */
#ifndef ATOMSAN_FINDING_JSON_H
#define ATOMSAN_FINDING_JSON_H

#include "base/err.h"
#include "finding/finding.h"

#include <jansson.h>

/* The caller has the reference. */
json_t *finding_to_json(const struct finding *finding);
json_t *finding_list_to_json(const struct finding_list *list);

/* Adds the finding to the list; `where` begins the sentence of an error. Returns NULL with err set. */
struct finding *finding_from_json(struct finding_list *list, const json_t *object, const char *where,
				  struct err *err);
/* A new list, or NULL with err set. */
struct finding_list *finding_list_from_json(const char *text, size_t length, const char *where,
					    struct err *err);
struct finding_list *finding_list_read(const char *path, struct err *err);

#endif
