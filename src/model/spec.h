/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The user's word: what spec files and annotations say of functions, structs
 * and variables, in the language of atomsan-spec(5). It always outweighs what is
 * inferred.
 *
 * Of two statements that both fit, one from a file outweighs an annotation, a
 * later file an earlier one; within a file one without wildcards outweighs one
 * with them, a longer member path a shorter one, and else the later line wins.
 * Statements that contradict each other outright are refused.
 *
 * Queries look through all statements of a kind: callers ask once per site,
 * function or variable and keep the answer.
 */
#ifndef ATOMSAN_MODEL_SPEC_H
#define ATOMSAN_MODEL_SPEC_H

#include "base/err.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stddef.h>

struct spec;

struct spec *spec_new(void);
void spec_free(struct spec *spec); /* also of NULL */

/* -1 with err set ("FILE:LINE: ...") at the first bad line; the spec is of no use then. */
int spec_add_file(struct spec *spec, const char *path, struct err *err);
/* Annotations: all outweighed by files. `name` is for messages, unless a line
 * '#line NUMBER FILE' says where the next ones come from. */
int spec_add_text(struct spec *spec, const char *name, const char *text, size_t length, struct err *err);
/* The annotations of all modules of a trace. */
int spec_add_trace(struct spec *spec, const struct trace *trace, struct err *err);

/*
 * Is everything there that files name without wildcards? The program's tables tell of what its code
 * accesses and calls. What they do not tell of may have been optimised away, or never be used: that is no
 * mistake, but the statement has no effect. So two things are said about a name that is in no table: an
 * error, where the program does not even have the words that the name is made of, and a warning elsewhere.
 * Statements that begin with ignore are not asked about: what was ignored when compiling is in no table.
 */
enum spec_name { SPEC_FUNCTION, SPEC_TYPE, SPEC_MEMBER, SPEC_VARIABLE, SPEC_NAMES };
struct spec_names *spec_names_new(void);
void spec_names_free(struct spec_names *names);
/* Functions: the source's name or the linker's. NULL is no name. */
void spec_names_add(struct spec_names *names, enum spec_name what, const char *name);
void spec_names_add_member(struct spec_names *names, const char *type, const char *member);
void spec_names_add_variable(struct spec_names *names, const char *file, const char *name);
void spec_names_add_trace(struct spec_names *names, const struct trace *trace);

struct spec_doubts {
	void *user;
	/* May the word be one of the program's? It is made of letters, digits and underscores. */
	bool (*mentions)(void *user, const char *word);
	void (*warn)(void *user, const char *sentence);
	bool calls; /* functions that the program only calls are among the names, too */
};
int spec_check_names(const struct spec *spec, const struct spec_names *names,
		     const struct spec_doubts *doubts, struct err *err);

enum spec_word {
	SPEC_UNIT = 1,
	SPEC_NOT_UNIT = 2,
	SPEC_WAIT = 4,
	SPEC_IGNORE = 8,
	SPEC_UNITFOR = 16, /* for some type: ask spec_unitfor */
};
/* linkage_name and file may be NULL. */
unsigned spec_function(const struct spec *spec, const char *name, const char *linkage_name, const char *file);
bool spec_unitfor(const struct spec *spec, const char *name, const char *linkage_name, const char *type);

/* What a function does to threads and locks, for who cannot see it run. Parameters count from 1; 0: none. */
enum spec_role_kind { SPEC_ROLE_NONE, SPEC_ROLE_LOCK, SPEC_ROLE_UNLOCK, SPEC_ROLE_THREAD };
struct spec_role {
	enum spec_role_kind kind;
	unsigned what;     /* the parameter that is the lock, or the function that the thread begins with */
	unsigned argument; /* that this function gets */
};
struct spec_role spec_role(const struct spec *spec, const char *name, const char *linkage_name);

/* The atomic set that a member or variable was put into, or NULL. */
const char *spec_member_set(const struct spec *spec, const char *type, const char *member);
const char *spec_variable_set(const struct spec *spec, const char *name, const char *file);
/* The one set that all instances of the type, or the variable, belong to, or NULL. */
const char *spec_type_merge(const struct spec *spec, const char *type);
bool spec_merges_variables(const struct spec *spec); /* any at all? */
const char *spec_variable_merge(const struct spec *spec, const char *name, const char *file);

/* 1: what the pointer leads to belongs to the object that has it; -1: it does not; 0: nobody says. */
int spec_owned(const struct spec *spec, const char *type, const char *member);

/* Has each instance a lock of its own? */
bool spec_guarded(const struct spec *spec, const char *type);

bool spec_ignored_member(const struct spec *spec, const char *type, const char *member);
bool spec_ignored_type(const struct spec *spec, const char *type);
bool spec_ignored_variable(const struct spec *spec, const char *name, const char *file);
bool spec_ignored_file(const struct spec *spec, const char *file);

/* Do the accesses that stand there only reach data of one thread? Names are compared as they are. */
bool spec_private(const struct spec *spec, const char *file, unsigned line, unsigned column,
		  const char *function);

/* An atomic section, said by hand. */
struct spec_section {
	char *variable;
	char *entry, **ends; /* FILE:LINE */
	unsigned *allow;     /* of each end: kinds that others may do, enum atomicity_kind; ~0: what is
				serializable */
	uint32_t end_count;
	char *unit; /* function; NULL: the entry's */
	const char *where;
	unsigned line;
};
const struct spec_section *spec_sections(const struct spec *spec, uint32_t *count);

#endif
