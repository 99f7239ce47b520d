/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files behind live.h share: live.c (beginning, end, tables),
 * liveround.c (rounds and threads), livewindow.c (windows and limits).
 */
#ifndef ATOMSAN_TRACE_LIVEINSIDE_H
#define ATOMSAN_TRACE_LIVEINSIDE_H

#include "abi/live.h"
#include "trace/keep.h"
#include "trace/live.h"
#include "trace/stream.h"

#include <linux/futex.h>
#include <sys/types.h>

#define NO_WINDOW UINT32_MAX
/* How long the order of what a handler does is waited for. One that has left by longjmp never returns. */
#define PATIENCE 500000000ull /* ns */

/* A stream's place in the shared memory; same index as in the cursor's streams. */
struct place {
	uint32_t window;         /* that the stream is in; NO_WINDOW: the stream is not in use */
	uint32_t limit_window;   /* where this round ends for it */
	uint32_t sequence;       /* of the window that it is in */
	const uint64_t *limit;   /* the first word that is not read in this round */
	bool moving;             /* more was written while the round was being fixed */
	bool held;               /* what was written is hidden by an event that a handler interrupted */
	uint64_t held_since;     /* when that was first seen, in ns; 0: not yet */
	bool over;               /* the thread has ended, and so does the stream with its last word */
	bool drained;            /* its thread was told that this window is read and may be used again */
	uint32_t limit_sequence; /* of the window that the limit lies in */
	bool all;                /* the thread takes back nothing of the window that the limit lies in */
	bool untold;             /* behind the limit is something that the thread may yet take back */
	uint64_t key;            /* which none of that is below, nor what comes later */
	uint64_t blocked;        /* since when others had to wait for that, in ns; 0: they need not */
};

struct trace_live {
	struct trace *trace;
	struct trace_cursor *cursor;
	uint8_t *map;
	struct trace_header *header;
	struct live_control *control;
	struct place *places;
	uint32_t room; /* of places and streams */
	uint32_t thread_room;
	uint32_t begun;
	uint64_t meta_read;
	pid_t pid;
	int process;    /* pidfd, or -1 */
	uint64_t inode; /* of the memory */
	bool last;      /* this round is the last one */
	bool ready;     /* some stream has something in it that could be read, were it its turn */
	uint32_t to_wake;
	uint32_t *parked; /* windows that were read but are not sealed yet */
	uint32_t parked_count;
	unsigned quiet;        /* naps in a row */
	uint64_t asked;        /* when the process was last looked at, in naps */
	void (*between)(void); /* for tests, or NULL */
	struct keep *keep;
	struct robust_list_head robust, *robust_before;
	struct robust_list robust_entry;
	size_t robust_before_size;
	struct trace_live_stats stats;
};

static inline struct live_window *live_window_at(const struct trace_live *live, uint32_t index)
{
	return (struct live_window *)(live->map + LIVE_WINDOWS + index * LIVE_STRIDE);
}

static inline const uint64_t *live_window_end(const struct live_window *window)
{
	return (const uint64_t *)((const uint8_t *)window + LIVE_WINDOW);
}

/* The cursor's own, which stands behind it. */
static inline struct trace_live *live_of(struct trace_cursor *c)
{
	return *(struct trace_live **)(c + 1);
}

/* What was read in the window that the place is in goes into the kept file. */
void live_keep_window(struct trace_live *live, const struct place *place, const struct stream *stream);
/* Read this window from its beginning, as far as this round may go in it. */
void live_enter_window(struct trace_live *live, struct stream *stream, struct place *place, uint32_t index);
/* The source's `more`. */
void live_more(struct trace_cursor *cursor, struct stream *stream);
/* Moves the limit to the end of what the thread has published. True if it moved. */
bool live_move_limit(struct trace_live *live, struct place *place);
/* What the thread has not told is wanted: it cannot be taken back any more. */
void live_want(struct trace_live *live, struct place *place);
/* A window that is sealed, read to its end, and followed by none: its thread may be waiting for it. */
void live_drain(struct trace_live *live, struct stream *stream, struct place *place);
void live_free_parked(struct trace_live *live);
void live_wake(struct trace_live *live);
/* The memory contradicts itself: no more of it is read. */
void live_damage(struct trace_live *live, const char *what);

/* The source's `refill`. */
bool live_refill(struct trace_cursor *cursor);
/* Reads metadata that is new; true if it has modules. */
bool live_read_tables(struct trace_live *live);

#endif
