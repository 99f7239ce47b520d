/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The atomicity repository as the tools change it: read whole, added to from
 * any source, written back whole. What the file means is said in
 * atomicity/atomicity.h; words are plain strings here.
 *
 * Adding never makes a section twice: a section is known by its id, which is
 * made of what survives recompilation and moved lines, and what is added to one
 * that is there already is only where it came from.
 */
#ifndef ATOMSAN_REPOSITORY_REPOSITORY_H
#define ATOMSAN_REPOSITORY_REPOSITORY_H

#include "atomicity/atomicity.h"
#include "base/err.h"
#include "base/map.h"

#include <stdio.h>

struct repository_place {
	unsigned kind; /* ATOMICITY_READ or ATOMICITY_WRITE */
	const char *variable, *function, *file;
	uint32_t line, column;
	uint32_t ordinal, count; /* 0: not known */
};

struct repository_end {
	struct repository_place place;
	unsigned allow;
};

struct repository_from {
	enum atomicity_origin origin;
	const char *what, *state; /* NULL where the origin has none */
	uint32_t confidence;
	uint64_t runs, times;
	bool guarded;
};

struct repository_section {
	char id[20];
	const char *variable;
	struct repository_place entry;
	struct repository_end *ends;
	uint32_t end_count;
	const char *unit, *unit_file; /* NULL: the entry's function */
	bool any, circular, recursive, consecutive;
	struct repository_from *from;
	uint32_t from_count;
	enum atomicity_heal heal;
};

struct repository {
	const char *program, *build; /* NULL: the file does not say */
	struct repository_section *sections;
	uint32_t section_count;
	struct repository_place (*broken)[2];
	uint32_t broken_count;
	const char *(*orders)[2];
	uint32_t order_count;
	struct map ids;        /* to number of section + 1 */
	struct map broken_ids; /* to number of pair + 1 */
	struct repository_memory *memory;
};

/* Zeroed memory is an empty repository. */
void repository_release(struct repository *repository);

/* A copy that lives as long as the repository; NULL stays NULL. */
const char *repository_text(struct repository *repository, const char *text);

/* Into an empty one. A file that is not there leaves it empty. -1 with err set: FILE:LINE and a sentence. */
int repository_read(struct repository *repository, const char *path, struct err *err);
/* As above, from memory; `path` is for the sentence. */
int repository_parse(struct repository *repository, const char *text, size_t length, const char *path,
		     struct err *err);
/* The file is there whole or, when that fails, as it was before. */
int repository_write(const struct repository *repository, const char *path, struct err *err);
void repository_print(const struct repository *repository, FILE *out);

/*
 * Copies the section in. If there is one with its id, what the sources say is
 * joined: each says a thing once, learned runs and times add up. Returns the
 * one in the repository, good until the next is added.
 */
struct repository_section *repository_add(struct repository *repository,
					  const struct repository_section *section);
/* Fills the id. */
void repository_identify(struct repository_section *section);
/* NULL if there is none. */
struct repository_section *repository_find(const struct repository *repository, const char *id);
void repository_add_order(struct repository *repository, const char *held, const char *taken);

/* What this origin says is taken back; sections that nobody else speaks of go. */
void repository_forget(struct repository *repository, enum atomicity_origin origin);

/* A pair that was seen interleaved in a run that passed: what was only learned about it is forgotten. */
void repository_add_broken(struct repository *repository, const struct repository_place *first,
			   const struct repository_place *last);
bool repository_is_broken(const struct repository *repository, const struct repository_place *first,
			  const struct repository_place *last);

/*
 * Give the places of a new section their numbers in the program with these
 * sites, and the section its id. Ends that the program does not have are taken
 * out; NULL, or the place for whose lack nothing is left.
 */
const struct repository_place *repository_settle_section(struct repository_section *section,
							 const struct atomicity_table *table);
/*
 * Give all places their numbers in the program with these sites, whose build-id
 * is `build`. Taken from another build, sections move to where their places
 * are now; those that have none left are taken out, and `lost` (may be NULL) is
 * called with each. Returns how many are left.
 */
uint32_t repository_settle(struct repository *repository, const struct atomicity_table *table,
			   const char *build,
			   void (*lost)(const struct repository_section *section,
					const struct repository_place *place, void *arg),
			   void *arg);

#endif
