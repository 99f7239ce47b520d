/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/live.h"

#include "trace/liveinside.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *copy(struct trace *trace, const void *bytes, uint64_t length)
{
	char *block = mem_alloc(length ? length : 1);

	memcpy(block, bytes, length);
	trace->owned = mem_resize(trace->owned, trace->owned_count + 1, sizeof *trace->owned);
	trace->owned[trace->owned_count++] = block;
	return block;
}

bool live_read_tables(struct trace_live *live)
{
	const uint8_t *base = live->map + LIVE_META;
	uint64_t end = __atomic_load_n(&live->control->meta_next, __ATOMIC_ACQUIRE);
	bool modules = false;

	if (end > LIVE_META_ROOM)
		end = LIVE_META_ROOM;
	while (live->meta_read < end) {
		const struct trace_block *b = (const struct trace_block *)(base + live->meta_read);
		struct trace_span item;
		uint64_t length, payload;

		/* Stored last. */
		if (__atomic_load_n(&b->magic, __ATOMIC_ACQUIRE) != TRACE_BLOCK_MAGIC)
			break;
		payload = *(volatile const uint32_t *)&b->payload;
		length = (sizeof *b + payload + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
		if (length > end - live->meta_read)
			break;
		/* A copy: what was found sound must stay so. */
		item = (struct trace_span){copy(live->trace, b + 1, payload), payload};
		if (live->keep)
			keep_meta(live->keep, b, item.data, item.length);
		live->meta_read += length;
		modules |= b->owner == TRACE_META_MODULE;
		if (trace_meta_take(live->trace, b->owner, b->item, item, &live->cursor->err))
			live->cursor->failed = true;
	}
	if (modules && trace_modules_sort(live->trace, &live->cursor->err))
		live->cursor->failed = true;
	return modules;
}

static bool tables(struct trace_cursor *c)
{
	return live_read_tables(live_of(c));
}

static const struct stream_source source = {live_refill, live_more, tables};

static int check_memory(const struct trace_live *live, struct err *err)
{
	const struct trace_header *h = live->header;

	if (!trace_is_one(h, sizeof *h) || h->version != TRACE_VERSION ||
	    live->control->version != LIVE_VERSION)
		return err_set(err,
			       "the program was linked with another version of atomsan's runtime: link it "
			       "again with this one's 'atomsan cc'");
	return 0;
}

/*
 * The kernel tells the program when we are gone: see abi/live.h. The C library's
 * robust mutexes keep their list inside the mutex, which the program can write
 * over; ours is in memory of our own, and only the word is shared.
 */
static void be_alive(struct trace_live *live)
{
	uint32_t *alive = &live->control->alive;

	syscall(SYS_get_robust_list, 0, &live->robust_before, &live->robust_before_size);
	live->robust.list.next = &live->robust_entry;
	live->robust_entry.next = &live->robust.list;
	live->robust.futex_offset = (long)((uintptr_t)alive - (uintptr_t)&live->robust_entry);
	__atomic_store_n(alive, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	syscall(SYS_set_robust_list, &live->robust, sizeof live->robust);
}

/* Who still waits for us need not. */
static void be_gone(struct trace_live *live)
{
	syscall(SYS_set_robust_list, live->robust_before, live->robust_before_size);
	__atomic_store_n(&live->control->alive, LIVE_OWNER_DIED, __ATOMIC_RELEASE);
	live_wake(live);
}

struct trace_live *trace_live_open(int memory, int keep, struct err *err)
{
	struct trace_live *live = mem_zalloc(1, sizeof *live);
	struct trace_cursor *c = mem_zalloc(1, sizeof *c + sizeof live);
	struct stat file;
	void *map;

	live->process = -1;
	live->cursor = c;
	*(struct trace_live **)(c + 1) = live;
	if (fstat(memory, &file) || (uint64_t)file.st_size < LIVE_SIZE) {
		err_set(err, "descriptor %d is not the memory of a program to be checked", memory);
		goto fail;
	}
	map = mmap(NULL, LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	if (map == MAP_FAILED) {
		err_set(err, "the program's memory cannot be mapped: %s", strerror(errno));
		goto fail;
	}
	live->map = map;
	live->inode = file.st_ino;
	live->header = map;
	live->control = (struct live_control *)(live->map + LIVE_CONTROL);
	if (check_memory(live, err))
		goto fail;
	live->pid = (pid_t)live->header->pid;
	be_alive(live);
	live->process = (int)syscall(SYS_pidfd_open, live->pid, 0);
	live->quiet = live->process < 0; /* it may be gone already */
	live->trace = mem_zalloc(1, sizeof *live->trace);
	live->trace->path = mem_textf("process %d", live->pid);
	live->trace->header = *live->header;
	live->trace->header.state = TRACE_RUNNING;
	for (int i = 0; i < 16; i++)
		live->trace->header.regions[i] &= UINT64_MAX >> TRACE_ADDRESS_BITS;
	c->trace = live->trace;
	c->source = &source;
	c->merged = true;
	if (keep >= 0)
		live->keep = keep_open(keep, &live->trace->header);
	live_read_tables(live);
	if (c->failed) {
		*err = c->err;
		goto fail;
	}
	return live;
fail:
	trace_live_close(live);
	return NULL;
}

struct trace *trace_live_trace(struct trace_live *live)
{
	return live->trace;
}

struct trace_cursor *trace_live_cursor(struct trace_live *live)
{
	return live->cursor;
}

void trace_live_stats(const struct trace_live *live, struct trace_live_stats *stats)
{
	*stats = live->stats;
	stats->calls = __atomic_load_n(&live->control->calls, __ATOMIC_RELAXED);
	stats->unmet = __atomic_load_n(&live->control->unmet, __ATOMIC_RELAXED);
	stats->silent = __atomic_load_n(&live->control->silent, __ATOMIC_RELAXED);
	stats->spoken = __atomic_load_n(&live->control->spoken, __ATOMIC_RELAXED);
}

void trace_live_want_all(struct trace_live *live)
{
	live->control->all_calls = 1;
}

uint64_t *trace_live_entire(struct trace_live *live, uint64_t *count)
{
	*count = sizeof live->control->entire * 8;
	return live->control->entire;
}

void trace_live_between(struct trace_live *live, void (*between)(void))
{
	live->between = between;
}

void trace_live_halt(struct trace_live *live)
{
	struct pollfd process = {live->process, POLLIN, 0};

	__atomic_store_n(&live->control->halt, 1, __ATOMIC_RELEASE);
	live_wake(live);
	/* Its threads look when they need a window; one that sleeps does not. */
	if (live->process >= 0 ? poll(&process, 1, 200) == 0 : (usleep(200000), 1))
		kill(live->pid, SIGKILL);
}

int trace_live_finish(struct trace_live *live, struct err *err)
{
	struct trace_cursor *c = live->cursor;
	struct trace_header *ours = &live->trace->header;

	live_read_tables(live);
	/* The rest is as it was, whatever the program wrote over it. */
	ours->state = live->header->state == TRACE_FINISHED || live->header->state == TRACE_STOPPED
			      ? live->header->state
			      : TRACE_RUNNING;
	ours->exit_status = live->header->exit_status;
	/* It said that it would abort, and is gone. */
	if (ours->state == TRACE_RUNNING && ours->exit_status)
		ours->state = TRACE_FINISHED;
	ours->next_stamp = live->header->next_stamp;
	ours->threads = live->header->threads;
	memcpy(ours->counters, live->header->counters, sizeof ours->counters);
	if (!live->keep)
		return 0;
	for (uint32_t i = 0; i < c->stream_count; i++)
		if (live->places[i].window != NO_WINDOW && !live->places[i].drained)
			live_keep_window(live, &live->places[i], &c->streams[i]);
	return keep_finish(live->keep, ours, err);
}

void trace_live_verdict(struct trace_live *live, uint32_t findings)
{
	live->control->findings = findings;
	__atomic_store_n(&live->control->done, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &live->control->done, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void trace_live_close(struct trace_live *live)
{
	if (!live)
		return;
	if (live->keep)
		keep_close(live->keep);
	if (live->process >= 0)
		close(live->process);
	if (live->trace)
		trace_close(live->trace);
	if (live->robust.list.next)
		be_gone(live);
	if (live->map)
		munmap(live->map, LIVE_SIZE);
	free(live->cursor->streams);
	free(live->cursor->heap);
	free(live->cursor);
	free(live->places);
	free(live->parked);
	free(live);
}
