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
/* Weak, so that a program that has a function of that name still links, and keeps it: mtx_lock is
 * nobody's reserved word. */
#define INTERPOSER __attribute__((visibility("default"), weak))

/* All else is found directly, not through the GOT. */
#pragma GCC visibility push(hidden)

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
/* The pattern with %p replaced by the process id. */
void rt_path(char *to, uint64_t room, const char *pattern);

/* ---- threads (thread.c) ---- */

enum {
	RT_NO_THREAD = 0xffffffff,
	RT_PARKED = 8,
	RT_UNSURE = 64,
	RT_OBJECTS = 8,
	RT_MARKS = 1 << (ATOMSAN_STAMP_SHIFT - ATOMSAN_THREAD_SHIFT), /* threads that a cell can tell apart */
};

/* What a thread has beyond the part that inlined code sees. */
struct rt_thread {
	uint32_t number; /* RT_NO_THREAD: not met, nothing is recorded */
	uint32_t mark;   /* what cells know it by, 6 bits; threads that come later may have it, too */
	uint32_t slot;   /* mark modulo ATOMSAN_SLOTS */
	/* Room for an event is taken by moving `next`, one instruction, so that a
	 * signal handler that records lands behind the interrupted event. A window
	 * lies so that RT_WINDOW is a bit that is clear inside and set beyond. */
	uint64_t next; /* address of the next free word */
	struct trace_block *window;
	/* Full windows in which a handler may have interrupted the writing of an event: they
	 * are appended when no handler is under way, for by then the event is complete. */
	struct trace_block *parked[RT_PARKED];
	uint32_t parked_count;
	uint32_t handlers;      /* signal handlers under way */
	uint32_t flushing;      /* frames are being written */
	uint32_t sub;           /* segments begun since `stamp` */
	uint64_t segment_start; /* `next` when the segment began */
	int locks;              /* that the thread holds; only a hint, see short_segment() */
	int inside;             /* depth of runtime code that calls into libc: interposers pass through */
	uint64_t stamp;         /* latest that this thread drew */
	uint64_t handler_stamp; /* latest that it drew in a signal handler */
	struct atomsan_frame *written; /* frames below are in the trace */
	struct atomsan_frame *frames;
	/* The last atomic load, to leave out spinning. */
	const void *spin_location;
	const struct atomsan_site *spin_site;
	uint32_t spin_version;
	uint64_t spin_next;         /* `next` right after it was recorded */
	struct sched_thread *sched; /* NULL: not scheduled, see scheduler.h */
	struct rt_call {
		uint64_t start;                /* first word of what can be taken back; 0: nothing can */
		struct trace_block *first;     /* the window that it lies in */
		uint32_t held;                 /* full windows from there on, which nobody has read */
		struct atomsan_frame *level;   /* the frame that it is; those below are of no call */
		struct atomsan_frame *written; /* as `written` was before `start` */
		struct atomsan_frame *object;  /* none below has got an object since `start` */
		uint64_t opened;               /* `next` when it was opened */
		uint64_t comebacks;            /* at `start` */
		uint64_t little;               /* not worth a look: so many bytes */
		uint64_t patience;             /* how much may be pending before others get a chance */
		bool inside;                   /* it is one; else what comes between two */
		bool open;                     /* it has made an access, and units of it may be open */
		bool wrote;                    /* it has changed something since */
		bool told;                     /* it must be told of */
		uint32_t pending;              /* calls since `start` */
		uint64_t taken;                /* words that were taken back and are not counted yet */
		uint32_t count, unmet;         /* calls so far, and those that were taken back */
		uint32_t looks;                /* that found that it may be taken back */
		uint32_t backs;                /* times that something was taken back before it ended */
		bool entire;                   /* calls in it have no segments of their own: entire.h */
	} call;                                /* the outermost one, see unmet.h */
	struct {
		uint32_t count;
		uint64_t cells[RT_UNSURE]; /* and in the highest byte what was read */
	} unsure; /* cells that another reader may have taken over at the same time: take_cell() */
	uint64_t ended[RT_MARKS]; /* of each thread, segments that are known to be of calls that have ended:
				     unmet.h */
	struct {
		uint32_t count, due; /* and how many of them are to be told before the next event */
		struct rt_object {
			const void *p;
			uint64_t length;
			const struct atomsan_site *site;
			struct atomsan_frame *top; /* of the stack, where it began to live */
			const struct atomsan_function *function;
			bool due;
		} of[RT_OBJECTS];
	} objects;        /* of a call that is one unit: entire.h */
	uint64_t known;   /* cells of this thread above it are known though their segment is over: entire.h */
	uint64_t careful; /* not 0: every access goes the long way, see frames_or_segment_due() */
};
#define RT_WINDOW 0x20000ull
extern __thread struct rt_thread rt_self __attribute__((tls_model("local-exec")));

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
/* What `shallow` is if every frame begins a segment. */
struct atomsan_frame *rt_all_shallow(void);
/* Has the program installed a signal handler (signal.c)? */
extern bool rt_signal_handlers;
/* Let the scheduler's report say where the program crashes. */
void rt_signal_watch_crashes(void);
/* In a forked child: as if this process had never had threads. */
void rt_thread_forget(void);

