/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Traces at rest. A packed trace has the same events in the same order, its
 * blocks joined to larger ones and compressed with zstd, each by itself, so
 * that it can be read with one unpacked block per thread in memory.
 */
#ifndef ATOMSAN_TRACE_PACK_H
#define ATOMSAN_TRACE_PACK_H

#include "trace/reader.h"

/* Writes the trace to a file, packed or not packed. */
int trace_repack(const struct trace *trace, const char *to, bool packed, struct err *err);

#endif
