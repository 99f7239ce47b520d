/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/pack.h"

#include "trace/output.h"
#include "trace/word_inl.h"
#include "trace/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Events that are joined to one block: enough to compress well, little enough
 * that thousands of threads can be read at a time. */
#define JOINED (256u << 10)

/* What a thread has ready for its next block. */
struct pending {
	uint8_t *data;
	uint32_t length;
	uint32_t sequence;
	uint32_t taken; /* blocks of the thread so far */
};

struct packer {
	const struct trace *trace;
	struct output output;
	struct pending *pending;
	ZSTD_CCtx *zstd; /* NULL: not packed */
	uint8_t *unpacked;
	uint8_t *packed;
	uint64_t pages;
	bool any; /* a block is packed */
};

static void put(struct packer *p, struct trace_block block, const void *data, uint32_t length)
{
	size_t room = ZSTD_compressBound(length), size;

	if (p->zstd && length) {
		p->packed = mem_resize(p->packed, room, 1);
		size = ZSTD_compressCCtx(p->zstd, p->packed, room, data, length, 3);
		/* Not worth it unless a page is saved. */
		if (!ZSTD_isError(size) && size + TRACE_PAGE <= length) {
			block.flags = TRACE_BLOCK_ZSTD;
			block.unpacked = length;
			data = p->packed;
			length = (uint32_t)size;
			p->any = true;
		}
	}
	p->pages += trace_write_block(p->output.file, block, data, length);
}

static void flush(struct packer *p, uint32_t thread)
{
	struct pending *t = &p->pending[thread];
	struct trace_block block = {.kind = TRACE_BLOCK_EVENTS,
				    .owner = p->trace->threads[thread].number,
				    .sequence = t->sequence};

	if (!t->length)
		return;
	put(p, block, t->data, t->length);
	t->sequence++;
	t->length = 0;
}

/* The payload of a block, unpacked if need be; NULL with err set. */
static const uint8_t *payload(struct packer *p, const struct trace_extent *e, uint32_t *length,
			      struct err *err)
{
	*length = e->payload;
	if (!e->unpacked)
		return p->trace->map + e->offset + sizeof(struct trace_block);
	*length = e->unpacked;
	p->unpacked = mem_resize(p->unpacked, e->unpacked, 1);
	return trace_unpack(p->trace, e, p->unpacked, err) ? NULL : p->unpacked;
}

/* Bytes of the event at p, prefixes included; 0 if no complete one is there, -1 for nonsense. */
static int event_length(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *at = p;
	uint64_t word;

	do {
		if (end - at < 8 || !(word = word_load(at)))
			return 0;
		if (!word_count(word) || at - p > (int)(16 * sizeof word))
			return -1;
		at += 8 * word_count(word);
	} while (word_kind(word) == TRACE_PREFIX);
	return at > end ? 0 : (int)(at - p);
}

static int add_events(struct packer *p, uint32_t thread, const struct trace_extent *e, struct err *err)
{
	struct pending *t = &p->pending[thread];
	const uint8_t *data, *end;
	uint32_t length;
	int n;

	if (e->unpacked && e->cut)
		return 0;
	data = payload(p, e, &length, err);
	if (!data)
		return -1;
	if (!t->data)
		t->data = mem_alloc(JOINED);
	for (end = data + length; (n = event_length(data, end)) > 0; data += n) {
		if (t->length + (uint32_t)n > JOINED)
			flush(p, thread);
		memcpy(t->data + t->length, data, (size_t)n);
		t->length += (uint32_t)n;
	}
	if (n < 0)
		return err_set(err, "%s: the block at offset %" PRIu64 " holds a damaged event",
			       p->trace->path, e->offset);
	return 0;
}

static int add_meta(struct packer *p, const struct trace_extent *e, struct err *err)
{
	struct trace_block block = {
		.kind = TRACE_BLOCK_META, .owner = e->owner, .item = e->item, .sequence = e->sequence};
	uint32_t length;
	const uint8_t *data;

	if (e->cut)
		return 0;
	data = payload(p, e, &length, err);
	if (!data)
		return -1;
	put(p, block, data, length);
	return 0;
}

static int by_offset(const void *left, const void *right)
{
	const struct trace_extent *a = *(const struct trace_extent *const *)left;
	const struct trace_extent *b = *(const struct trace_extent *const *)right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * Blocks are visited as they lie in the file, so that what happened together
 * stays together. At a thread's block its next one in sequence is taken, which
 * is that very block in all files that a program ever recorded.
 */
static int add_all(struct packer *p, struct err *err)
{
	const struct trace *trace = p->trace;
	const struct trace_extent **order = mem_alloc((trace->extent_count + 1) * sizeof(void *));
	int failed = 0;

	for (uint64_t i = 0; i < trace->extent_count; i++)
		order[i] = &trace->extents[i];
	qsort(order, trace->extent_count, sizeof(void *), by_offset);
	for (uint64_t i = 0; i < trace->extent_count && !failed; i++) {
		int64_t t;

		if (order[i]->meta) {
			failed = add_meta(p, order[i], err);
			continue;
		}
		t = trace_thread_index(trace, order[i]->owner);
		if (p->pending[t].taken < trace->threads[t].count)
			failed = add_events(p, (uint32_t)t, &trace->threads[t].first[p->pending[t].taken++],
					    err);
	}
	free(order);
	for (uint32_t t = 0; t < trace->thread_count; t++) {
		if (!failed)
			flush(p, t);
		free(p->pending[t].data);
	}
	return failed;
}

int trace_repack(const struct trace *trace, const char *to, bool packed, struct err *err)
{
	struct packer p = {.trace = trace, .pages = 1};
	struct trace_header header = trace->header;
	static const char page[TRACE_PAGE];
	int failed;

	if (output_open(&p.output, to, err))
		return -1;
	p.pending = mem_zalloc(trace->thread_count + 1, sizeof *p.pending);
	p.zstd = packed ? ZSTD_createCCtx() : NULL;
	fwrite(page, 1, sizeof page, p.output.file);
	failed = add_all(&p, err);
	ZSTD_freeCCtx(p.zstd);
	free(p.pending);
	free(p.packed);
	free(p.unpacked);
	if (failed) {
		output_abandon(&p.output);
		return -1;
	}
	header.header_size = sizeof header;
	header.flags = (header.flags & ~(uint32_t)TRACE_PACKED) | (p.any ? TRACE_PACKED : 0);
	header.next_page = p.pages;
	rewind(p.output.file);
	fwrite(&header, sizeof header, 1, p.output.file);
	return output_commit(&p.output, err);
}
