/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events of a trace, one after the other: of all threads in the total order
 * that abi/trace.h describes, or of one thread in program order.
 *
 * The order is made by merging runs. A run is what a thread did from one
 * stamped event up to the next; its events have the same key, so a thread is
 * read on without looking at the others until it meets a stamp that is higher
 * than the lowest one that another thread waits with.
 */
#ifndef ATOMSAN_TRACE_CURSOR_H
#define ATOMSAN_TRACE_CURSOR_H

#include "trace/reader.h"

struct trace_event {
	uint64_t key;     /* stamp of the thread's latest stamped event, itself included; 0: none yet */
	uint64_t address; /* accessed, receiver of an ENTER, object of an OP */
	uint64_t value;   /* bytes of an access; else see TRACE_OPS, 0 if absent */
	uint64_t other;   /* see TRACE_OPS, 0 if absent */
	uint32_t thread;  /* index in trace->threads; a thread number for the writer */
	uint32_t site;    /* ACCESS and OP; TRACE_NO_SITE if not known */
	union {
		uint32_t function; /* ENTER */
		uint32_t frames;   /* EXIT: how many are left */
	};
	union {
		uint16_t flags; /* OP: its flags */
		uint16_t step;  /* ACCESS of a loop, told when it was over: bytes of each step; else 0 */
	};
	uint8_t kind;     /* enum trace_event_kind; ACCESS also stands for STAMPED */
	uint8_t op;       /* OP: enum trace_op */
	uint8_t access;   /* ACCESS: enum atomsan_access, one that reads or writes, or ATOMSAN_OBJECT */
	bool stamped;     /* key is its own stamp */
	uint8_t prefixes; /* 1 << enum trace_prefix of what was there */
	bool found;       /* ACCESS: other is what was at its place, see trace_event_found */
};

/*
 * What an access of 1, 2, 4 or 8 bytes found at its place, if the trace says so:
 * the value before it took effect, as a signed number.
 */
static inline bool trace_event_found(const struct trace_event *e, int64_t *value)
{
	unsigned bits = e->value == 8 ? TRACE_PREFIX_BITS : (unsigned)e->value * 8;

	if (!e->found || (e->value != 1 && e->value != 2 && e->value != 4 && e->value != 8))
		return false;
	*value = (int64_t)(e->other << (64 - bits)) >> (64 - bits);
	return true;
}

struct trace_cursor;

/* In total order. While it goes, threads get their names (trace_thread_name)
 * as their CREATE events are met, that is before their own first event. */
struct trace_cursor *trace_cursor_open(struct trace *trace);
/* One thread, in program order. */
struct trace_cursor *trace_cursor_open_thread(struct trace *trace, uint32_t index);
void trace_cursor_close(struct trace_cursor *cursor);

/* 1: an event, 0: no more, -1: damage, see trace_cursor_error. */
int trace_next(struct trace_cursor *cursor, struct trace_event *event);
/*
 * What the thread whose turn it is has next, as words (word_inl.h), for who would
 * rather read plain accesses by itself: those of one word, with a site of this
 * module that says what they do. The first word that is not like that is left to
 * trace_next. False: there is nothing now, which trace_next can change.
 */
struct trace_run {
	const uint8_t *at, *end;
	const uint64_t *regions; /* for word_expand */
	uint64_t first_site, sites;
	uint32_t thread;
};
bool trace_run_begin(const struct trace_cursor *cursor, struct trace_run *run);
/* The words before run->at were read. */
void trace_run_end(struct trace_cursor *cursor, const struct trace_run *run);
const struct err *trace_cursor_error(const struct trace_cursor *cursor);

/* Text of an op ("lock"), or NULL for a number that is none. */
const char *trace_op_text(unsigned op);

/* Runs through the whole trace so that every thread has its name. */
int trace_name_threads(struct trace *trace, struct err *err);

#endif