/* ---- recording (event.c, access.c) ---- */

/* The site that the pass stored before a watched call, if any; taken once. */
static inline const struct atomsan_site *rt_take_site(void)
{
	const struct atomsan_site *site = __atomsan_thread.at;

	__atomsan_thread.at = NULL;
	return site;
}

/*
 * Record an operation, with a new stamp if its place in the order needs one
 * (order.h; with values: always), and end the thread's segment. To be
 * called after the operation took effect if it waits for others, before if
 * it lets others go on (see TRACE_OPS). Nothing happens unless rt_on().
 */
void rt_op(enum trace_op op, unsigned flags, const void *object,
	   const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
/* The same of a lock that was got or is let go, from where no registers need to be kept. */
void rt_op_lock(enum trace_op op, unsigned flags, const void *lock, const struct atomsan_site *site);
void rt_op_value(enum trace_op op, unsigned flags, const void *object, uint64_t value,
		 const struct atomsan_site *site);
void rt_op_values(enum trace_op op, unsigned flags, const void *object, uint64_t value, uint64_t other,
		  const struct atomsan_site *site);

/* Record that the program's bytes were read or written by libc on its behalf. `site` is the first
 * of the call's two sites: a read is recorded with it, a write with the one behind it (watched.inc). */
void rt_range(const void *p, uint64_t length, bool write, const struct atomsan_site *site);
/* A write that was made some time ago: recorded, and not watched. */
void rt_range_past(const void *p, uint64_t length, const struct atomsan_site *site);

void rt_count(enum trace_counter counter) ATOMSAN_KEEPS_REGISTERS;

/* ---- modules (module.c) ---- */

/*
 * The executable's tables, looked at first: an entry's number is (address -
 * bias) / size, if that is below the limit. Numbers begin at 1.
 */
extern struct rt_numbers {
	uint64_t sites_bias, sites_limit;
	uint64_t functions_bias, functions_limit;
} rt_numbers;
uint64_t rt_module_find_site(uint64_t address) ATOMSAN_KEEPS_REGISTERS;
uint64_t rt_module_find_function(uint64_t address) ATOMSAN_KEEPS_REGISTERS;

/*
 * A site's number if it is the executable's, else one beyond the limit. It is
 * divided by 40 exactly: by 5 with a multiplication by its inverse, by 8 with a
 * turn. What is no multiple becomes larger than any quotient.
 */
static inline uint64_t rt_site_number(const struct atomsan_site *site)
{
	uint64_t fifth = ((uint64_t)site - rt_numbers.sites_bias) * 0xcccccccccccccccdull;

	_Static_assert(sizeof *site == 40, "divided by 5 and by 8");
	/* Compilers make three instructions of this one. */
	__asm__("rorq $3, %0" : "+r"(fifth) : : "cc");
	return fifth;
}

/* Global numbers; 0 for what no registered module has. */
static inline uint64_t rt_module_site(const struct atomsan_site *site)
{
	uint64_t number = rt_site_number(site);

	return likely(number < rt_numbers.sites_limit) ? number : rt_module_find_site((uint64_t)site);
}

static inline uint64_t rt_module_function(const struct atomsan_function *function)
{
	uint64_t number = ((uint64_t)function - rt_numbers.functions_bias) / sizeof *function;

	return likely(number < rt_numbers.functions_limit) ? number
							   : rt_module_find_function((uint64_t)function);
}

/* Is something declared to be a unit, by an annotation? */
bool rt_module_declares_units(void);

/* The variable of a registered module that has this byte, or NULL. Looks through all of them. */
const struct atomsan_variable *rt_module_variable(uint64_t address) ATOMSAN_KEEPS_REGISTERS;

/* The nth variable of this name, from 0. */
const struct atomsan_variable *rt_module_variable_named(const char *name, uint32_t nth);

/* All that are registered, and whether one has this build-id, in hexadecimal (none: yes). */
void rt_module_each(void (*each)(const struct atomsan_site *sites, uint64_t count, uint64_t first,
				 const struct atomsan_function *functions, uint64_t function_count));
bool rt_module_is_build(const struct atomsan_site *sites, const char *build, uint32_t length);
void rt_module_executable(void);   /* register the one that the runtime is linked into */
void rt_module_write_all(void);    /* into a trace just opened */
void rt_module_count_unseen(void); /* loaded, and not compiled with atomsan */

/* ---- the trace file (record.c, file.c, window.c) ---- */

/* The open trace's header, mapped; a stand-in in memory while there is none. */
extern struct trace_header *rt_header;
void rt_record_open(const char *path, int argc, char **argv, char **envp);
/* As if recording, but into memory that is used again and again: for what needs events and no trace. */
void rt_record_nowhere(void);
/* Write for a checker that reads along, instead of to a file. */
void rt_record_for_checker(int argc, char **argv, char **envp);
/* About to have a second thread: a process that is to be checked gets its checker only now. */
void rt_record_before_thread(void);
/* The same where a single thread has filled all windows; called from hooks. False: there is none to be had.
 */
bool rt_record_need_checker(void);
/* Mark finished; recording goes on until the process is gone. Returns the status to end with: a checker may
 * have found something. */
int rt_record_finish(int wait_status);
/* As above for an end that may yet be averted. */
void rt_record_aborting(int wait_status);
void rt_record_fork_child(void); /* leave the parent's trace alone; begin one of our own, or none */

/* Are all mappings far enough apart for the shadow's folding? */
bool rt_record_regions_apart(void);

/* The calling thread's window is full, or it has none yet: make room. False: recording has ended. */
bool rt_file_make_room(void) ATOMSAN_KEEPS_REGISTERS;
/*
 * The calling thread has just let go of a lock: if its window is nearly full it is
 * appended now, which takes a while, and not in one of the next critical sections, where
 * others would have to wait for it.
 */
void rt_file_make_room_soon(void);
static inline void rt_unlocked(void)
{
	enum { LITTLE = RT_WINDOW / 16 };

	if (unlikely((rt_self.next & (2 * RT_WINDOW - LITTLE)) == RT_WINDOW - LITTLE))
		rt_file_make_room_soon();
}
/* The calling thread ends: append what its window holds and let others have it. */
void rt_file_close_window(void);
/* Metadata of any length, in as many blocks as it takes. Pieces are written one after the other. */
struct rt_piece {
	const void *bytes;
	uint64_t length;
};
void rt_file_meta(enum trace_meta kind, const struct rt_piece *pieces, int count);

/* Stop doing anything in this thread from here on. */
void rt_thread_off(void) ATOMSAN_KEEPS_REGISTERS;

#pragma GCC visibility pop

#endif
