/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "squeezed.h"

#include "abi/squeeze.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "squeezed: %s\n", what);
	exit(1);
}

static uint32_t put(FILE *file, const struct trace *trace, const struct trace_extent *e)
{
	const uint8_t *payload = trace->map + e->offset + sizeof(struct trace_block);
	struct trace_block block = {.kind = e->meta ? TRACE_BLOCK_META : TRACE_BLOCK_EVENTS,
				    .owner = e->owner,
				    .sequence = e->sequence,
				    .item = e->item};
	uint64_t count = e->payload / 8, length = e->payload;
	struct squeeze *tables = mem_zalloc(1, sizeof *tables);
	uint8_t *to = mem_alloc((count / SQUEEZE_GROUP + 1) * SQUEEZE_GROUP_ROOM);
	uint64_t *words = mem_alloc(count * 8 + 8);
	uint32_t pages;

	memcpy(words, payload, count * 8);
	if (!e->meta) {
		length = squeeze(tables, words, count, to, 0);
		block.flags = TRACE_BLOCK_SQUEEZED;
		block.unpacked = (uint32_t)(count * 8);
		payload = to;
	}
	pages = trace_write_block(file, block, payload, (uint32_t)length);
	free(words);
	free(to);
	free(tables);
	return pages;
}

void squeezed_copy(const char *from, const char *to)
{
	struct err err;
	struct trace *trace = trace_open(from, &err);
	FILE *file = fopen(to, "w");
	struct trace_header header;
	char page[TRACE_PAGE] = {0};

	must(trace && file, "the copy cannot be made");
	header = trace->header;
	header.next_page = 1;
	fwrite(page, 1, sizeof page, file);
	for (uint64_t i = 0; i < trace->extent_count; i++)
		header.next_page += put(file, trace, &trace->extents[i]);
	rewind(file);
	fwrite(&header, sizeof header, 1, file);
	must(!fclose(file), "the copy cannot be written");
	trace_close(trace);
}
