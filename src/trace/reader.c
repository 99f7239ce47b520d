/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opening a trace: the header, then every block's header, then the lists of
 * blocks by thread. A process that was killed leaves pages without a block,
 * and the file may end inside one; both are skipped. A block that is there but
 * contradicts itself is damage.
 */
#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void trace_note(struct trace *trace, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	trace->notes = mem_resize(trace->notes, trace->note_count + 1, sizeof *trace->notes);
	trace->notes[trace->note_count++] = mem_text(text);
}

bool trace_is_one(const void *data, size_t size)
{
	size_t length = sizeof TRACE_MAGIC - 1;

	return size && !memcmp(data, TRACE_MAGIC, size < length ? size : length);
}

static int read_header(struct trace *trace, struct err *err)
{
	const char *path = trace->path;
	struct trace_header *h = &trace->header;

	if (!trace->size)
		return err_set(err, "%s: the file is empty", path);
	if (!trace_is_one(trace->map, trace->size))
		return err_set(err, "%s: the file is not a trace", path);
	memcpy(h, trace->map, trace->size < sizeof *h ? trace->size : sizeof *h);
	if (trace->size >= offsetof(struct trace_header, header_size) && h->version > TRACE_VERSION)
		return err_set(err,
			       "%s: the trace has format version %" PRIu32
			       ", but this atomsan reads version %d; use a newer one",
			       path, h->version, TRACE_VERSION);
	if (trace->size >= offsetof(struct trace_header, header_size) && h->version &&
	    h->version < TRACE_VERSION)
		return err_set(err,
			       "%s: the trace has format version %" PRIu32
			       ", but this atomsan reads version %d; record the program again",
			       path, h->version, TRACE_VERSION);
	if (trace->size < sizeof *h)
		return err_set(err, "%s: the file ends inside the header of the trace", path);
	if (!h->version || h->header_size < sizeof *h || h->header_size > TRACE_PAGE || !h->state ||
	    h->state > TRACE_STOPPED || !h->next_page)
		return err_set(err, "%s: the header of the trace is damaged", path);
	for (int i = 0; i < 16; i++)
		if (h->regions[i] >> (64 - TRACE_ADDRESS_BITS))
			return err_set(err, "%s: the header of the trace is damaged (region %d)", path, i);
	return 0;
}

enum { PACKED = TRACE_BLOCK_ZSTD | TRACE_BLOCK_SQUEEZED };

/* Checks the block header at an offset; the caller has seen the magic there.
 * 1: a block to be read, 0: one to be skipped, -1: damage. */
static int read_block(struct trace *trace, uint64_t offset, uint64_t *length, struct trace_extent *extent,
		      struct err *err)
{
	struct trace_block b;
	uint64_t room, there = trace->size - offset - sizeof b;
	const char *what = NULL;

	memcpy(&b, trace->map + offset, sizeof b);
	room = (uint64_t)b.length - sizeof b;
	if (b.length < TRACE_PAGE || b.length % TRACE_PAGE || b.length > TRACE_MAX_BLOCK)
		what = "its length is impossible";
	else if (b.kind != TRACE_BLOCK_EVENTS && b.kind != TRACE_BLOCK_META)
		what = "its kind is not known";
	else if (b.flags & ~(PACKED | TRACE_BLOCK_WINDOW | TRACE_BLOCK_FLUSHED) ||
		 (b.flags & PACKED) == PACKED ||
		 (b.flags & TRACE_BLOCK_SQUEEZED && b.kind != TRACE_BLOCK_EVENTS))
		what = "its flags are not known";
	else if (b.payload > room)
		what = "it holds more than its length allows";
	else if ((b.flags & PACKED) &&
		 (!b.unpacked || !b.payload ||
		  b.unpacked >
			  (b.kind == TRACE_BLOCK_EVENTS ? TRACE_MAX_UNPACKED : TRACE_MAX_BLOCK - sizeof b) ||
		  (b.flags & TRACE_BLOCK_SQUEEZED && b.unpacked % sizeof(uint64_t))))
		what = "its unpacked length is impossible";
	if (what)
		return err_set(err, "%s: the block at offset %" PRIu64 " is damaged: %s", trace->path, offset,
			       what);
	*length = b.length;
	*extent = (struct trace_extent){.offset = offset,
					.payload = b.payload,
					.unpacked = b.flags & PACKED ? b.unpacked : 0,
					.squeezed = b.flags & TRACE_BLOCK_SQUEEZED,
					.owner = b.owner,
					.item = b.kind == TRACE_BLOCK_META ? b.item : 0,
					.sequence = b.sequence,
					.meta = b.kind == TRACE_BLOCK_META,
					.window = b.flags & TRACE_BLOCK_WINDOW};
	if (!extent->meta && !b.payload)
		extent->payload = (uint32_t)room;
	if (extent->payload > there) {
		extent->payload = (uint32_t)there;
		extent->cut = true;
	}
	return !(b.flags & TRACE_BLOCK_FLUSHED);
}

