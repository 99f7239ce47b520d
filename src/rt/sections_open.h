/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sections that threads are in: what they are made of, for the files that enter them (sections_open.c) and
 * that look who came in between (sections.c). */
#ifndef ATOMSAN_RT_SECTIONS_OPEN_H
#define ATOMSAN_RT_SECTIONS_OPEN_H

#include "rt/sections.h"

#pragma GCC visibility push(hidden)

#define HOOKED ATOMSAN_KEEPS_REGISTERS

enum {
	MINE = 16, /* sections that one thread can be in at once */
	WINGS = 4, /* addresses of one section: the entry's, and for two variables those of ends */
	NOTES = 2, /* per address: the first read and the first write of others */
	BUCKETS = 1024,
	SHORT = 16,   /* bytes of what lies in buckets; longer ones are in a list of their own */
	GRANULES = 3, /* that so many bytes can touch */
	PENDING = 4,
};

struct node {
	struct node *next;
	struct wing *wing;
	uint32_t bucket;
};

struct wing {
	struct node nodes[GRANULES]; /* one for each granule */
	uint32_t node_count;
	struct open *open;
	uint64_t address, length;
	uint32_t end; /* as in struct section_link; of the entry's it is 0 */
	struct section_access notes[NOTES];
	uint32_t note_count;
};

struct open {
	uint64_t serial; /* changes with every section entered; 0: none */
	const struct section *section;
	struct atomsan_frame *frame; /* of the unit */
	struct atomsan_frame *exit;  /* leaving this one ends it */
	bool through;                /* the unit has none, and this is its caller's */
	bool late;                   /* the trace has yet to hear of frames that were left before */
	bool ended;                  /* an atomic operation decides */
	uint32_t depth;              /* times entered, if recursive */
	uint32_t busy;
	struct section_access entry;
	struct wing wings[WINGS];
	uint32_t wing_count;
};

struct block {
	struct block *next, *next_free;
	struct open opens[MINE];
};

extern struct bucket {
	struct node *first;
	uint32_t lock;
} sections_buckets[BUCKETS + 1]; /* the last one has what is long */

/* In all threads: while there is none, accesses have nothing to look for. */
extern uint32_t sections_open_total;

extern __thread struct sections_thread {
	struct block *block;
	uint64_t epoch;
	struct pending {
		struct wing *wing;
		uint64_t serial;
	} pending[PENDING]; /* notes of an atomic operation under way */
	uint32_t pending_count;
	uint32_t holding; /* a bucket's lock: a handler that comes now must not want one */
} sections_self __attribute__((tls_model("local-exec")));

/* Each that the calling thread is in. */
#define FOR_MINE(one)                                                              \
	for (struct open *one = sections_mine ? sections_self.block->opens : NULL; \
	     one && one < sections_self.block->opens + MINE; one++)                \
		if (one->serial)

static inline uint32_t sections_bucket(uint64_t granule)
{
	return (uint32_t)(granule * 0x9e3779b97f4a7c15ull >> 54);
}

/* A bucket's, or of a section's notes. */
void sections_lock(uint32_t *word) HOOKED;
void sections_unlock(uint32_t *word) HOOKED;
/* The innermost open call of the section's unit; NULL: there is none. `through`: of its caller's instead. */
struct atomsan_frame *sections_unit_frame(const struct section *section, bool *through) HOOKED;
/* What is about to happen, with the stack that it happens in. */
void sections_take(struct section_access *access, const void *p, uint64_t length, unsigned kinds,
		   const struct atomsan_site *site) HOOKED;
/* From here on nobody leaves notes there. */
void sections_close_wings(struct open *open) HOOKED;
/* Left without a verdict: this one, or all whose units are. */
void sections_forget(struct open *open) HOOKED;
void sections_forget_left(void) HOOKED;
/* Has the thread begun another outermost unit? */
void sections_look_at_epoch(void) HOOKED;
void sections_enter(const struct section *section, const void *p, uint64_t length,
		    const struct atomsan_site *site) HOOKED;

#pragma GCC visibility pop

#endif
