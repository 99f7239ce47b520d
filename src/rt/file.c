/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace file while the program runs: how it grows, and when it may not. The
 * header is a shared mapping, so the kernel keeps what was written however the
 * process ends.
 */
#include "rt/file.h"

#include "rt/follow.h"
#include "rt/rt.h"
#include "rt/sys.h"

#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/uio.h>

bool file_nowhere;
char file_path[FILE_PATH];

static int file = -1;
static uint64_t size_limit = ~0ull;

void file_stop(const char *why)
{
	bool was = __atomic_exchange_n(&rt_recording, false, __ATOMIC_ACQ_REL);

	if (!was)
		return;
	rt_count(TRACE_COUNT_DROPPED);
	rt_header->state = TRACE_STOPPED;
	if (rt_live)
		rt_say("checking stopped: %s; the program goes on unchecked", why);
	else
		rt_say("recording stopped: %s; the program goes on, %s holds what was seen so far", why,
		       file_path);
}

/* Why the trace may not grow by `length` more bytes, or NULL. */
static const char *no_room(uint64_t length)
{
	static uint32_t asked;
	struct statfs disk;
	uint64_t size = rt_header->next_page * TRACE_PAGE + length;

	if (rt_options.max_size && size > rt_options.max_size << 20)
		return "the trace has reached max_size";
	/* Beyond the limit a write is a signal that kills. */
	if (size > size_limit)
		return "the file size limit (ulimit -f) is reached";
	/* The disk is asked now and then: others fill it, too, but not that fast. */
	if (__atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) % 16)
		return NULL;
	/* Memory says that it has no blocks at all. */
	if (!sys_failed(sys2(fstatfs, file, &disk)) && disk.f_blocks &&
	    (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize < (rt_options.keep_free << 20) + length)
		return "the disk is nearly full (keep_free)";
	return NULL;
}

uint64_t file_reserve(uint64_t length)
{
	const char *why = no_room(length);
	uint64_t offset;
	long failed;

	if (why) {
		file_stop(why);
		return 0;
	}
	offset =
		__atomic_fetch_add(&rt_header->next_page, length / TRACE_PAGE, __ATOMIC_ACQ_REL) * TRACE_PAGE;
	failed = sys4(fallocate, file, 0, offset, length);
	if (failed == -EOPNOTSUPP || failed == -ENOSYS || failed == -EINTR) {
		/* Writing a zero to each page is what fallocate would have saved. */
		static const char zero[1];

		failed = 0;
		for (uint64_t page = 0; page < length && failed >= 0; page += TRACE_PAGE)
			failed = sys4(pwrite64, file, zero, 1, offset + page + TRACE_PAGE - 1);
	}
	if (failed < 0) {
		file_stop(failed == -ENOSPC  ? "the disk is full"
			  : failed == -EFBIG ? "the file size limit (ulimit -f) is reached"
					     : "the trace cannot grow");
		return 0;
	}
	return offset;
}

uint64_t file_take(uint64_t length)
{
	const char *why = no_room(length);

	if (why) {
		file_stop(why);
		return 0;
	}
	return __atomic_fetch_add(&rt_header->next_page, length / TRACE_PAGE, __ATOMIC_ACQ_REL) * TRACE_PAGE;
}

bool file_write(const void *bytes, uint64_t length, uint64_t offset)
{
	while (length) {
		long wrote = sys4(pwrite64, file, bytes, length, offset);

		if (wrote == -EINTR)
			continue;
		if (wrote <= 0) {
			file_stop(wrote == -ENOSPC  ? "the disk is full"
				  : wrote == -EFBIG ? "the file size limit (ulimit -f) is reached"
						    : "the trace cannot be written");
			return false;
		}
		bytes = (const char *)bytes + wrote;
		length -= (uint64_t)wrote;
		offset += (uint64_t)wrote;
	}
	return true;
}

/* In one call, so that whole pages are written; what is left of a short write goes the long way. */
bool file_write_block(const struct trace_block *header, const void *payload, uint64_t length, uint64_t offset)
{
	struct iovec parts[2] = {{(void *)header, sizeof *header},
				 {(void *)payload, length - sizeof *header}};
	long wrote = sys6(pwritev, file, parts, 2, offset, 0, 0);

	if (wrote == (long)length)
		return true;
	return file_write(payload, length - sizeof *header, offset + sizeof *header) &&
	       file_write(header, sizeof *header, offset);
}

bool file_map(void *at, uint64_t length, uint64_t offset)
{
	return !sys_failed(
		sys6(mmap, at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset));
}

void rt_file_meta(enum trace_meta kind, const struct rt_piece *pieces, int count)
{
	static uint32_t items[16];
	uint32_t item = __atomic_fetch_add(&items[kind], 1, __ATOMIC_RELAXED);
	uint64_t left = 0, at = 0;
	int piece = 0;

	if (rt_live) {
		follow_meta(kind, item, pieces, count);
		return;
	}
	if (file_nowhere)
		return;
	for (int i = 0; i < count; i++)
		left += pieces[i].length;
	for (uint32_t sequence = 0; left || !sequence; sequence++) {
		struct trace_block header = {.magic = TRACE_BLOCK_MAGIC,
					     .kind = TRACE_BLOCK_META,
					     .owner = kind,
					     .sequence = sequence,
					     .item = item};
		uint64_t most = TRACE_MAX_BLOCK - sizeof header, payload = left < most ? left : most;
		uint64_t length = (payload + sizeof header + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
		uint64_t offset = file_reserve(length), to = offset + sizeof header;

		if (!offset)
			return;
		header.length = (uint32_t)length;
		header.payload = (uint32_t)payload;
		left -= payload;
		while (payload) {
			uint64_t n = pieces[piece].length - at;

			if (n > payload)
				n = payload;
			if (!file_write((const char *)pieces[piece].bytes + at, n, to))
				return;
			payload -= n;
			to += n;
			at += n;
			if (at == pieces[piece].length) {
				piece++;
				at = 0;
			}
		}
		if (!file_write(&header, sizeof header, offset))
			return;
	}
}

struct trace_header *file_begin(int fd)
{
	struct rlimit limit;
	struct trace_header *header;

	file = fd;
	if (!sys_failed(sys4(prlimit64, 0, RLIMIT_FSIZE, 0, &limit)))
		size_limit = limit.rlim_cur;
	if (sys_failed(sys4(fallocate, file, 0, 0, TRACE_PAGE)))
		sys2(ftruncate, file, TRACE_PAGE);
	header =
		(struct trace_header *)sys6(mmap, 0, TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (!sys_failed(header))
		return header;
	sys1(close, file);
	file = -1;
	return NULL;
}

void file_end(struct trace_header *header)
{
	sys2(munmap, header, TRACE_PAGE);
	sys1(close, file);
	file = -1;
}
