/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The atomicity repository: which code over which variable must not be broken
 * by others, in a text file that lies beside the program and travels with it
 * (docs/atomicity-format.md). Runtime, pass and tools read it with what is
 * declared here, so this allocates nothing, calls nothing and keeps nothing:
 * whoever reads has the whole file in memory, and words are slices of it.
 *
 * A place in the file is matched with the sites of a program, and with those of
 * another build of it, too: see atomicity_match().
 */
#ifndef ATOMSAN_ATOMICITY_ATOMICITY_H
#define ATOMSAN_ATOMICITY_ATOMICITY_H

#include "abi/hooks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATOMICITY_VERSION = 1 };

/* A word of the file. In a quoted one a backslash stands before what would mean something else. */
struct atomicity_word {
	const char *at;
	uint32_t length;
	bool quoted;
};

/* Files are compared by this: where a program was built does not matter. */
static inline const char *atomicity_last_part(const char *path)
{
	const char *last = path;

	for (; *path; path++)
		if (*path == '/')
			last = path + 1;
	return last;
}

bool atomicity_word_is(struct atomicity_word word, const char *text);
/* The word without its escapes, cut off where the room ends; returns the length of the whole. */
uint32_t atomicity_word_copy(struct atomicity_word word, char *to, uint32_t room);

/* Kinds of accesses, or'ed. */
enum atomicity_kind { ATOMICITY_READ = 1, ATOMICITY_WRITE = 2 };

struct atomicity_place {
	unsigned kind; /* one of them */
	struct atomicity_word variable, function, file;
	uint32_t line, column; /* column 0: whichever */
	/* The ordinal-th of count places in the function with this variable and kind, by line and column;
	 * 0: not known. */
	uint32_t ordinal, count;
};

struct atomicity_end {
	struct atomicity_place place;
	unsigned allow; /* kinds that others may do between the entry and this end */
};

enum atomicity_origin {
	ATOMICITY_SPEC,
	ATOMICITY_ANNOTATION,
	ATOMICITY_FINDING,
	ATOMICITY_LINT,
	ATOMICITY_LEARNED,
};

/* from spec WHERE | from annotation | from finding ID STATE | from lint PATTERN CONFIDENCE |
 * from learned RUNS runs TIMES times [guarded] */
struct atomicity_from {
	enum atomicity_origin origin;
	struct atomicity_word what;  /* where, which finding, which pattern */
	struct atomicity_word state; /* of a finding */
	uint32_t confidence;         /* of lint, per mille */
	uint64_t runs, times;        /* learned */
	bool guarded;                /* learned: each time the program itself kept others out */
};

enum atomicity_heal {
	ATOMICITY_HEAL_DEFAULT,
	ATOMICITY_HEAL_LOCK,
	ATOMICITY_HEAL_SCHEDULE,
	ATOMICITY_HEAL_OFF
};

enum { ATOMICITY_ENDS = 64, ATOMICITY_FROMS = 16 };

struct atomicity_section {
	struct atomicity_word id, variable;
	struct atomicity_place entry;
	struct atomicity_end ends[ATOMICITY_ENDS];
	uint32_t end_count;
	struct atomicity_word unit, unit_file; /* of length 0: the entry's function */
	bool any;         /* ends may lie on another address than the entry: instance any */
	bool circular;    /* entry and end are one place: it ends when it is reached again */
	bool recursive;   /* entered again it must be left again */
	bool consecutive; /* any other access of the thread to the variable ends it without a verdict */
	struct atomicity_from from[ATOMICITY_FROMS];
	uint32_t from_count;
	enum atomicity_heal heal;
};

/* What atomicity_next() has found. */
enum atomicity_item {
	ATOMICITY_SECTION,
	ATOMICITY_BROKEN, /* a pair that was seen interleaved in a run that passed */
	ATOMICITY_ORDER,  /* of two locks */
};

struct atomicity_reader {
	const char *next, *end;
	uint32_t line; /* of the sentence, or of the first line of the item */
	uint32_t line_after;
	/* Known from the first item on; of length 0 where the file does not say. */
	struct atomicity_word program, build;
	enum atomicity_item item;
	struct atomicity_section section; /* ATOMICITY_SECTION */
	struct atomicity_place broken[2]; /* ATOMICITY_BROKEN: first and last */
	struct atomicity_word order[2];   /* ATOMICITY_ORDER: the second is taken while the first is held */
	const char *sentence;             /* what is wrong with line `line`, without a full stop */
	bool started;
};

/* The text must stay where it is for as long as words of it are looked at. It need not end with a NUL. */
void atomicity_begin(struct atomicity_reader *reader, const char *text, size_t length);
/* 1: there is an item; 0: the file ends; -1: it is damaged at `line`, and `sentence` says how. */
int atomicity_next(struct atomicity_reader *reader);

/* What others may do between two accesses, so that it is as if they had come before or after both. */
unsigned atomicity_serializable(unsigned first, unsigned last);

/* ---- places and sites ---- */

/* Kinds that accesses at this site have; 0 for what is no access. */
unsigned atomicity_site_kinds(const struct atomsan_site *site);
/*
 * Is the variable of the site called this? "type.member", or the name of the
 * variable where the source says it. 1 yes, 0 no, -1 where the site does not
 * know what it accesses (through a plain pointer): then the address decides.
 */
int atomicity_site_variable(const struct atomsan_site *site, struct atomicity_word variable);
/* Is it a site of this function, in a file with the same last component? */
bool atomicity_site_function(const struct atomsan_site *site, struct atomicity_word function,
			     struct atomicity_word file);
/* The same of an entry in the table of functions; loops and second parameters are none. */
bool atomicity_function_is(const struct atomsan_function *entry, struct atomicity_word function,
			   struct atomicity_word file);
/* Do file, function, variable, kind, line and column agree? */
bool atomicity_place_is(const struct atomicity_place *place, const struct atomsan_site *site);

/*
 * The sites of one module. An index makes looking up as fast as a function has
 * sites; its memory is the caller's, zeroed, atomicity_index_room() words, and
 * without it (NULL) all sites are looked at each time.
 */
struct atomicity_table {
	const struct atomsan_site *sites;
	uint64_t count;
	uint32_t *index;
};
uint64_t atomicity_index_room(uint64_t count);
void atomicity_index(struct atomicity_table *table, uint32_t *memory);

/* Fills the place's ordinal and count. */
void atomicity_number(struct atomicity_place *place, const struct atomicity_table *table);
/*
 * The line and column at which the place lies in the program with this table:
 * its own in the build that the place was taken from. In another one the
 * ordinal says so, if the function still has as many such places; else line
 * and column have to agree. False: the program has no such place.
 */
bool atomicity_match(const struct atomicity_place *place, const struct atomicity_table *table,
		     bool same_build, uint32_t *line, uint32_t *column);
/* Is this site at the place, whose line and column atomicity_match() has found? */
bool atomicity_place_at(const struct atomicity_place *place, uint32_t line, uint32_t column,
			const struct atomsan_site *site);
/* The sites there, one after the other: 0 first, then what was returned; 0 when there are no more. */
uint64_t atomicity_next_site(const struct atomicity_place *place, uint32_t line, uint32_t column,
			     const struct atomicity_table *table, uint64_t before);

#endif
