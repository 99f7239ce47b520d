/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The contract between compiled code and the runtime: what the pass emits into
 * a program, and what the runtime promises in return. Everything here is
 * versioned by ATOMSAN_ABI_VERSION; a module that was compiled against another
 * version is refused by name when it registers, never silently misread.
 *
 * Three tables travel in every instrumented module:
 *
 *   section atomsan_sites   struct atomsan_site       an access, or a call that the runtime watches
 *   section atomsan_fns     struct atomsan_function   a function whose entry and exit are marked
 *   section atomsan_vars    struct atomsan_variable   a variable that the module defines
 *   section atomsan_str     NUL-terminated strings that the tables point into
 *   section atomsan_spec    what annotations say, lines of the spec file language
 *   section atomsan_bc      pristine bitcode, see struct atomsan_bitcode
 *
 * String fields are 32-bit distances from the field itself to the string (0:
 * none), so that a position-independent executable needs no start-up
 * relocations for them. The number of a site or function is its index in the
 * section, plus the module's first number, which the runtime hands out.
 */
#ifndef ATOMSAN_ABI_HOOKS_H
#define ATOMSAN_ABI_HOOKS_H

#include <stdint.h>

#define ATOMSAN_ABI_VERSION 8

/* What an access does. The values are part of the trace format. */
enum atomsan_access {
	ATOMSAN_READ = 0,
	ATOMSAN_WRITE = 1,
	ATOMSAN_ATOMIC_LOAD = 2,
	ATOMSAN_ATOMIC_STORE = 3,
	ATOMSAN_ATOMIC_RMW = 4, /* a compare-exchange that failed is recorded as a load */
	ATOMSAN_FENCE = 5,
	ATOMSAN_CALL = 6,   /* a call of a function that the runtime interposes */
	ATOMSAN_OBJECT = 7, /* a stack object whose address leaves its function */
	ATOMSAN_UPDATE = 8, /* a read and then a write of the same bytes, with nothing in between (x += 1) */
};

/* How the base object of an access is found, as far as the function shows. */
enum atomsan_base {
	ATOMSAN_BASE_UNKNOWN = 0,
	ATOMSAN_BASE_GLOBAL = 1,   /* base names the variable */
	ATOMSAN_BASE_RECEIVER = 2, /* through the function's receiver */
	ATOMSAN_BASE_PARAM = 3,    /* through another parameter; base names it */
	ATOMSAN_BASE_LOCAL = 4,    /* a local object; base names it */
	ATOMSAN_BASE_MEMBER = 5,   /* through a pointer loaded from a member; base is "type.member" */
	ATOMSAN_BASE_LOADED = 6,   /* through a pointer loaded from somewhere else */
	ATOMSAN_BASE_CALL = 7,     /* through a call's result; base names the callee */
};

/* What a plain write or update does to a number, of which nothing else is made but comparisons. Beside the
 * kind of base, in its upper half. */
enum atomsan_counts {
	ATOMSAN_COUNTS_UP = 1, /* adds one */
	ATOMSAN_COUNTS_DOWN = 2,
};
#define ATOMSAN_COUNTS_SHIFT 4
#define ATOMSAN_BASE_MASK 15

/* C11 memory orders; 0 for a plain access. */
enum atomsan_order {
	ATOMSAN_PLAIN = 0,
	ATOMSAN_RELAXED = 1,
	ATOMSAN_CONSUME = 2,
	ATOMSAN_ACQUIRE = 3,
	ATOMSAN_RELEASE = 4,
	ATOMSAN_ACQ_REL = 5,
	ATOMSAN_SEQ_CST = 6,
};

enum atomsan_site_flag {
	ATOMSAN_SITE_VOLATILE = 1,
	ATOMSAN_SITE_BITFIELD = 2,
	ATOMSAN_SITE_RANGE = 4,     /* size varies: the event carries the length */
	ATOMSAN_SITE_MEMBER = 8,    /* the source accesses a struct member here, named or not */
	ATOMSAN_SITE_ARRAY = 16,    /* an element of an array, perhaps inside a member */
	ATOMSAN_SITE_MAY_FAIL = 32, /* a compare-exchange, which writes only if it succeeds */
	ATOMSAN_SITE_GUARDS = 64,   /* load: what it yields decides where the function goes on */
	ATOMSAN_SITE_MOVED = 128,   /* a load in front of a loop that may do it, or may not */
};

