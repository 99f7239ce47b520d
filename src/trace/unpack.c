/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Blocks that are not in the file as they were in memory: squeezed by the
 * recording program (abi/squeeze.h), or packed with zstd for keeping.
 */
#include "trace/reader.h"

#include "abi/squeeze.h"

#include <inttypes.h>
#include <string.h>
#include <zstd.h>

static int unzstd(const struct trace *trace, const struct trace_extent *extent, const uint8_t *from, void *to,
		  struct err *err)
{
	size_t got = ZSTD_decompress(to, extent->unpacked, from, extent->payload);

	if (ZSTD_isError(got))
		return err_set(err, "%s: the packed block at offset %" PRIu64 " is damaged: %s", trace->path,
			       extent->offset, ZSTD_getErrorName(got));
	if (got != extent->unpacked)
		return err_set(err,
			       "%s: the packed block at offset %" PRIu64
			       " is damaged: it holds %zu bytes, not %" PRIu32,
			       trace->path, extent->offset, got, extent->unpacked);
	return 0;
}

/* Groups as long as one can be read without looking where the bytes end; then from a copy with room behind.
 */
static int unsqueeze(const struct trace *trace, const struct trace_extent *extent, const uint8_t *from,
		     void *to, struct err *err)
{
	const uint8_t *end = from + extent->payload;
	uint64_t *words = to, left = extent->unpacked / sizeof *words;
	struct squeeze tables;

	memset(&tables, 0, sizeof tables);
	while (left) {
		unsigned count = left < SQUEEZE_GROUP ? (unsigned)left : SQUEEZE_GROUP;
		size_t there = (size_t)(end - from);
		const uint8_t *next;

		if (there >= SQUEEZE_GROUP_ROOM) {
			next = squeeze_back(&tables, from, words, count);
		} else {
			uint8_t copy[SQUEEZE_GROUP_ROOM] = {0};

			memcpy(copy, from, there);
			next = squeeze_back(&tables, copy, words, count);
			if (next)
				next = from + (next - copy);
		}
		if (!next || next > end)
			return err_set(err,
				       "%s: the packed block at offset %" PRIu64 " is damaged: %" PRIu64
				       " of its words cannot be made out",
				       trace->path, extent->offset, left);
		from = next;
		words += count;
		left -= count;
	}
	if (from != end)
		return err_set(err,
			       "%s: the packed block at offset %" PRIu64
			       " is damaged: it holds more than %" PRIu32 " bytes",
			       trace->path, extent->offset, extent->unpacked);
	return 0;
}

int trace_unpack(const struct trace *trace, const struct trace_extent *extent, void *to, struct err *err)
{
	const uint8_t *from = trace->map + extent->offset + sizeof(struct trace_block);

	if (extent->cut)
		return err_set(err, "%s: the file ends inside the packed block at offset %" PRIu64,
			       trace->path, extent->offset);
	return extent->squeezed ? unsqueeze(trace, extent, from, to, err)
				: unzstd(trace, extent, from, to, err);
}
