/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The inside of a cursor, for the two that make one: cursor.c, over a file, and
 * live.c, over a trace that is still being written. Threads are streams of
 * words that are merged by stamps; where their words come from differs.
 */
#ifndef ATOMSAN_TRACE_STREAM_H
#define ATOMSAN_TRACE_STREAM_H

#include "trace/cursor.h"

/* What is left of one thread. */
struct stream {
	const uint8_t *at;  /* next word */
	const uint8_t *end; /* of the block, or of what is to be read of it now */
	uint64_t last;      /* stamp of the latest stamped event that was handed out */
	uint32_t thread;
	uint32_t blocks; /* begun so far */
	bool cut;        /* the file ends inside the block */
	bool left;       /* the exit of the switch at `at` was handed out */
	const uint8_t *start;
	uint8_t *unpacked; /* the block, if it was packed */
	uint32_t room;     /* of unpacked */
	uint64_t *steps;   /* accesses of one event, each as an event; NULL: there was none yet */
	const uint8_t *behind, *behind_end; /* where `at` and `end` go on when they are read, or NULL */
};

/* A thread that waits for its turn, and the key that it waits with. */
struct waiting {
	uint64_t key;
	uint32_t stream;
};

/* What a trace that is being written does differently. */
struct stream_source {
	/* No stream is current. True: there is one now; false: there are no more events. */
	bool (*refill)(struct trace_cursor *cursor);
	/* The current stream has come to its end: put it on or leave it (stream_leave). */
	void (*more)(struct trace_cursor *cursor, struct stream *stream);
	/* A site or function is not in the tables: true if they have grown since. */
	bool (*tables)(struct trace_cursor *cursor);
};

struct trace_cursor {
	struct trace *trace;
	struct stream *current; /* NULL: no more */
	uint64_t bound;         /* events with a stamp from here on are left for later */
	/* The module whose site came last: most events stay in it. */
	uint64_t first_site, sites;
	const uint8_t *site_data;
	uint64_t first_function, functions;
	struct waiting *heap; /* lowest first, without the current stream */
	uint32_t waiting;
	bool merged;
	bool failed;
	uint64_t blocks_read;
	struct stream *streams;
	uint32_t stream_count;
	const struct stream_source *source; /* NULL: a file */
	struct err err;
};

/* The key that a stream's next event has if it is stamped, else 0. Damage shows when the event is read. */
uint64_t stream_stamp(const struct stream *stream);
/* Heap with c->waiting entries in any order: put it in order and make the lowest stream the current one. */
void stream_begin(struct trace_cursor *cursor);
/* The stream that waits lowest becomes the current one, in the place of the one that is. */
void stream_leave(struct trace_cursor *cursor);

/*
 * An event that is many accesses (abi/trace.h): `word` says the first, `past` is where the events after it
 * begin. They are read from stream->steps as if each had been written. False: it cannot be so many.
 */
bool strided_begin(struct stream *stream, uint64_t word, uint64_t count, uint64_t stride,
		   const uint8_t *past);
/* At the end of what is to be read: true if that were steps, and what is behind them is to be read now. */
bool strided_end(struct stream *stream);

#endif
