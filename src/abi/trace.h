/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The trace on disk. The runtime writes it through shared file mappings while
 * the program runs, so whatever way the process ends, the file holds every
 * event up to the last complete one. All numbers are little-endian.
 *
 *   offset 0        struct trace_header, one page
 *   TRACE_PAGE..    blocks, each a whole number of pages, back to back; a page
 *                   that does not begin with TRACE_BLOCK_MAGIC where a block is
 *                   due belongs to a block that was never begun: skip a page
 *
 * A block begins with struct trace_block and holds either events of one thread
 * (number `owner`, its `sequence`-th block) or metadata (TRACE_META_*). Unused
 * room at the end of an event block is zero.
 *
 * While it runs a thread writes its events into a window, a block that is
 * mapped and used again and again: full, its content is appended as a block of
 * its own, squeezed (abi/squeeze.h) unless pack=0, the window is marked TRACE_BLOCK_FLUSHED, cleared, and
 * gets the next sequence number. If a process dies between the two, window and copy have the same sequence
 * number; the window, being complete, is the one to read.
 *
 * Events. Every event begins with one word, the last to be written, so that a
 * word that is not zero begins a complete event:
 *
 *   63                    20 19             3 2    0
 *  | address, low 44 bits   | id             | kind |
 *
 *   kind            words  id                       address
 *   TRACE_ACCESS    1      site                     accessed
 *   TRACE_STAMPED   2      site                     accessed; word 1: stamp << 20
 *   TRACE_ENTER     1      function                 receiver, 0 if none
 *   TRACE_EXIT      1      frames left; 0: nothing, 0
 *                          a place given up
 *   TRACE_SWITCH    1      function                 receiver: an exit of one frame and an
 *                                                   entry in one word
 *   TRACE_OP        2      low 8: enum trace_op,    object; word 1: stamp << 20 | site,
 *                          high 9: its flags        site TRACE_NO_SITE if not known,
 *                                                   stamp 0 if it has none, not both
 *   TRACE_PREFIX    1      low 2: enum trace_prefix,  payload, low 44 bits; belongs to the
 *                          high 15: payload's high  next event that is no prefix
 *
 * An access whose site is of kind ATOMSAN_OBJECT touches nothing: a stack
 * object begins to live there, and ends with its function's frame. A site with
 * ATOMSAN_SITE_RANGE has its length in a TRACE_PREFIX_VALUE. Where the site has a
 * size and the event a length, a loop did the access in steps of that size, and
 * was told of when it ended. With a TRACE_PREFIX_OTHER as well, and no other prefix
 * or stamp, it is as many accesses of the site's size as the TRACE_PREFIX_VALUE says,
 * each as far from the one before as the other says (its highest bit is the sign).
 *
 * An id or a site that does not fit is written as all ones, with a
 * TRACE_PREFIX_SITE before the event. The upper bits of an address come from
 * the header's `regions`, indexed by bits 40 to 43, or from a
 * TRACE_PREFIX_REGION before the event. An event and its prefixes lie in one
 * block. An EXIT of more frames than fit is several.
 *
 * An access whose site is a call, or is not known, has its length in a
 * TRACE_PREFIX_VALUE; it is a write if a TRACE_PREFIX_OTHER before it holds 1.
 *
 * Order. A thread's events are in program order. The key of an event is the
 * stamp of its thread's latest event with a stamp, up to and including itself;
 * stamps are unique, and sorting by key (program order within a key) gives a
 * total order in which every pair of conflicting accesses and every
 * synchronisation operation stands as it happened. See docs/trace-format.md.
 *
 * Left out are accesses that repeat one of the same thread, kind and bytes
 * with no boundary (synchronisation, allocation, marked function entry) and no
 * conflicting access of another thread in between, unless filter=0 was set.
 */
#ifndef ATOMSAN_ABI_TRACE_H
#define ATOMSAN_ABI_TRACE_H

#include <stdint.h>

#define TRACE_MAGIC "ATOMSAN\n"
#define TRACE_VERSION 4
#define TRACE_PAGE 4096u
#define TRACE_BLOCK_MAGIC 0x6b6c4241u /* "ABlk" */
#define TRACE_MAX_BLOCK (64u << 20)   /* no block is longer, metadata is split */
#define TRACE_MAX_UNPACKED (1u << 20) /* no packed event block is longer once unpacked */

