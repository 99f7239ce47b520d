/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Strings from anywhere, put where they can do no harm: names come from
 * programs and damaged files, and may hold control characters or bytes that
 * are not UTF-8.
 */
#ifndef ATOMSAN_BASE_TEXT_H
#define ATOMSAN_BASE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* For a terminal: what is not printable text becomes \xNN. */
void text_put(FILE *out, const char *text);
/* A JSON string with its quotes; null for NULL. A byte that is not UTF-8 becomes U+FFFD. */
void text_json(FILE *out, const char *text);

/* One word of a shell command, quoted if need be. */
void text_shell(FILE *out, const char *word);
/* UTF-8 whatever the bytes: those that are none become U+FFFD. The caller frees it. */
char *text_utf8(const char *text);
/* How wide text_put's output stands on a terminal, one column a character. */
size_t text_width(const char *text);

#endif
