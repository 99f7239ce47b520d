/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Any bytes as the memory that a program shares with its checker. The input is
 * laid out as a trace: its blocks of events become windows, whose links and
 * states are taken from the fields of the blocks, and its metadata goes where
 * metadata goes. The program is one that is gone.
 */
#include "abi/live.h"
#include "trace/live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WINDOWS = 16 };

static uint8_t *memory;
static size_t dirty[WINDOWS]; /* bytes of each window that the last input has written */
static int file;

static void make_memory(void)
{
	void *map;

	file = memfd_create("fuzz", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, LIVE_SIZE))
		abort();
	map = mmap(NULL, LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (map == MAP_FAILED)
		abort();
	memory = map;
}

static void put_window(uint32_t index, const struct trace_block *block, const uint8_t *payload, size_t length)
{
	struct live_control *control = (struct live_control *)(memory + LIVE_CONTROL);
	struct live_window *window = (struct live_window *)(memory + LIVE_WINDOWS + index * LIVE_STRIDE);

	if (length > LIVE_WINDOW - sizeof *window)
		length = LIVE_WINDOW - sizeof *window;
	*window = (struct live_window){.state = 1 + block->flags % 4,
				       .owner = block->owner,
				       .sequence = block->sequence,
				       .next = block->item,
				       .used = block->length,
				       .hole = block->unpacked};
	memcpy(window->words, payload, length);
	dirty[index] = sizeof *window + length;
	control->fresh = index + 1;
	if (!block->sequence) {
		control->begun[0] |= 1ull << index;
		control->begun_count++;
	}
}

static void put_meta(const struct trace_block *block, const uint8_t *payload, size_t length)
{
	struct live_control *control = (struct live_control *)(memory + LIVE_CONTROL);
	struct trace_block *to = (struct trace_block *)(memory + LIVE_META + control->meta_next);

	*to = *block;
	memcpy(to + 1, payload, length);
	control->meta_next += (sizeof *to + length + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
}

static void lay_out(const uint8_t *data, size_t size)
{
	struct live_control *control = (struct live_control *)(memory + LIVE_CONTROL);
	struct trace_header *header = (struct trace_header *)memory;
	uint32_t windows = 0;

	memset(header, 0, TRACE_PAGE);
	memset(control, 0, sizeof *control);
	memset(memory + LIVE_META, 0, 2 * size + TRACE_PAGE);
	for (uint32_t i = 0; i < WINDOWS; i++)
		memset(memory + LIVE_WINDOWS + i * LIVE_STRIDE, 0, dirty[i]);
	memset(dirty, 0, sizeof dirty);
	memcpy(header, data, size < sizeof *header ? size : sizeof *header);
	memcpy(header->magic, TRACE_MAGIC, sizeof header->magic);
	header->version = TRACE_VERSION;
	header->pid = 0x7ffffffe;
	control->version = LIVE_VERSION;
	control->pool = 8;
	for (size_t at = TRACE_PAGE; at + sizeof(struct trace_block) <= size;) {
		struct trace_block block;
		size_t there, length;

		memcpy(&block, data + at, sizeof block);
		there = size - at - sizeof block;
		length = block.length > sizeof block ? block.length - sizeof block : 0;
		if (length > there)
			length = there;
		if (block.kind != TRACE_BLOCK_EVENTS)
			put_meta(&block, data + at + sizeof block, length);
		else if (windows < WINDOWS)
			put_window(windows++, &block, data + at + sizeof block, length);
		at += (sizeof block + length + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_live *live;
	struct trace_event event;
	struct err err;

	if (!memory)
		make_memory();
	lay_out(data, size);
	live = trace_live_open(file, -1, &err);
	if (!live)
		return 0;
	while (trace_next(trace_live_cursor(live), &event) > 0)
		;
	trace_live_finish(live, &err);
	trace_live_verdict(live, 0);
	trace_live_close(live);
	return 0;
}