enum trace_event_kind {
	TRACE_NONE = 0,
	TRACE_ACCESS = 1,
	TRACE_STAMPED = 2,
	TRACE_ENTER = 3,
	TRACE_EXIT = 4,
	TRACE_OP = 5,
	TRACE_PREFIX = 6,
	TRACE_SWITCH = 7,
};

#define TRACE_ID_SHIFT 3
#define TRACE_ID_BITS 17
#define TRACE_ID_MAX ((1u << TRACE_ID_BITS) - 1) /* "see the prefix" */
#define TRACE_ADDRESS_SHIFT 20
#define TRACE_ADDRESS_BITS 44
#define TRACE_OP_BITS 8
#define TRACE_OP_SITE_BITS 20
#define TRACE_STAMP_SHIFT TRACE_OP_SITE_BITS /* in the second word of an event */
#define TRACE_NO_SITE 0u                     /* site numbers begin at 1 */
#define TRACE_OP_SITE_MAX ((1u << TRACE_OP_SITE_BITS) - 1)

/* What a prefix has room for. */
#define TRACE_PREFIX_BITS (TRACE_ADDRESS_BITS + 15)
#define TRACE_STEPS_MAX 1024 /* accesses in one event */

enum trace_prefix {
	TRACE_PREFIX_VALUE = 0,  /* length of a range, size of an object, thread, see the op */
	TRACE_PREFIX_SITE = 1,   /* site or function number */
	TRACE_PREFIX_REGION = 2, /* address bits 44 and up */
	TRACE_PREFIX_OTHER = 3,  /* second value: see the op; of an access what it found at its place */
};

/*
 * op, text, object, value, other. Thread numbers are given in the order in
 * which the runtime met them; names for people come from the creation tree.
 * An operation that can block is written after it took effect (lock, wait,
 * join), one that lets others go on is written before (unlock, post, signal,
 * create). Locks, unlocks, atomic operations, allocations and frees have a stamp
 * only if their thread's key is not above those of what they come after; all
 * others have one.
 */
