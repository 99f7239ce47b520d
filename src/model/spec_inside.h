/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Statements as they are kept; for the files spec*.c alone. */
#ifndef ATOMSAN_MODEL_SPEC_INSIDE_H
#define ATOMSAN_MODEL_SPEC_INSIDE_H

#include "base/map.h"
#include "model/spec.h"

/* What a statement is about, and with that which of the fields it has. */
enum statement_kind {
	STATEMENT_UNIT,            /* function; says: is one, or is none */
	STATEMENT_WAIT,            /* function */
	STATEMENT_UNITFOR,         /* function, type */
	STATEMENT_SET_MEMBER,      /* type, member, set */
	STATEMENT_SET_VARIABLE,    /* variable, file, set */
	STATEMENT_OWNED,           /* type, member; says */
	STATEMENT_MERGE_TYPE,      /* type, set */
	STATEMENT_MERGE_VARIABLE,  /* variable, file, set */
	STATEMENT_GUARDED,         /* type */
	STATEMENT_IGNORE_FUNCTION, /* function */
	STATEMENT_IGNORE_FILE,     /* file */
	STATEMENT_IGNORE_TYPE,     /* type */
	STATEMENT_IGNORE_MEMBER,   /* type, member */
	STATEMENT_IGNORE_VARIABLE, /* variable, file */
	STATEMENT_ROLE,            /* function, role */
	STATEMENT_KINDS
};

struct statement {
	char *function, *type, *member, *variable, *file, *set; /* patterns, but the set; NULL: none */
	bool says;                                              /* false: the opposite (notunit, notowned) */
	bool literal;                                           /* no wildcards */
	unsigned source;                                        /* larger outweighs smaller */
	const char *where;                                      /* file, owned by the spec */
	unsigned line;
	struct spec_role role;
};

struct statements {
	struct statement *items;
	size_t count;
};

/* A place that only accesses data of one thread; there may be very many, so they are looked up by hash. */
struct private_place {
	char *file, *function;
	unsigned line, column;
};

struct spec {
	struct statements kinds[STATEMENT_KINDS];
	unsigned files; /* sources: 0 is annotations, then each file its own */
	char **texts;   /* names of places */
	size_t text_count;
	struct private_place *places;
	uint32_t place_count, place_room;
	struct map place_numbers; /* from 1, by hash, or the next free key */
	struct spec_section *sections;
	uint32_t section_count;
};

void spec_add_private(struct spec *spec, const char *file, unsigned line, unsigned column,
		      const char *function);
void spec_release_private(struct spec *spec);
/* The words of a line that begins with `section`; NULL, or what is wrong with them. */
const char *spec_add_section(struct spec *spec, char **words, int count, const char *where, unsigned line);
void spec_release_sections(struct spec *spec);

void spec_release_statement(struct statement *statement);
/* Takes over the statement's strings, also when it fails: two that contradict each other. */
int spec_add_statement(struct spec *spec, enum statement_kind kind, struct statement statement,
		       struct err *err);
/* A copy that lives as long as the spec. */
const char *spec_keep(struct spec *spec, const char *text);
bool spec_has_wildcard(const char *pattern);
/* A source's name, a linker's name, or with scopes (bank::account::add) what a linker's name says. */
bool spec_fits_function(const char *pattern, const char *name);
/* A member's name stands for all that lies in it: "limits" is "limits.max", too. */
bool spec_fits_member(const char *pattern, const char *member);
/* "bank.c" is any bank.c, whatever folder it lies in. */
bool spec_fits_file(const char *pattern, const char *file);

#endif
