/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names in spec files that the program does not have are mistakes, most of them of spelling; see spec.h for
 * what is certain.
 */
#include "model/spec_inside.h"
#include "trace/nametable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 256 };

/* How many letters must be changed, added or left out to get from one to the other. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[LONGEST + 1], length = (unsigned)strlen(b);

	if (length > LONGEST || strlen(a) > LONGEST)
		return LONGEST;
	for (unsigned i = 0; i <= length; i++)
		row[i] = i;
	for (unsigned n = 1; *a; a++, n++) {
		unsigned diagonal = row[0];

		row[0] = n;
		for (unsigned i = 1; i <= length; i++) {
			unsigned best = diagonal + (*a != b[i - 1]);

			diagonal = row[i];
			if (row[i] + 1 < best)
				best = row[i] + 1;
			if (row[i - 1] + 1 < best)
				best = row[i - 1] + 1;
			row[i] = best;
		}
	}
	return row[length];
}

/* ---- the program's ---- */

struct spec_names {
	struct nametable tables[SPEC_NAMES]; /* members are TYPE.MEMBER, variables FILE:NAME */
};

struct spec_names *spec_names_new(void)
{
	return mem_zalloc(1, sizeof(struct spec_names));
}

void spec_names_free(struct spec_names *names)
{
	for (int i = 0; i < SPEC_NAMES; i++)
		nametable_release(&names->tables[i]);
	free(names);
}

void spec_names_add(struct spec_names *names, enum spec_name what, const char *name)
{
	if (name && *name)
		nametable_number(&names->tables[what], name, strlen(name));
}

static void add_both(struct spec_names *names, enum spec_name what, const char *one, char between,
		     const char *other)
{
	char *both = mem_textf("%s%c%s", one, between, other);

	spec_names_add(names, what, both);
	free(both);
}

void spec_names_add_member(struct spec_names *names, const char *type, const char *member)
{
	spec_names_add(names, SPEC_TYPE, type);
	if (type && *type && member && *member)
		add_both(names, SPEC_MEMBER, type, '.', member);
}

void spec_names_add_variable(struct spec_names *names, const char *file, const char *name)
{
	if (name && *name)
		add_both(names, SPEC_VARIABLE, file ? file : "", ':', name);
}

/* What a site accesses, and the member by which it was reached. Functions that are seen through have no
 * entry, but their accesses name them. */
static void add_site(struct spec_names *names, const struct trace_site *site)
{
	const char *dot =
		site->base && site->base_kind == ATOMSAN_BASE_MEMBER ? strchr(site->base, '.') : NULL;

	spec_names_add(names, SPEC_FUNCTION, site->function);
	spec_names_add_member(names, site->type, site->member);
	if (dot) {
		nametable_number(&names->tables[SPEC_TYPE], site->base, (size_t)(dot - site->base));
		spec_names_add(names, SPEC_MEMBER, site->base);
	}
}

void spec_names_add_trace(struct spec_names *names, const struct trace *trace)
{
	for (uint32_t m = 0; m < trace->module_count; m++) {
		const struct trace_module_table *t = &trace->modules[m];

		for (uint64_t i = 0; i < t->sites; i++) {
			struct trace_site site;

			if (!trace_site(trace, t->first_site + i, &site, NULL))
				add_site(names, &site);
		}
		for (uint64_t i = 0; i < t->functions; i++) {
			struct trace_function function;

			if (trace_function(trace, t->first_function + i, &function, NULL))
				continue;
			spec_names_add(names, SPEC_TYPE, function.receiver_type);
			spec_names_add(names, SPEC_FUNCTION, function.name);
			spec_names_add(names, SPEC_FUNCTION, function.linkage_name);
		}
	}
	for (uint64_t i = 0; i < trace->variable_count; i++) {
		struct trace_variable variable;

		trace_variable(trace, i, &variable);
		spec_names_add(names, SPEC_TYPE, variable.type);
		spec_names_add_variable(names, variable.file, variable.name);
	}
}

/* ---- one name ---- */

/* What a statement names, and what it is called in the tables. */
struct asked {
	const struct spec_names *names;
	const struct spec_doubts *doubts;
	const struct statement *statement;
	enum spec_name what;
	const char *name;
};

static bool is_it(const struct asked *asked, const char *name)
{
	const struct statement *s = asked->statement;
	size_t type;
	const char *colon;

	switch (asked->what) {
	case SPEC_FUNCTION:
		return !strcmp(name, asked->name) ||
		       (strstr(asked->name, "::") && spec_fits_function(asked->name, name));
	case SPEC_MEMBER:
		type = strlen(s->type);
		return !strncmp(name, s->type, type) && name[type] == '.' &&
		       spec_fits_member(s->member, name + type + 1);
	case SPEC_VARIABLE:
		colon = strrchr(name, ':');
		if (strcmp(colon + 1, s->variable))
			return false;
		char *file = mem_textf("%.*s", (int)(colon - name), name);
		bool fits = !s->file || spec_fits_file(s->file, file);

		free(file);
		return fits;
	default:
		return !strcmp(name, asked->name);
	}
}

