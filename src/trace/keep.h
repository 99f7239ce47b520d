/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace file made of what a live trace's windows held, block by block, so that
 * it is an ordinary trace at any time. What cannot be written is said at the end.
 */
#ifndef ATOMSAN_TRACE_KEEP_H
#define ATOMSAN_TRACE_KEEP_H

#include "abi/trace.h"
#include "base/err.h"

struct keep;

/* Takes the descriptor over. */
struct keep *keep_open(int file, const struct trace_header *header);
void keep_events(struct keep *keep, uint32_t owner, uint32_t sequence, const void *events, uint64_t length);
void keep_meta(struct keep *keep, const struct trace_block *block, const void *payload, uint64_t length);
/* The header as it is at the end. */
int keep_finish(struct keep *keep, const struct trace_header *header, struct err *err);
void keep_close(struct keep *keep);

#endif