#define TRACE_OPS(X)                                                                            \
	/* threads */                                                                           \
	X(1, START, "start", "stack, low end", "stack size", "parent's number")                 \
	X(2, END, "end", "-", "-", "-")                                                         \
	X(3, CREATE, "create", "-", "child's number", "-")                                      \
	X(4, JOIN, "join", "-", "child's number", "-")                                          \
	X(5, DETACH, "detach", "-", "child's number", "-")                                      \
	X(6, CREATE_FAILED, "create-failed", "-", "child's number", "errno")                    \
	/* locks: flags are enum trace_lock_flag */                                             \
	X(10, LOCK, "lock", "lock", "-", "-")                                                   \
	X(11, UNLOCK, "unlock", "lock", "-", "-")                                               \
	X(12, RDLOCK, "rdlock", "lock", "-", "-")                                               \
	X(13, LOCK_FAILED, "lock-failed", "lock", "errno", "-")                                 \
	X(14, LOCK_INIT, "lock-init", "lock", "-", "-")                                         \
	X(15, LOCK_DESTROY, "lock-destroy", "lock", "-", "-")                                   \
	/* condition variables: wait releases the mutex, wake has it again */                   \
	X(20, WAIT, "wait", "condition", "mutex", "-")                                          \
	X(21, WAKE, "wake", "condition", "mutex", "errno")                                      \
	X(22, SIGNAL, "signal", "condition", "-", "-")                                          \
	X(23, BROADCAST, "broadcast", "condition", "-", "-")                                    \
	/* barriers, semaphores, once */                                                        \
	X(30, BARRIER_INIT, "barrier-init", "barrier", "threads", "-")                          \
	X(31, BARRIER_ENTER, "barrier-enter", "barrier", "-", "-")                              \
	X(32, BARRIER_LEAVE, "barrier-leave", "barrier", "1 for the serial thread", "-")        \
	X(33, SEM_INIT, "sem-init", "semaphore", "initial value", "-")                          \
	X(34, SEM_POST, "sem-post", "semaphore", "-", "-")                                      \
	X(35, SEM_WAIT, "sem-wait", "semaphore", "-", "-")                                      \
	X(36, SEM_FAILED, "sem-failed", "semaphore", "errno", "-")                              \
	X(37, ONCE_BEGIN, "once-begin", "once control", "-", "-")                               \
	X(38, ONCE_END, "once-end", "once control", "-", "-")                                   \
	X(39, ONCE_SEEN, "once-seen", "once control", "-", "-")                                 \
	/* atomics: flags hold enum atomsan_order */                                            \
	X(50, ATOMIC_LOAD, "atomic-load", "location", "-", "-")                                 \
	X(51, ATOMIC_STORE, "atomic-store", "location", "-", "-")                               \
	X(52, ATOMIC_RMW, "atomic-rmw", "location", "-", "-")                                   \
	X(53, ATOMIC_FAILED, "atomic-cas-failed", "location", "-", "-")                         \
	X(54, FENCE, "fence", "-", "-", "-")                                                    \
	/* memory */                                                                            \
	X(60, ALLOC, "alloc", "block", "size", "-")                                             \
	X(61, FREE, "free", "block", "-", "-")                                                  \
	X(62, MAP, "map", "start", "size", "-")                                                 \
	X(63, UNMAP, "unmap", "start", "size", "-")                                             \
	/* the process */                                                                       \
	X(70, FORK, "fork", "-", "child's pid", "-")                                            \
	X(71, EXEC, "exec", "-", "-", "-")                                                      \
	X(72, EXIT_PROCESS, "exit-process", "-", "status", "-")                                 \
	X(73, MODULE, "module", "-", "module number", "-")                                      \
	X(74, SIGNAL_BEGIN, "signal-handler", "-", "signal", "-")                               \
	X(75, SIGNAL_END, "signal-handler-end", "-", "signal", "-")                             \
	X(76, CANCEL, "cancel", "-", "thread's number", "-")                                    \
	/* what the program says of itself (atomsan/atomsan.h) */                               \
	X(80, UNIT_BEGIN, "unit-begin", "-", "-", "-")                                          \
	X(81, UNIT_END, "unit-end", "-", "-", "-")                                              \
	X(82, THREAD_NAME, "thread-name", "address of the name's metadata", "-", "-")           \
	/* what the runtime says, if asked to (rt/unmet.h) */                                   \
	X(83, UNMET, "unmet", "-", "events of the thread before it that no checker needs", "-") \
	X(84, TOUCHED, "touched", "granule", "thread's number", "its bytes, read and << 8 written")

enum trace_op {
#define X(number, name, text, object, value, other) TRACE_OP_##name = number,
	TRACE_OPS(X)
#undef X
};

/* The most bytes of a block whose allocation forgets what was done to its bytes before, and nothing else: see
 * "What is an event" in docs/schedule-format.md. */
enum { TRACE_SMALL_BLOCK = 512 };

enum trace_lock_flag {
	TRACE_LOCK_TRY = 1,       /* by a trylock */
	TRACE_LOCK_TIMED = 2,     /* by a form with a time-out */
	TRACE_LOCK_RECURSIVE = 4, /* the thread had it already */
	TRACE_LOCK_SPIN = 8,
	TRACE_LOCK_RW = 16,
	TRACE_LOCK_OWNERDEAD = 32, /* robust mutex taken over from a dead thread */
	TRACE_LOCK_C11 = 64,
};

enum trace_block_kind {
	TRACE_BLOCK_EVENTS = 1,
	TRACE_BLOCK_META = 2,
};

/* What a metadata block holds (its `owner`). A text longer than one block goes
 * on in the next one of the same kind, `sequence` counting from 0 per item. */
enum trace_meta {
	TRACE_META_ARGV = 1,    /* NUL-separated */
	TRACE_META_ENVIRON = 2, /* NUL-separated */
	TRACE_META_MODULE = 3,  /* struct trace_module and what follows it */
	TRACE_META_CWD = 4,     /* text */
	TRACE_META_OPTIONS = 5, /* text: ATOMSAN_OPTIONS as it took effect */
	TRACE_META_STD = 6,     /* names of an imported text trace, see docs/trace-format.md */
};