/* True if it is there; else the nearest one there is, NULL if none is near. */
static bool find(const struct asked *asked, const char **nearest)
{
	const struct nametable *table = &asked->names->tables[asked->what];
	unsigned limit = (unsigned)strlen(asked->name) / 3 + 1;

	*nearest = NULL;
	for (uint32_t i = 0; i < table->count; i++) {
		const char *one = nametable_name(table, i);
		const char *shown =
			asked->what == SPEC_VARIABLE && !asked->statement->file ? strrchr(one, ':') + 1 : one;
		unsigned far;

		if (is_it(asked, one))
			return true;
		far = distance(shown, asked->name);
		if (far < limit) {
			limit = far;
			*nearest = shown;
		}
	}
	return false;
}

/* Does the program have all the words that the name is made of? */
static bool mentioned(const struct spec_doubts *doubts, const char *name)
{
	while (*name) {
		size_t length = 0;

		while (isalnum((unsigned char)name[length]) || name[length] == '_')
			length++;
		if (length) {
			char *word = mem_textf("%.*s", (int)length, name);
			bool there = doubts->mentions(doubts->user, word);

			free(word);
			if (!there)
				return false;
		}
		name += length + !length;
	}
	return true;
}

/* -1 if it cannot be there. `quietly`: that the tables do not tell of it means nothing. */
static int check(const struct asked *asked, bool quietly, struct err *err)
{
	static const char *const kinds[SPEC_NAMES] = {"function", "struct", "member", "variable"};
	/* What the tables tell of each. */
	static const char *const uses[SPEC_NAMES] = {"runs", "accesses", "accesses", "accesses"};
	const struct statement *s = asked->statement;
	const char *nearest, *what = kinds[asked->what];
	char hint[160] = "";

	if (find(asked, &nearest))
		return 0;
	if (nearest)
		snprintf(hint, sizeof hint, "; did you mean '%.120s'?", nearest);
	if (!mentioned(asked->doubts, asked->name))
		return err_set(err, "%s:%u: the program has no %s '%.100s'%s", s->where, s->line, what,
			       asked->name, hint);
	if (quietly)
		return 0;
	char *sentence = mem_textf("%s:%u: nothing in the program %s a %s '%.100s', so this says nothing%s",
				   s->where, s->line, uses[asked->what], what, asked->name, hint);

	asked->doubts->warn(asked->doubts->user, sentence);
	free(sentence);
	return 0;
}

/* ---- all of them ---- */

static int check_function(struct asked asked, bool quietly, struct err *err)
{
	asked.what = SPEC_FUNCTION;
	asked.name = asked.statement->function;
	return asked.name && asked.statement->literal ? check(&asked, quietly, err) : 0;
}

/* A member's type is asked for first: without it there is no member. */
static int check_type(struct asked asked, struct err *err)
{
	const struct statement *s = asked.statement;
	const char *nearest;
	int failed;

	asked.what = SPEC_TYPE;
	asked.name = s->type;
	if (!s->type || spec_has_wildcard(s->type))
		return 0;
	if (!s->member || !find(&asked, &nearest))
		return check(&asked, false, err);
	if (spec_has_wildcard(s->member))
		return 0;
	char *whole = mem_textf("%s.%s", s->type, s->member);

	asked.what = SPEC_MEMBER;
	asked.name = whole;
	failed = check(&asked, false, err);
	free(whole);
	return failed;
}

static int check_variable(struct asked asked, struct err *err)
{
	const struct statement *s = asked.statement;
	int failed;

	if (!s->variable || !s->literal)
		return 0;
	char *whole = mem_textf("%s%s%s", s->file ? s->file : "", s->file ? ":" : "", s->variable);

	asked.what = SPEC_VARIABLE;
	asked.name = whole;
	failed = check(&asked, false, err);
	free(whole);
	return failed;
}

int spec_check_names(const struct spec *spec, const struct spec_names *names,
		     const struct spec_doubts *doubts, struct err *err)
{
	for (int kind = 0; kind < STATEMENT_KINDS; kind++) {
		/* Functions that take a lock or start a thread are often another library's. */
		bool quietly = kind == STATEMENT_ROLE && !doubts->calls;

		if (kind >= STATEMENT_IGNORE_FUNCTION && kind != STATEMENT_ROLE)
			continue;
		for (size_t i = 0; i < spec->kinds[kind].count; i++) {
			const struct statement *s = &spec->kinds[kind].items[i];
			struct asked asked = {names, doubts, s, SPEC_NAMES, NULL};

			/* An annotation stands beside what it names. */
			if (s->source && (check_function(asked, quietly, err) || check_type(asked, err) ||
					  check_variable(asked, err)))
				return -1;
		}
	}
	return 0;
}
