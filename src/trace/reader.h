/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace file, opened for reading. Nothing in the file is believed: every
 * length and reference is checked before use, and what does not hold becomes
 * one sentence, never a crash. A trace whose process was killed is no damage;
 * it is read up to the last complete event of each thread.
 *
 * The file is mapped and must not shrink meanwhile. A program that is being
 * recorded can be looked at, though a window that it uses again meanwhile may
 * show as damage. Opening costs one look at each block's header and none at the
 * events; see cursor.h for those.
 */
#ifndef ATOMSAN_TRACE_READER_H
#define ATOMSAN_TRACE_READER_H

#include "abi/hooks.h"
#include "abi/trace.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the file, or of a metadata item that was put together. */
struct trace_span {
	const char *data;
	uint64_t length;
};

/* One block of the file, its header checked. */
struct trace_extent {
	uint64_t offset;   /* of its header in the file */
	uint32_t payload;  /* bytes to look at, cut where the file ends */
	uint32_t unpacked; /* bytes once unpacked; 0: not packed */
	uint32_t owner;    /* thread number or enum trace_meta */
	uint32_t item;     /* metadata only */
	uint32_t sequence; /* per owner and item */
	bool squeezed;     /* unpacked as abi/squeeze.h says, not by zstd */
	bool meta;
	bool window; /* where its thread wrote; goes before a copy of the same number */
	bool cut;    /* the file ends inside the block */
};

struct trace_thread {
	uint32_t number;                  /* as the file has it */
	uint32_t children;                /* CREATE events met, for names */
	const struct trace_extent *first; /* its blocks, in order, no gap */
	uint32_t count;
	char *name;        /* T0, T1, T1.1; NULL until its CREATE was met */
	char fallback[16]; /* for a thread nobody seems to have created */
};

/* A module and its tables. Numbers of its sites are first_site .. first_site +
 * sites - 1, and functions likewise. */
struct trace_module_table {
	uint32_t number;
	char *path;
	const uint8_t *build_id;
	uint32_t build_id_length;
	uint64_t load_bias;
	uint64_t first_site, sites;
	uint64_t first_function, functions;
	/* Where the sections lay in memory, and their bytes. */
	uint64_t sites_address, functions_address, strings_address;
	const uint8_t *site_data, *function_data;
	const char *strings;
	uint64_t strings_length; /* up to and including the last NUL */
	uint64_t variables, variables_address;
	const uint8_t *variable_data;
	struct trace_span spec; /* what its annotations say, lines of the spec file language */
};

/* A program place with its strings; a string that is missing or that does not
 * lie in the module's strings is NULL. */
struct trace_site {
	const char *function, *file, *type, *member, *base;
	uint32_t line;
	uint16_t column, size;
	uint8_t kind;      /* enum atomsan_access */
	uint8_t order;     /* enum atomsan_order */
	uint8_t base_kind; /* enum atomsan_base */
	uint8_t flags;     /* enum atomsan_site_flag */
	uint8_t counts;    /* enum atomsan_counts */
	/* Of the member inside type, and of type; both 0 where type_size is not known. */
	uint32_t offset, type_size;
	const struct trace_module_table *module;
};

struct trace_function {
	const char *name, *linkage_name, *file, *receiver_type;
	const char *calls; /* lines: see struct atomsan_function */
	uint32_t line;
	uint16_t receiver; /* parameter number, or ATOMSAN_NO_RECEIVER */
	uint16_t asm_blocks;
	uint32_t flags; /* enum atomsan_function_flag */
	const struct trace_module_table *module;
};

/* A variable with static storage, where the loader put it. */
struct trace_variable {
	const char *name, *file, *type;
	uint64_t address, size;
	uint32_t element_size; /* of an array's element; of anything else its size */
	uint32_t line;
	uint32_t flags; /* enum atomsan_variable_flag */
	const struct trace_module_table *module;
};

/* Where a variable lies and which entry of which module tells of it. */
struct trace_variable_place {
	uint64_t address, size;
	uint32_t module; /* index */
	uint32_t entry;
};