struct atomsan_site {
	int32_t function; /* name as the source has it */
	int32_t file;
	int32_t type;   /* struct, class or union tag; none for plain scalars */
	int32_t member; /* path inside type, e.g. "limits.max" */
	int32_t base;
	uint32_t line;
	uint16_t column;
	uint16_t size;     /* bytes; 0 with ATOMSAN_SITE_RANGE */
	uint8_t kind;      /* enum atomsan_access */
	uint8_t order;     /* enum atomsan_order */
	uint8_t base_kind; /* enum atomsan_base, and enum atomsan_counts << ATOMSAN_COUNTS_SHIFT */
	uint8_t flags;
	/* Of the member inside type: the access's address less this is where the object
	 * begins. In an array it is the first element's. Only with type_size. */
	uint32_t offset;
	uint32_t type_size; /* of type; 0: not known, or no member of it is accessed */
};

enum atomsan_function_flag {
	ATOMSAN_FN_EXTERNAL = 1, /* external linkage */
	ATOMSAN_FN_PRIVATE = 2,  /* C++ private or protected member */
	ATOMSAN_FN_METHOD = 4,   /* C++ member function: the receiver is `this` */
	ATOMSAN_FN_VARARGS = 8,
	ATOMSAN_FN_ARTIFICIAL = 16, /* made by the compiler */
	ATOMSAN_FN_CTOR = 32,
	ATOMSAN_FN_DTOR = 64,
	ATOMSAN_FN_ACCESSOR = 128,   /* only reads, or only writes, a member or two of a parameter's object */
	ATOMSAN_FN_ARGUMENT = 1024,  /* no function: another parameter of one, of the receiver's type */
	ATOMSAN_FN_LOOP = 256,       /* no function: iterations of a loop in one, whose line this is */
	ATOMSAN_FN_WALK = 512,       /* a loop whose end and whose accesses depend on the same variable */
	ATOMSAN_FN_START = 2048,     /* given to pthread_create or thrd_create in its translation unit */
	ATOMSAN_FN_PASSES_ON = 4096, /* calls what its argument is or leads to, once */
	ATOMSAN_FN_DISPATCHES = 8192, /* a loop that calls through a pointer, or a std::function */
	ATOMSAN_FN_GIVEN =
		16384, /* called by who does not know it: its address is taken, or the C++ library calls it */
	ATOMSAN_FN_AGAIN = 32768, /* no function, as an argument is none: what is called in it in one is an
				     earlier search, made again */
	ATOMSAN_FN_PART = 65536,  /* on the object of the frame below it is a part of that: nothing begins or
				     ends  with it */
};

#define ATOMSAN_NO_RECEIVER 0xffff

struct atomsan_function {
	int32_t name;         /* as the source has it */
	int32_t linkage_name; /* as the linker has it; none where it equals name */
	int32_t file;
	int32_t receiver_type; /* tag of the struct that the receiver points to */
	uint32_t line;
	uint16_t receiver;   /* parameter number, or ATOMSAN_NO_RECEIVER */
	uint16_t flags;      /* enum atomsan_function_flag, as far as they go */
	uint16_t asm_blocks; /* inline assembly that was not looked into */
	uint16_t more_flags; /* from 65536 on */
	/* Lines. A struct's tag: it calls functions several times with a pointer to one, which it has from a
	 * member of the receiver. ATOMSAN_CALLS_WAIT and a function's linkage name: it calls this, and little
	 * else unless it is a loop, so it waits for a condition if this does. ATOMSAN_CALLS_WAIT alone: a
	 * loop that waits by looking at atomic data until others have changed it. */
	int32_t calls;
};
#define ATOMSAN_CALLS_WAIT '~'
#define ATOMSAN_CALLS_SPINS "~"

enum atomsan_variable_flag {
	ATOMSAN_VARIABLE_ATOMIC = 1, /* _Atomic, std::atomic */
	ATOMSAN_VARIABLE_VOLATILE = 2,
	ATOMSAN_VARIABLE_LOCK =
		4, /* mutex, read-write lock, spin lock, semaphore, barrier, condition, once */
	ATOMSAN_VARIABLE_STATIC = 8, /* internal linkage */
	ATOMSAN_VARIABLE_ARRAY = 16, /* size is a multiple of element_size */
};

/* A variable with static storage that is neither constant nor thread-local. The
 * same one may appear twice (weak definitions), and not at all if it is unused. */
struct atomsan_variable {
	uint64_t address; /* relocated by the loader */
	uint64_t size;
	int32_t name; /* as the source has it, without scopes */
	int32_t file; /* of the translation unit that defines it */
	int32_t type; /* tag, if it is a struct, class or union or an array of such */
	uint32_t line;
	uint32_t element_size; /* of an array's element; of anything else its size */
	uint32_t flags;        /* enum atomsan_variable_flag */
};

/* One per translation unit, followed by `length` bytes of bitcode; the next
 * one begins at the next multiple of 16. */
#define ATOMSAN_BITCODE_MAGIC "atomsan\001"
struct atomsan_bitcode {
	char magic[8];
	uint64_t length;
};

