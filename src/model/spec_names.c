/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names in spec files that the program does not have are mistakes, most of them of spelling. */
#include "model/spec_inside.h"
#include "trace/nametable.h"

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

/* The name, or the nearest one there is; NULL if none is near. */
static const char *find(const char *(*nth)(void *user, size_t i), void *user, const char *name)
{
	unsigned nearest = (unsigned)strlen(name) / 3 + 1;
	const char *found = NULL, *one;
	bool scoped = strstr(name, "::") != NULL; /* of a type it is the name itself */

	for (size_t i = 0; (one = nth(user, i)); i++) {
		unsigned far;

		if (!strcmp(one, name) || (scoped && spec_fits_function(name, one)))
			return name;
		far = distance(one, name);
		if (far < nearest) {
			nearest = far;
			found = one;
		}
	}
	return found;
}

static int check(const struct statement *s, const char *what, const char *name,
		 const char *(*nth)(void *user, size_t i), void *user, struct err *err)
{
	const char *found = find(nth, user, name);

	if (found && !strcmp(found, name))
		return 0;
	if (found)
		return err_set(err, "%s:%u: the program has no %s '%s'; did you mean '%s'?", s->where,
			       s->line, what, name, found);
	return err_set(err, "%s:%u: the program has no %s '%s'", s->where, s->line, what, name);
}

int spec_check_names(const struct spec *spec, const struct spec_program *program, struct err *err)
{
	for (int kind = 0; kind < STATEMENT_IGNORE_FUNCTION; kind++) {
		for (size_t i = 0; i < spec->kinds[kind].count; i++) {
			const struct statement *s = &spec->kinds[kind].items[i];

			/* An annotation stands beside what it names. */
			if (!s->source)
				continue;
			if (s->function && s->literal &&
			    check(s, "function", s->function, program->function, program->user, err))
				return -1;
			if (s->type && !spec_has_wildcard(s->type) &&
			    check(s, "struct", s->type, program->type, program->user, err))
				return -1;
		}
	}
	return 0;
}

/* ---- against a trace ---- */

struct names {
	struct nametable types, functions;
};

static void add(struct nametable *table, const char *name)
{
	if (name)
		nametable_number(table, name, strlen(name));
}

/* Functions that are seen through have no entry, but their accesses name them. */
static void collect(const struct trace *trace, struct names *names)
{
	for (uint32_t m = 0; m < trace->module_count; m++) {
		const struct trace_module_table *t = &trace->modules[m];

		for (uint64_t i = 0; i < t->sites; i++) {
			struct trace_site site;

			if (trace_site(trace, t->first_site + i, &site, NULL))
				continue;
			add(&names->types, site.type);
			add(&names->functions, site.function);
		}
		for (uint64_t i = 0; i < t->functions; i++) {
			struct trace_function function;

			if (trace_function(trace, t->first_function + i, &function, NULL))
				continue;
			add(&names->types, function.receiver_type);
			add(&names->functions, function.name);
			add(&names->functions, function.linkage_name);
		}
	}
	for (uint64_t i = 0; i < trace->variable_count; i++) {
		struct trace_variable variable;

		trace_variable(trace, i, &variable);
		add(&names->types, variable.type);
	}
}

static const char *nth_type(void *user, size_t i)
{
	const struct names *names = user;

	return i < names->types.count ? nametable_name(&names->types, (uint32_t)i) : NULL;
}

static const char *nth_function(void *user, size_t i)
{
	const struct names *names = user;

	return i < names->functions.count ? nametable_name(&names->functions, (uint32_t)i) : NULL;
}

int spec_check_trace(const struct spec *spec, const struct trace *trace, struct err *err)
{
	struct names names = {0};
	struct spec_program program = {&names, nth_type, nth_function};
	int failed;

	if (!spec->files)
		return 0;
	collect(trace, &names);
	failed = spec_check_names(spec, &program, err);
	nametable_release(&names.types);
	nametable_release(&names.functions);
	return failed;
}
