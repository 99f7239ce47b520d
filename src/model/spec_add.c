/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Statements as they come: what was said before is not kept again, and what cannot both be meant is
 * refused, with both places. Only statements of one source are compared, for others outweigh each other,
 * and only those about the very same thing, since a pattern is outweighed by a name.
 */
#include "model/spec_inside.h"

#include <string.h>

static bool equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool about_the_same(const struct statement *a, const struct statement *b)
{
	return equal(a->function, b->function) && equal(a->type, b->type) && equal(a->member, b->member) &&
	       equal(a->variable, b->variable) && equal(a->file, b->file);
}

static bool same_role(const struct spec_role *a, const struct spec_role *b)
{
	return a->kind == b->kind && a->what == b->what && a->argument == b->argument;
}

/* ---- the opposite ---- */

static int contradiction(enum statement_kind kind, const struct statement *s, const struct statement *other,
			 struct err *err)
{
	const char *subject = s->function ? s->function : s->variable ? s->variable : s->type;
	const char *dot = s->member ? "." : "", *member = s->member ? s->member : "";

	if (kind == STATEMENT_UNIT)
		return err_set(err, "%s:%u: '%s' is %s here, but %s at %s:%u", s->where, s->line, subject,
			       s->says ? "a unit" : "not a unit", other->says ? "is one" : "is none",
			       other->where, other->line);
	if (kind == STATEMENT_OWNED)
		return err_set(err, "%s:%u: '%s%s%s' is %s here, but %s at %s:%u", s->where, s->line, subject,
			       dot, member, s->says ? "owned" : "not owned",
			       other->says ? "is owned" : "is not", other->where, other->line);
	if (kind == STATEMENT_ROLE)
		return err_set(err, "%s:%u: '%s' does something else here than at %s:%u", s->where, s->line,
			       subject, other->where, other->line);
	return err_set(err, "%s:%u: '%s%s%s' belongs to '%s' here, but to '%s' at %s:%u", s->where, s->line,
		       subject, dot, member, s->set, other->set, other->where, other->line);
}

/* ---- what is ignored, and counts ---- */

/* What an ignored thing cannot be, and by what the two statements are about the same thing. To wait is not
 * among it: a function may be ignored and still be where its callers wait. */
static const struct clash {
	enum statement_kind ignored, counts;
	bool by_member; /* not by function, type and variable alone */
	const char *as;
} clashes[] = {
	{STATEMENT_IGNORE_FUNCTION, STATEMENT_UNIT, false, "is a unit"},
	{STATEMENT_IGNORE_FUNCTION, STATEMENT_UNITFOR, false, "is a unit"},
	{STATEMENT_IGNORE_TYPE, STATEMENT_UNITFOR, false, "has units"},
	{STATEMENT_IGNORE_TYPE, STATEMENT_MERGE_TYPE, false, "is merged"},
	{STATEMENT_IGNORE_TYPE, STATEMENT_SET_MEMBER, false, "has a set"},
	{STATEMENT_IGNORE_MEMBER, STATEMENT_SET_MEMBER, true, "belongs to a set"},
	{STATEMENT_IGNORE_VARIABLE, STATEMENT_SET_VARIABLE, false, "belongs to a set"},
	{STATEMENT_IGNORE_VARIABLE, STATEMENT_MERGE_VARIABLE, false, "is merged"},
};

static bool clash(const struct clash *how, const struct statement *ignored, const struct statement *counts)
{
	if (ignored->source != counts->source || !counts->says)
		return false;
	if (ignored->function)
		return equal(ignored->function, counts->function);
	if (ignored->variable)
		return equal(ignored->variable, counts->variable) && equal(ignored->file, counts->file);
	return equal(ignored->type, counts->type) &&
	       (!how->by_member || equal(ignored->member, counts->member));
}

static int check_ignored(const struct spec *spec, enum statement_kind kind, const struct statement *s,
			 struct err *err)
{
	for (size_t c = 0; c < sizeof clashes / sizeof *clashes; c++) {
		const struct clash *how = &clashes[c];
		bool ignores = how->ignored == kind;
		const struct statements *others = &spec->kinds[ignores ? how->counts : how->ignored];

		if (!ignores && how->counts != kind)
			continue;
		for (size_t i = 0; i < others->count; i++) {
			const struct statement *other = &others->items[i];
			const struct statement *ignored = ignores ? s : other;

			if (!clash(how, ignored, ignores ? other : s))
				continue;
			return err_set(err, "%s:%u: '%s%s%s' %s here, but %s at %s:%u", s->where, s->line,
				       ignored->function   ? ignored->function
				       : ignored->variable ? ignored->variable
							   : ignored->type,
				       ignored->member ? "." : "", ignored->member ? ignored->member : "",
				       ignores ? "is ignored" : how->as, ignores ? how->as : "is ignored",
				       other->where, other->line);
		}
	}
	return 0;
}

/* A variable that is in one set, and merged into another. */
static int check_merged(const struct spec *spec, enum statement_kind kind, const struct statement *s,
			struct err *err)
{
	const struct statements *others =
		kind == STATEMENT_SET_VARIABLE     ? &spec->kinds[STATEMENT_MERGE_VARIABLE]
		: kind == STATEMENT_MERGE_VARIABLE ? &spec->kinds[STATEMENT_SET_VARIABLE]
						   : NULL;

	for (size_t i = 0; others && i < others->count; i++)
		if (others->items[i].source == s->source && about_the_same(&others->items[i], s) &&
		    !equal(others->items[i].set, s->set))
			return contradiction(kind, s, &others->items[i], err);
	return 0;
}

int spec_add_statement(struct spec *spec, enum statement_kind kind, struct statement statement,
		       struct err *err)
{
	struct statements *all = &spec->kinds[kind];

	/* The same header is compiled many times. */
	for (size_t i = 0; i < all->count; i++) {
		const struct statement *other = &all->items[i];
		int failed = 0;

		if (other->source != statement.source || !about_the_same(other, &statement))
			continue;
		if (other->says != statement.says || !equal(other->set, statement.set) ||
		    !same_role(&other->role, &statement.role))
			failed = contradiction(kind, &statement, other, err);
		spec_release_statement(&statement);
		return failed;
	}
	if (check_ignored(spec, kind, &statement, err) || check_merged(spec, kind, &statement, err)) {
		spec_release_statement(&statement);
		return -1;
	}
	all->items = mem_resize(all->items, all->count + 1, sizeof *all->items);
	all->items[all->count++] = statement;
	return 0;
}