/*
 * The shadow of one aligned 8-byte granule is a 64-bit cell:
 *
 *   63         28 27    22 21  16 15     8 7      0
 *  | stamp       | thread | sub  | written | read |
 *   ------- segment -------------
 *
 * It says which bytes the thread that was here last has already recorded in
 * the segment that the upper bits name; `read` and `written` have one bit per
 * byte. So an access whose cell holds its thread's segment and its bytes adds
 * nothing to the trace: same thread, same segment, same bytes, same kind, and
 * nobody interfered. Whoever else comes takes the cell over.
 *
 * A segment ends at every synchronisation operation and allocation, and where
 * a marked function begins or ends. (With filter=2 only outermost ones count:
 * those called by main, by a thread's start function, or by nobody that is
 * marked.) So do iterations of marked loops (with filter=2 those of loops in main
 * and in the start function, and elsewhere those that synchronised), but not
 * where it is uncertain whether the loop synchronises and it did not so far. A
 * thread's segments only ever grow.
 */
#define ATOMSAN_SLOTS 4
#define ATOMSAN_SEGMENT_SHIFT 16
#define ATOMSAN_THREAD_SHIFT 22
#define ATOMSAN_STAMP_SHIFT 28
#define ATOMSAN_SEGMENT_MASK (~(uint64_t)0xffff)
#define ATOMSAN_SHARED 0x3f0000ull /* this sub: several threads only read here, see rt/shadow.h */
/* shadow_mask of a thread that is recorded, and whose accesses the filter looks at. */
#define ATOMSAN_SHADOW_MASK ((1ull << 44) - 8)
#define ATOMSAN_READ_BITS 0
#define ATOMSAN_WRITE_BITS 8

/* One open function. `low` and `top` of the thread tell which frames the trace
 * has not heard of yet; an entry is written only when something happens inside. */
struct atomsan_frame {
	const struct atomsan_function *function;
	const void *receiver;
};

/*
 * Per thread, read and written by inlined code. Initial-exec, so that it costs
 * one %fs-relative operand. The static initial value means "off": shadow_mask 0
 * leads every access to one cell that equals `segment`, so nothing is called.
 */
struct atomsan_thread {
	char *shadow_base;
	char *reader_base; /* the slot's cells of data that several threads only read (rt/shadow.h) */
	uint64_t shadow_mask;
	uint64_t segment; /* upper bits as in a cell, lower 16 all ones; `fresh` when none yet */
	uint64_t fresh;   /* what `segment` becomes at a boundary */
	struct atomsan_frame *top;
	struct atomsan_frame *low; /* lowest top since the trace last heard of the stack */
	struct atomsan_frame *limit;
	struct atomsan_frame *shallow; /* entering a frame below this one begins a segment */
	const struct atomsan_site *at; /* the watched call under way, for interposers */
	const void *
		scheduled; /* not NULL: the write of an update is told of, too (rt/scheduler.h, rt/watch.h) */
	/* Synchronisation and allocation so far. An iteration of a loop that has none goes on in the frame of
	 * the one before, unless `apart` is set: nothing is recorded, so nothing is counted. */
	uint64_t operations;
	uint64_t apart;
};

/* The runtime is part of the executable and needs no detour to it. */
#ifdef ATOMSAN_RUNTIME
#define ATOMSAN_TLS_MODEL "local-exec"
#else
#define ATOMSAN_TLS_MODEL "initial-exec"
#endif
extern __thread struct atomsan_thread __atomsan_thread __attribute__((tls_model(ATOMSAN_TLS_MODEL)));

/*
 * Called when the inlined comparison fails. They keep every register but the
 * scratch one, vectors included, so that a loop around them stays tight.
 */
#if defined(__clang__)
#define ATOMSAN_KEEPS_REGISTERS __attribute__((preserve_all))
#else
#define ATOMSAN_KEEPS_REGISTERS
#endif

#define ATOMSAN_HOOK void ATOMSAN_KEEPS_REGISTERS

/*
 * Those of accesses inside one granule are called most, and get what was compared: what
 * is in the cell, the thread's segment, where the cell is, and the bits of it that the access needs.
 * They return nothing, in two registers that they need not keep therefore. Objects of version 7 call others,
 * by other names, that get the first two arguments and keep all registers (rt/access.c): who links old
 * objects and new ones gets what each was promised.
 */
struct atomsan_scratch {
	uint64_t registers[2];
};
#define ATOMSAN_ACCESS_HOOK(name)                                                                  \
	struct atomsan_scratch name(const void *p, const struct atomsan_site *site, uint64_t cell, \
				    uint64_t segment, uint64_t *at, uint64_t bits) ATOMSAN_KEEPS_REGISTERS