/* The next place where a block may begin after a page without one. Files are
 * grown well ahead, so a hole can be long: the file system knows where it ends. */
static uint64_t skip_page(const struct trace *trace, int fd, uint64_t offset)
{
	uint64_t next = offset + TRACE_PAGE;
	off_t data;

	if (fd < 0 || next >= trace->size)
		return next;
	data = lseek(fd, (off_t)next, SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? trace->size : next;
	data -= data % TRACE_PAGE;
	return (uint64_t)data > next ? (uint64_t)data : next;
}

static bool is_cut(const struct trace *trace)
{
	uint64_t pages = trace->header.next_page, end = trace->size;

	return pages > end / TRACE_PAGE + !!(end % TRACE_PAGE) ||
	       (pages * TRACE_PAGE > end && end % TRACE_PAGE);
}

static int read_blocks(struct trace *trace, int fd, struct err *err)
{
	uint64_t pages = trace->header.next_page;
	uint64_t end = trace->size;
	uint64_t room = 0, length = 0;
	uint64_t offset = TRACE_PAGE;
	/* The content of a block is written before its header: where the header is
	 * missing, a page of events may by chance look like another one. */
	bool lost = false;
	int got;

	if (is_cut(trace))
		trace_note(trace,
			   "the file is shorter (%" PRIu64 " bytes) than its header says (%" PRIu64 " pages)",
			   end, pages);
	else
		end = pages * TRACE_PAGE;
	while (offset < end && end - offset >= sizeof(struct trace_block)) {
		uint32_t magic;

		memcpy(&magic, trace->map + offset, sizeof magic);
		if (magic != TRACE_BLOCK_MAGIC) {
			offset = skip_page(trace, magic ? -1 : fd, offset);
			lost = true;
			continue;
		}
		if (trace->extent_count == room) {
			room = room ? room * 2 : 64;
			trace->extents = mem_resize(trace->extents, room, sizeof *trace->extents);
		}
		got = read_block(trace, offset, &length, &trace->extents[trace->extent_count], err);
		if (got < 0 && lost) {
			offset += TRACE_PAGE;
			continue;
		}
		if (got < 0)
			return -1;
		trace->extent_count += (uint64_t)got;
		offset += length;
		lost = false;
		/* A look at a header maps half a block; see next_block in cursor.c. */
		if (trace->mapped && !(trace->extent_count % 256))
			madvise((void *)trace->map, trace->size, MADV_DONTNEED);
	}
	return 0;
}

static int compare_extents(const void *left, const void *right)
{
	const struct trace_extent *a = left, *b = right;

	if (a->meta != b->meta)
		return a->meta ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->window != b->window)
		return a->window ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/*
 * Drops the copies of windows from the blocks of one thread, which are sorted:
 * a process that dies after it wrote the copy and before it said so leaves
 * both. Returns how many blocks follow each other without a gap, or -1.
 */
static int64_t sound_blocks(struct trace *trace, struct trace_extent *e, uint64_t count, struct err *err)
{
	uint64_t kept = 1, sound = 0;

	for (uint64_t i = 1; i < count; i++) {
		const struct trace_extent *before = &e[kept - 1];

		if (before->sequence != e[i].sequence)
			e[kept++] = e[i];
		else if (before->window == e[i].window)
			return err_set(err,
				       "%s: the blocks at offsets %" PRIu64 " and %" PRIu64
				       " both claim to be number %" PRIu32 " of thread %" PRIu32,
				       trace->path, before->offset, e[i].offset, e[i].sequence, e->owner);
	}
	while (sound < kept && e[sound].sequence == sound)
		sound++;
	if (sound < kept)
		trace_note(trace,
			   "block %" PRIu64 " of thread number %" PRIu32
			   " is missing, so its events from there on are left out",
			   sound, e->owner);
	return (int64_t)sound;
}

/* Makes the list of threads from the sorted blocks. */
static int read_threads(struct trace *trace, uint64_t from, struct err *err)
{
	uint32_t room = 0;

	for (uint64_t i = from, next; i < trace->extent_count; i = next) {
		struct trace_extent *e = &trace->extents[i];
		struct trace_thread *thread;
		int64_t sound;

		for (next = i + 1; next < trace->extent_count && e[next - i].owner == e->owner; next++)
			;
		sound = sound_blocks(trace, e, next - i, err);
		if (sound < 0)
			return -1;
		if (trace->thread_count == room) {
			room = room ? room * 2 : 16;
			trace->threads = mem_resize(trace->threads, room, sizeof *trace->threads);
		}
		thread = &trace->threads[trace->thread_count++];
		*thread = (struct trace_thread){.number = e->owner, .first = e, .count = (uint32_t)sound};
		snprintf(thread->fallback, sizeof thread->fallback, "T?%" PRIu32, e->owner);
	}
	return 0;
}

static bool has_events(const struct trace *trace)
{
	for (uint64_t i = 0; i < trace->extent_count; i++)
		if (!trace->extents[i].meta && trace->extents[i].payload)
			return true;
	return false;
}

static int read_all(struct trace *trace, int fd, struct err *err)
{
	uint64_t metas = 0;

	if (read_header(trace, err) || read_blocks(trace, fd, err))
		return -1;
	if (trace->extent_count)
		qsort(trace->extents, trace->extent_count, sizeof *trace->extents, compare_extents);
	while (metas < trace->extent_count && trace->extents[metas].meta)
		metas++;
	if (trace_meta_load(trace, metas, err) || read_threads(trace, metas, err))
		return -1;
	/* Of a program that did nothing it may be said that nothing was found, of this one nothing at all. */
	if (is_cut(trace) && !has_events(trace))
		return err_set(err,
			       "%s: the file ends before the first event: it has %" PRIu64
			       " bytes, and its header says %" PRIu64 " pages",
			       trace->path, trace->size, trace->header.next_page);
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		struct trace_thread *t = &trace->threads[i];

		if (t->number < trace->std[TRACE_STD_THREADS].count)
			t->name = mem_text(trace->std[TRACE_STD_THREADS].names[t->number]);
	}
	return 0;
}