enum trace_block_flag {
	TRACE_BLOCK_ZSTD = 1,     /* the payload is one zstd frame of `payload` bytes */
	TRACE_BLOCK_WINDOW = 2,   /* a thread writes here through a mapping; see above */
	TRACE_BLOCK_FLUSHED = 4,  /* a window whose content stands elsewhere, or that nobody uses: skip it */
	TRACE_BLOCK_SQUEEZED = 8, /* `payload` bytes as in abi/squeeze.h; only events */
};

struct trace_block {
	uint32_t magic;
	uint16_t kind;
	uint16_t flags;
	uint32_t length;   /* of the block, a multiple of TRACE_PAGE, this header included */
	uint32_t payload;  /* bytes in use after the header; 0 in an event block: up to the first zero word */
	uint32_t owner;    /* thread number, or enum trace_meta */
	uint32_t sequence; /* per owner, from 0; several items of one metadata kind: see item */
	uint32_t item;     /* metadata: which item of its kind, from 0 */
	uint32_t unpacked; /* with TRACE_BLOCK_ZSTD or _SQUEEZED: payload bytes once unpacked */
};

/* Payload of TRACE_META_MODULE: this, then path, build-id, the sections
 * atomsan_sites, atomsan_fns, atomsan_str, atomsan_vars and atomsan_spec as they
 * lay in memory. */
struct trace_module {
	uint32_t number;
	uint32_t path_length;
	uint32_t build_id_length;
	uint32_t reserved;
	uint64_t load_bias;
	uint64_t first_site, sites_address, sites_length;
	uint64_t first_function, functions_address, functions_length;
	uint64_t strings_address, strings_length;
	uint64_t variables_address, variables_length;
	uint64_t spec_length;
};

enum trace_state {
	TRACE_RUNNING = 1,  /* or killed without a word */
	TRACE_FINISHED = 2, /* the process ended and said so; see exit_status */
	TRACE_STOPPED = 3,  /* recording was given up, see counters; the process went on */
};

enum trace_header_flag {
	TRACE_UNFILTERED = 1, /* filter=0: every access is there */
	TRACE_PACKED = 2,     /* some blocks are compressed */
	TRACE_IMPORTED = 4,   /* from text, not from the runtime */
};

/* Shown before anything else in every report: what was not seen. */
#define TRACE_COUNTERS(X)                                                                         \
	X(DROPPED, "dropped", "events dropped because the trace could not grow")                  \
	X(UNKNOWN_THREAD, "unknown-thread", "operations of threads that the runtime never met")   \
	X(DEEP, "deep", "function entries beyond the frames that a thread may have")              \
	X(NO_REGION, "no-region", "accesses to addresses that the shadow does not cover")         \
	X(SPIN, "spin", "repeated atomic loads of an unchanged location left out")                \
	X(ATOMIC_UNORDERED, "atomic-unordered", "atomic operations recorded without exclusion")   \
	X(ASM, "asm", "inline assembly blocks that were not looked into")                         \
	X(MODULES_REFUSED, "modules-refused", "modules compiled for another version")             \
	X(UNINSTRUMENTED, "uninstrumented", "loaded modules that were not compiled with atomsan") \
	X(UNSUPPORTED, "unsupported", "calls of primitives that the runtime does not model")

enum trace_counter {
#define X(name, text, help) TRACE_COUNT_##name,
	TRACE_COUNTERS(X)
#undef X
		TRACE_COUNTER_COUNT
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size; /* sizeof(struct trace_header) of the writer */
	uint32_t state;       /* enum trace_state */
	uint32_t flags;       /* enum trace_header_flag */
	uint64_t next_page;   /* pages handed out so far, header included */
	uint64_t next_stamp;
	uint64_t start_time_ns; /* since the epoch */
	uint64_t seed;
	uint32_t pid;
	uint32_t parent_pid;
	int32_t exit_status;  /* as in wait(2), once known */
	uint32_t threads;     /* thread numbers handed out */
	uint64_t regions[16]; /* upper address bits (44 and up) by address bits 40 to 43 */
	uint64_t counters[32];
};

_Static_assert(sizeof(struct trace_block) == 32, "layout on disk");
_Static_assert(sizeof(struct trace_module) == 112, "layout on disk");
_Static_assert(sizeof(struct trace_header) <= TRACE_PAGE, "layout on disk");
_Static_assert(TRACE_COUNTER_COUNT <= 32, "layout on disk");

#endif