ATOMSAN_ACCESS_HOOK(__atomsan_news_read1);
ATOMSAN_ACCESS_HOOK(__atomsan_news_read2);
ATOMSAN_ACCESS_HOOK(__atomsan_news_read4);
ATOMSAN_ACCESS_HOOK(__atomsan_news_read8);
ATOMSAN_ACCESS_HOOK(__atomsan_news_write1);
ATOMSAN_ACCESS_HOOK(__atomsan_news_write2);
ATOMSAN_ACCESS_HOOK(__atomsan_news_write4);
ATOMSAN_ACCESS_HOOK(__atomsan_news_write8);
ATOMSAN_ACCESS_HOOK(__atomsan_news_update1);
ATOMSAN_ACCESS_HOOK(__atomsan_news_update2);
ATOMSAN_ACCESS_HOOK(__atomsan_news_update4);
ATOMSAN_ACCESS_HOOK(__atomsan_news_update8);

ATOMSAN_HOOK __atomsan_read16(const void *p, const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_write16(const void *p, const struct atomsan_site *site);

/* A read that the filter knows, behind one of the same place that it did not (pass/reread.h). */
ATOMSAN_HOOK __atomsan_read_again(const void *p, const struct atomsan_site *site);

/* Before the write of an update, where threads are scheduled or held up: another may run in between. */
ATOMSAN_HOOK __atomsan_store(const void *p);

/* Any length, any alignment. */
ATOMSAN_HOOK __atomsan_read_range(const void *p, uint64_t length, const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_write_range(const void *p, uint64_t length, const struct atomsan_site *site);

/* Structs that are copied, of two to eight granules. They get the segment and where the first cell is, and
 * keep all but two registers, as those of accesses inside one granule. */
#define ATOMSAN_STRUCT_HOOK(name)                                                                    \
	struct atomsan_scratch name(const void *p, uint64_t length, const struct atomsan_site *site, \
				    uint64_t segment, uint64_t *at) ATOMSAN_KEEPS_REGISTERS
ATOMSAN_STRUCT_HOOK(__atomsan_read_struct);
ATOMSAN_STRUCT_HOOK(__atomsan_write_struct);

/* A loop ends that went through these bytes, in steps of the site's size, and told of none of them. */
ATOMSAN_HOOK __atomsan_read_steps(const void *p, uint64_t length, const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_write_steps(const void *p, uint64_t length, const struct atomsan_site *site);

/*
 * What a loop is to tell of the accesses that it does in steps, and has not told
 * yet: steps with gaps between them, or with other accesses in between, before which they are told.
 */
enum { ATOMSAN_TOLD = 8 };
struct atomsan_told {
	uint64_t count; /* 0: each was told where it was */
	struct atomsan_told_access {
		const char *next, *past; /* the first that is to be told, and behind the last */
		uint64_t stride;
		const struct atomsan_site *site;
	} accesses[ATOMSAN_TOLD];
};
ATOMSAN_HOOK __atomsan_tell(struct atomsan_told *told);

/* Lane i of a masked access lies at p + i * lane_size, if bit i of lanes is set. */
ATOMSAN_HOOK __atomsan_read_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
				  const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_write_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
				   const struct atomsan_site *site);

/* Around an atomic operation: between the two nobody else's atomic operation on
 * the location goes through, until the operation has its place in the order.
 * `wrote` is 0 for a load and for a compare-exchange that failed. */
ATOMSAN_HOOK __atomsan_atomic_begin(const void *p, const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_atomic_end(const void *p, uint64_t wrote, const struct atomsan_site *site);
ATOMSAN_HOOK __atomsan_fence(const struct atomsan_site *site);

/* A stack object whose address leaves its function begins to live; it ends with the frame. */
ATOMSAN_HOOK __atomsan_object(const void *p, uint64_t length, const struct atomsan_site *site);

/* What atomsan/atomsan.h calls. */
void __atomsan_unit_begin(void);
void __atomsan_unit_end(void);

/* Registered by a constructor in every module (executable or shared object)
 * that was linked with instrumented code; unregistered by its destructor. */
struct atomsan_module {
	uint32_t abi_version;
	uint32_t flags;
	const struct atomsan_site *sites_begin, *sites_end;
	const struct atomsan_function *functions_begin, *functions_end;
	const char *strings_begin, *strings_end;
	const struct atomsan_variable *variables_begin, *variables_end;
	const char *spec_begin, *spec_end;
	struct atomsan_module *next; /* the runtime's */
	uint64_t first_site;         /* the runtime's */
	uint64_t first_function;     /* the runtime's */
};
void __atomsan_module_register(struct atomsan_module *module);
void __atomsan_module_unregister(struct atomsan_module *module);

_Static_assert(sizeof(struct atomsan_site) == 40, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_function) == 32, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_variable) == 40, "the pass writes this layout");
_Static_assert(sizeof(struct atomsan_bitcode) == 16, "the pass writes this layout");

#endif
