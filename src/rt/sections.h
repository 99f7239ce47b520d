/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic sections of the repository, watched while the program runs (AtomRace,
 * section 3.2 and figure 3): when a thread comes to an end of a section that it
 * has entered, nobody else may have done to the variable in between what the
 * end does not allow.
 *
 *   sections_table.c   the repository, matched with the program's sites
 *   sections_open.c    who is inside which section
 *   sections.c         who came in between
 *   sections_report.c  what is said about it
 *
 * A section that is left any other way (its unit returns, an exception or
 * longjmp leaves it, the memory is freed, the thread waits for a condition or
 * ends) is forgotten without a verdict: the paper's atomExit.
 */
#ifndef ATOMSAN_RT_SECTIONS_H
#define ATOMSAN_RT_SECTIONS_H

#include "atomicity/atomicity.h"
#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* ---- for watch.c ---- */

bool sections_start(void); /* true: there is something to watch */
void sections_thread_end(void);
void sections_finish(void);
void sections_fork_child(void);
/* Before an access; of an update before its read, and with the write alone before that. */
void sections_access(const void *p, uint64_t length, unsigned kinds,
		     const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void sections_atomic(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void sections_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
void sections_op(enum trace_op op, const void *object) ATOMSAN_KEEPS_REGISTERS;
/* Frames were left that the trace is about to hear of (event.c). */
void sections_frames(void) ATOMSAN_KEEPS_REGISTERS;
/* A module was loaded later. */
void sections_module(const struct atomsan_site *sites, uint64_t count, uint64_t first_number,
		     const struct atomsan_function *functions, uint64_t function_count);

/* ---- the table ---- */

enum { SECTIONS_UNITS = 8, SECTIONS_MOST = 16384 };

struct section_end {
	unsigned allow, kind;
	struct atomicity_word variable;  /* for a section over two */
	const struct atomsan_site *site; /* one of its sites, for where the variable lies in its object */
};

struct section {
	struct atomicity_word id, variable, unit, unit_file;
	unsigned kind; /* of the entry */
	bool any, circular, recursive, consecutive;
	bool given_unit; /* somebody said which function it is */
	bool dominated;  /* no end is reached without the entry before it in the same call */
	struct section_end *ends;
	uint32_t end_count;
	struct atomicity_from from;
	uint32_t from_count;
	uint32_t entry_sites, end_sites; /* of the program */
	const struct atomsan_function *units[SECTIONS_UNITS];
	uint32_t unit_count;
};

/* What a site means to a section. */
struct section_link {
	uint32_t next; /* of the same site; 0: none */
	uint32_t section;
	uint32_t end; /* 0: its entry; else number of the end + 1 */
};

extern struct section *sections_all;
extern uint32_t sections_count;
extern bool sections_over_two;   /* there are sections over two variables */
extern uint32_t *sections_first; /* by number of site: the first link, or 0 */
extern uint64_t sections_sites;  /* how many numbers there are */
extern struct section_link *sections_links;

bool sections_load(const char *path);

static inline uint32_t sections_link(const struct atomsan_site *site)
{
	uint64_t number = rt_module_site(site);

	return likely(number < sections_sites) ? sections_first[number] : 0;
}

/* ---- who is inside ---- */

extern __thread uint32_t sections_mine __attribute__((tls_model("local-exec")));

/* Is the calling thread inside a section? */
static inline bool sections_inside(void)
{
	return sections_mine != 0;
}

/* Nobody is inside a section that this access could have to do with, and it begins none. Without calls to
 * anybody, and so without the cost of keeping registers. */
bool sections_idle(const void *p, uint64_t length, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;

/* ---- what happened ---- */

enum { SECTIONS_STACK = 12, SECTIONS_NAME = 24 };

struct section_access {
	const struct atomsan_site *site;
	uint64_t address, length;
	uint32_t thread;
	char name[SECTIONS_NAME]; /* of the thread */
	unsigned kinds;
	uint64_t value; /* in memory right before it */
	uint64_t epoch; /* of the thread's outermost unit */
	const struct atomsan_function *frames[SECTIONS_STACK];
	uint32_t depth;
};

/* The section was broken: entry, what others did in between (the second of them for a section over two
 * variables alone), and the end. */
void sections_report(const struct section *section, const struct section_end *end,
		     const struct section_access *entry, const struct section_access *const *others,
		     uint32_t count, const struct section_access *last) ATOMSAN_KEEPS_REGISTERS;

#pragma GCC visibility pop

#endif