/* Names of an imported text trace; see TRACE_META_STD in docs/trace-format.md. */
enum trace_std_item {
	TRACE_STD_THREADS,
	TRACE_STD_VARIABLES,
	TRACE_STD_LOCKS,
	TRACE_STD_UNITS,
	TRACE_STD_ITEMS
};

struct trace_names {
	const char **names;
	uint64_t count;
};

struct trace {
	char *path; /* for messages */
	const uint8_t *map;
	uint64_t size;
	bool mapped;                  /* map is ours to unmap */
	struct trace_header header;   /* as it was at opening */
	struct trace_extent *extents; /* metadata first, then events by thread and sequence */
	uint64_t extent_count;
	struct trace_thread *threads; /* ascending number; events carry the index */
	uint32_t thread_count;
	struct trace_module_table *modules; /* ascending first_site */
	uint32_t module_count;
	uint32_t *by_function;                  /* module indexes, ascending first_function */
	struct trace_variable_place *variables; /* of all modules, ascending address */
	uint64_t variable_count;
	struct trace_span argv, environ, cwd, options;
	struct trace_names std[TRACE_STD_ITEMS];
	char **notes; /* sentences: what is missing though the rest is sound */
	uint32_t note_count;
	void **owned; /* metadata that had to be put together */
	uint32_t owned_count;
};

/* NULL with err set when the file is no trace, is damaged or cannot be read. */
struct trace *trace_open(const char *path, struct err *err);
/* The same from memory, which must outlive the trace; path is for messages. */
struct trace *trace_open_memory(const void *data, size_t size, const char *path, struct err *err);
void trace_close(struct trace *trace);

/* True if the file begins like a trace, whatever else is wrong with it. */
bool trace_is_one(const void *data, size_t size);

/* -1 with err set if there is no such place. Strings live as long as the trace. */
int trace_site(const struct trace *trace, uint64_t number, struct trace_site *site, struct err *err);
int trace_function(const struct trace *trace, uint64_t number, struct trace_function *function,
		   struct err *err);

/* Of a function, enum atomsan_function_flag; 0 if there is none. */
uint32_t trace_function_flags(const struct trace *trace, uint64_t number);

/* The variable that has this byte; false if it belongs to none. */
bool trace_variable_at(const struct trace *trace, uint64_t address, struct trace_variable *variable);
/* The i-th of trace->variables. */
void trace_variable(const struct trace *trace, uint64_t i, struct trace_variable *variable);

/* The module that has this site or function, or NULL. */
const struct trace_module_table *trace_site_module(const struct trace *trace, uint64_t number);
const struct trace_module_table *trace_function_module(const struct trace *trace, uint64_t number);

/* Index of the thread with this number, or -1. */
int64_t trace_thread_index(const struct trace *trace, uint32_t number);
/* Its name as known so far; never NULL. */
const char *trace_thread_name(const struct trace *trace, uint32_t index);

/* The program's path: argv[0], or the file's own path if it is not known. */
const char *trace_program(const struct trace *trace);

/* Name that an imported trace gives to an address, or NULL. */
const char *trace_std_name(const struct trace *trace, enum trace_std_item item, uint64_t address);

/* Used by the files of this folder alone. */
void trace_note(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
int trace_meta_load(struct trace *trace, uint64_t extents, struct err *err);
int trace_module_add(struct trace *trace, struct trace_span item, struct err *err);
/* Also after more were added. */
int trace_modules_sort(struct trace *trace, struct err *err);
/* What an item of metadata says goes into the trace. */
int trace_meta_take(struct trace *trace, enum trace_meta kind, uint32_t item, struct trace_span span,
		    struct err *err);
/* Unpacks a block into `to`, which has room for extent->unpacked bytes. */
int trace_unpack(const struct trace *trace, const struct trace_extent *extent, void *to, struct err *err);

/* Addresses that the import of text gives out: the i-th name of an item lies at
 * its base + 8 * i. Item TRACE_STD_THREADS counts thread numbers instead. */
#define TRACE_STD_VARIABLE_BASE 0x1000ull
#define TRACE_STD_LOCK_BASE (1ull << 40)
#define TRACE_STD_UNIT_BASE (2ull << 40)

#endif