static struct trace *finish_open(struct trace *trace, int fd, struct err *err)
{
	int failed = read_all(trace, fd, err);

	if (fd >= 0)
		close(fd);
	if (!failed)
		return trace;
	trace_close(trace);
	return NULL;
}

struct trace *trace_open_memory(const void *data, size_t size, const char *path, struct err *err)
{
	struct trace *trace = mem_zalloc(1, sizeof *trace);

	trace->path = mem_text(path);
	trace->map = data;
	trace->size = size;
	return finish_open(trace, -1, err);
}

struct trace *trace_open(const char *path, struct err *err)
{
	struct trace *trace;
	struct stat st;
	void *map = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, "%s: cannot open the trace: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, "%s: this is %s, not a trace", path,
			S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
		close(fd);
		return NULL;
	}
	if (st.st_size) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED) {
			err_set(err, "%s: cannot map the trace into memory: %s", path, strerror(errno));
			close(fd);
			return NULL;
		}
	}
	trace = mem_zalloc(1, sizeof *trace);
	trace->path = mem_text(path);
	trace->map = map;
	trace->size = (uint64_t)st.st_size;
	trace->mapped = map != NULL;
	return finish_open(trace, fd, err);
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		free(trace->threads[i].name);
	for (uint32_t i = 0; i < trace->module_count; i++)
		free(trace->modules[i].path);
	for (uint32_t i = 0; i < trace->note_count; i++)
		free(trace->notes[i]);
	for (uint32_t i = 0; i < trace->owned_count; i++)
		free(trace->owned[i]);
	for (int i = 0; i < TRACE_STD_ITEMS; i++)
		free(trace->std[i].names);
	if (trace->mapped)
		munmap((void *)trace->map, trace->size);
	free(trace->by_function);
	free(trace->variables);
	free(trace->owned);
	free(trace->notes);
	free(trace->modules);
	free(trace->threads);
	free(trace->extents);
	free(trace->path);
	free(trace);
}

int64_t trace_thread_index(const struct trace *trace, uint32_t number)
{
	uint32_t low = 0, high = trace->thread_count;

	/* Numbers are handed out one by one, so the index usually is the number. */
	if (number < high && trace->threads[number].number == number)
		return number;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->threads[middle].number == number)
			return middle;
		if (trace->threads[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

const char *trace_thread_name(const struct trace *trace, uint32_t index)
{
	const struct trace_thread *thread = &trace->threads[index];

	return thread->name ? thread->name : thread->fallback;
}
