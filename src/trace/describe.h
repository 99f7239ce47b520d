/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events, sites and the trace itself in words: one line of text, or one JSON
 * object, each. Nothing here ends a line.
 */
#ifndef ATOMSAN_TRACE_DESCRIBE_H
#define ATOMSAN_TRACE_DESCRIBE_H

#include "trace/cursor.h"

#include <stdio.h>

void describe_event(const struct trace *trace, const struct trace_event *event, FILE *out);
void describe_event_json(const struct trace *trace, const struct trace_event *event, FILE *out);
void describe_site(const struct trace *trace, uint64_t number, FILE *out);
void describe_site_json(const struct trace *trace, uint64_t number, FILE *out);
/* The i-th of trace->variables. */
void describe_listed(const struct trace *trace, uint64_t i, FILE *out);
void describe_listed_json(const struct trace *trace, uint64_t i, FILE *out);

/* "read", "atomic-store"; never NULL. */
const char *describe_access(unsigned access);
/* Fills text with what the header says of the end of the process. */
void describe_state(const struct trace *trace, char *text, size_t size);
/* "type.member", else the base's name, else NULL. The caller frees it. */
char *describe_variable(const struct trace_site *site);
/* The variable that has this byte: "accounts[2]+8"; else NULL. The caller frees it. */
char *describe_address(const struct trace *trace, uint64_t address);

#endif
