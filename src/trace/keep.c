/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/keep.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct keep {
	int file;
	int failed; /* errno, once something could not be written */
	uint64_t next_page;
};

static bool write_all(struct keep *keep, const void *bytes, uint64_t length, uint64_t offset)
{
	while (length && !keep->failed) {
		ssize_t wrote = pwrite(keep->file, bytes, length, (off_t)offset);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0) {
			keep->failed = wrote ? errno : ENOSPC;
			break;
		}
		bytes = (const char *)bytes + wrote;
		length -= (uint64_t)wrote;
		offset += (uint64_t)wrote;
	}
	return !keep->failed;
}

static void write_header(struct keep *keep, const struct trace_header *header)
{
	struct trace_header ours = *header;

	ours.next_page = keep->next_page;
	write_all(keep, &ours, sizeof ours, 0);
}

struct keep *keep_open(int file, const struct trace_header *header)
{
	struct keep *keep = mem_zalloc(1, sizeof *keep);

	keep->file = file;
	keep->next_page = 1;
	write_header(keep, header);
	return keep;
}

/* The header goes last, as in a trace that a program writes itself. */
static void write_block(struct keep *keep, struct trace_block *block, const void *payload, uint64_t length)
{
	uint64_t pages = (length + sizeof *block + TRACE_PAGE - 1) / TRACE_PAGE;
	uint64_t offset = keep->next_page * TRACE_PAGE;

	if (keep->failed)
		return;
	block->magic = TRACE_BLOCK_MAGIC;
	block->length = (uint32_t)(pages * TRACE_PAGE);
	keep->next_page += pages;
	if (ftruncate(keep->file, (off_t)(keep->next_page * TRACE_PAGE)))
		keep->failed = errno;
	if (write_all(keep, payload, length, offset + sizeof *block))
		write_all(keep, block, sizeof *block, offset);
	/* So that the file is whole whatever becomes of us. */
	write_all(keep, &keep->next_page, sizeof keep->next_page, offsetof(struct trace_header, next_page));
}

void keep_events(struct keep *keep, uint32_t owner, uint32_t sequence, const void *events, uint64_t length)
{
	struct trace_block block = {.kind = TRACE_BLOCK_EVENTS, .owner = owner, .sequence = sequence};

	write_block(keep, &block, events, length);
}

void keep_meta(struct keep *keep, const struct trace_block *given, const void *payload, uint64_t length)
{
	uint64_t most = TRACE_MAX_BLOCK - sizeof *given;
	struct trace_block block = {.kind = TRACE_BLOCK_META, .owner = given->owner, .item = given->item};

	do {
		uint64_t n = length < most ? length : most;

		block.payload = (uint32_t)n;
		write_block(keep, &block, payload, n);
		payload = (const char *)payload + n;
		length -= n;
		block.sequence++;
	} while (length);
}

int keep_finish(struct keep *keep, const struct trace_header *header, struct err *err)
{
	write_header(keep, header);
	if (keep->failed)
		return err_set(err, "the trace cannot be kept: %s", strerror(keep->failed));
	return 0;
}

void keep_close(struct keep *keep)
{
	close(keep->file);
	free(keep);
}
