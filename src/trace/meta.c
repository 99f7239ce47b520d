/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Metadata items: one or more blocks of one kind and item number, put together
 * in sequence. An item of one block that is not packed is used where it lies.
 */
#include "trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A packed block of a few bytes can claim megabytes; all metadata together may not. */
#define META_MAX (2ull << 30)

static void *own(struct trace *trace, void *block)
{
	trace->owned = mem_resize(trace->owned, trace->owned_count + 1, sizeof *trace->owned);
	trace->owned[trace->owned_count++] = block;
	return block;
}

static int put_together(struct trace *trace, const struct trace_extent *e, uint64_t count, uint64_t *total,
			struct trace_span *item, struct err *err)
{
	uint64_t length = 0;
	char *to;

	for (uint64_t i = 0; i < count; i++)
		length += e[i].unpacked ? e[i].unpacked : e[i].payload;
	item->length = length;
	if (count == 1 && !e->unpacked) {
		item->data = (const char *)trace->map + e->offset + sizeof(struct trace_block);
		return 0;
	}
	*total += length;
	if (*total > META_MAX)
		return err_set(err, "%s: the trace claims more than %llu MiB of metadata", trace->path,
			       META_MAX >> 20);
	item->data = to = own(trace, mem_alloc(length ? length : 1));
	for (uint64_t i = 0; i < count; i++) {
		if (e[i].unpacked) {
			if (trace_unpack(trace, &e[i], to, err))
				return -1;
			to += e[i].unpacked;
		} else {
			memcpy(to, trace->map + e[i].offset + sizeof(struct trace_block), e[i].payload);
			to += e[i].payload;
		}
	}
	return 0;
}

/* Names that end with NUL, one after the other. */
static int read_names(struct trace *trace, struct trace_span item, struct trace_names *names, struct err *err)
{
	const char *p = item.data, *end = p + item.length;
	uint64_t room = 0;

	while (p < end) {
		const char *nul = memchr(p, 0, (size_t)(end - p));

		if (!nul)
			return err_set(err, "%s: the names of the imported trace are damaged", trace->path);
		if (names->count == room) {
			room = room ? room * 2 : 64;
			names->names = mem_resize(names->names, room, sizeof *names->names);
		}
		names->names[names->count++] = p;
		p = nul + 1;
	}
	return 0;
}

int trace_meta_take(struct trace *trace, enum trace_meta kind, uint32_t number, struct trace_span item,
		    struct err *err)
{
	switch (kind) {
	case TRACE_META_ARGV:
		trace->argv = item;
		return 0;
	case TRACE_META_ENVIRON:
		trace->environ = item;
		return 0;
	case TRACE_META_CWD:
		trace->cwd = item;
		return 0;
	case TRACE_META_OPTIONS:
		trace->options = item;
		return 0;
	case TRACE_META_MODULE:
		return trace_module_add(trace, item, err);
	case TRACE_META_STD:
		if (number < TRACE_STD_ITEMS)
			return read_names(trace, item, &trace->std[number], err);
		return 0;
	default:
		return 0; /* a later version of the same format may say more */
	}
}

int trace_meta_load(struct trace *trace, uint64_t extents, struct err *err)
{
	uint64_t total = 0;

	for (uint64_t i = 0, next; i < extents; i = next) {
		const struct trace_extent *e = &trace->extents[i];
		struct trace_span item = {0};
		bool whole = !e->cut;

		for (next = i + 1;
		     next < extents && e[next - i].owner == e->owner && e[next - i].item == e->item; next++)
			whole = whole && !e[next - i].cut;
		for (uint64_t k = 0; k < next - i; k++)
			whole = whole && e[k].sequence == k;
		if (!whole) {
			trace_note(trace,
				   "item %" PRIu32 " of metadata kind %" PRIu32
				   " is not complete and left out",
				   e->item, e->owner);
			continue;
		}
		if (put_together(trace, e, next - i, &total, &item, err) ||
		    trace_meta_take(trace, e->owner, e->item, item, err))
			return -1;
	}
	return trace_modules_sort(trace, err);
}

const char *trace_program(const struct trace *trace)
{
	if (trace->argv.length && *trace->argv.data && memchr(trace->argv.data, 0, trace->argv.length))
		return trace->argv.data;
	return trace->path;
}

const char *trace_std_name(const struct trace *trace, enum trace_std_item item, uint64_t address)
{
	static const uint64_t base[] = {
		[TRACE_STD_VARIABLES] = TRACE_STD_VARIABLE_BASE,
		[TRACE_STD_LOCKS] = TRACE_STD_LOCK_BASE,
		[TRACE_STD_UNITS] = TRACE_STD_UNIT_BASE,
	};
	uint64_t index = item == TRACE_STD_THREADS ? address : (address - base[item]) / 8;

	if (item != TRACE_STD_THREADS && (address < base[item] || address % 8))
		return NULL;
	return index < trace->std[item].count ? trace->std[item].names[index] : NULL;
}
