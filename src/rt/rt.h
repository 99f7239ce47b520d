/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of the runtime share. The runtime lives inside the user's
 * program and obeys five rules:
 *
 *   - no malloc, no stdio, no lock that the program could hold, no libc call
 *     from a hook; system calls are made directly (sys.h);
 *   - code reached from a hook uses no vector register (the whole runtime is
 *     compiled with -mgeneral-regs-only), for hooks promise to keep them;
 *   - a signal handler may interrupt any instruction and call any hook;
 *   - errno is the program's: an interposer that fails by its own doing
 *     restores it;
 *   - it never kills its host: what cannot be recorded is counted.
 */
#ifndef ATOMSAN_RT_RT_H
#define ATOMSAN_RT_RT_H

#include "abi/hooks.h"
#include "abi/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define COLD __attribute__((noinline, cold))
/* Interposers and hooks are the only symbols that leave the archive. */
#define EXPORT __attribute__((visibility("default")))

/* ---- options (options.c) ---- */

struct rt_options {
#define BOOL bool
#define NUMBER uint64_t
#define TEXT const char *
#define X(type, name, value, help) type name;
#include "abi/options.inc"
#undef X
#undef BOOL
#undef NUMBER
#undef TEXT
};
extern struct rt_options rt_options;
void rt_options_read(const char *text);

/* ---- messages (say.c): to standard error or log_path, in one write ---- */

/* %s %d (int64_t) %u (uint64_t) %x (uint64_t) only; a newline is added. */
void rt_say(const char *format, ...);

/* ---- threads (thread.c) ---- */

enum { RT_NO_THREAD = 0xffffffff };

/* What a thread has beyond the part that inlined code sees. */
struct rt_thread {
	uint32_t number; /* RT_NO_THREAD: not met, nothing is recorded */
	uint32_t slot;
	/* Event buffer: room is taken by moving `next`, one instruction, so that a
	 * signal handler that records lands behind the interrupted event. */
	uint64_t next; /* address of the next free word */
	uint64_t end;
	struct trace_block *block;
	uint32_t sequence;             /* of the block */
	uint32_t switching;            /* a block switch is under way */
	uint64_t stamp;                /* latest that this thread drew */
	struct atomsan_frame *written; /* frames below are in the trace */
	struct atomsan_frame *frames;
	/* The last atomic load, to leave out spinning. */
	const void *spin_location;
	const struct atomsan_site *spin_site;
	uint64_t spin_version;
	uint64_t spin_next; /* `next` right after it was recorded */
	uint32_t *stripe;   /* the atomic stripe that this thread holds, or NULL */
	int inside;         /* depth of runtime code that calls into libc: interposers pass through */
};
extern __thread struct rt_thread rt_self __attribute__((tls_model("initial-exec")));

/* True where an interposer should record: recording is on, the thread is known,
 * and this is the program's call and not one made by the runtime itself. */
extern bool rt_recording;
static inline bool rt_on(void)
{
	return rt_recording && rt_self.number != RT_NO_THREAD && !rt_self.inside;
}

/* A number for a thread about to be created; names follow from parent and order of creation. */
uint32_t rt_thread_number(void);
/* First thing in a new thread: buffers, frames, START event. Last thing: END event, buffers given back. */
void rt_thread_begin(uint32_t number, uint32_t parent);
void rt_thread_end(void);

/* ---- recording (record.c) ---- */

/* The site that the pass stored before a watched call, if any; taken once. */
static inline const struct atomsan_site *rt_take_site(void)
{
	const struct atomsan_site *site = __atomsan_thread.at;

	__atomsan_thread.at = NULL;
	return site;
}

/*
 * Record an operation, with a new stamp, and end the thread's segment. To be
 * called after the operation took effect if it waits for others, before if
 * it lets others go on (see TRACE_OPS). Nothing happens unless rt_on().
 */
void rt_op(enum trace_op op, unsigned flags, const void *object, const struct atomsan_site *site);
void rt_op_value(enum trace_op op, unsigned flags, const void *object, uint64_t value,
		 const struct atomsan_site *site);
void rt_op_values(enum trace_op op, unsigned flags, const void *object, uint64_t value, uint64_t other,
		  const struct atomsan_site *site);

/* Record that the program's bytes were read or written by libc on its behalf. */
void rt_range(const void *p, uint64_t length, bool write, const struct atomsan_site *site);

void rt_count(enum trace_counter counter);

/* ---- the trace file (record.c) ---- */

void rt_record_open(const char *path, int argc, char **argv, char **envp);
void rt_record_finish(int wait_status); /* mark finished; recording goes on until the process is gone */
void rt_record_fork_child(void);        /* leave the parent's trace alone; begin one of our own, or none */

#endif
