/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model/spec_inside.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct spec *spec_new(void)
{
	return mem_zalloc(1, sizeof(struct spec));
}

void spec_release_statement(struct statement *s)
{
	free(s->function);
	free(s->type);
	free(s->member);
	free(s->variable);
	free(s->file);
	free(s->set);
}

void spec_free(struct spec *spec)
{
	if (!spec)
		return;
	for (int kind = 0; kind < STATEMENT_KINDS; kind++) {
		for (size_t i = 0; i < spec->kinds[kind].count; i++)
			spec_release_statement(&spec->kinds[kind].items[i]);
		free(spec->kinds[kind].items);
	}
	for (size_t i = 0; i < spec->text_count; i++)
		free(spec->texts[i]);
	free(spec->texts);
	spec_release_private(spec);
	spec_release_sections(spec);
	free(spec);
}

const char *spec_keep(struct spec *spec, const char *text)
{
	spec->texts = mem_resize(spec->texts, spec->text_count + 1, sizeof *spec->texts);
	spec->texts[spec->text_count] = mem_text(text);
	return spec->texts[spec->text_count++];
}

/* ---- patterns ---- */

/* A type or a member: brackets belong to names there ("items[]"), so only * and ? are wild. */
static bool fits_name(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			retry = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool spec_fits_member(const char *pattern, const char *member)
{
	size_t length = strlen(pattern);

	if (fits_name(pattern, member))
		return true;
	return !strncmp(pattern, member, length) && (member[length] == '.' || member[length] == '[');
}

bool spec_fits_file(const char *pattern, const char *file)
{
	if (!file)
		return false;
	if (!fnmatch(pattern, file, 0))
		return true;
	for (const char *slash = strchr(file, '/'); slash; slash = strchr(slash + 1, '/'))
		if (!fnmatch(pattern, slash + 1, 0))
			return true;
	return false;
}

/*
 * The scopes and name in a linker's name, "_ZN4bank7account3addEl" -> bank::account::add;
 * template arguments are left out. False for what is not as simple as that.
 */
static bool decode(const char *mangled, char *to, size_t room)
{
	size_t used = 0;
	int depth = 0;

	if (strncmp(mangled, "_ZN", 3))
		return false;
	for (mangled += 3; *mangled == 'r' || *mangled == 'V' || *mangled == 'K'; mangled++)
		;
	for (;; mangled++) {
		if (*mangled >= '0' && *mangled <= '9') {
			char *name;
			unsigned long size = strtoul(mangled, &name, 10);

			if (!size || size > strlen(name) || used + size + 3 > room)
				return false;
			if (!depth) {
				used += (size_t)snprintf(to + used, room - used, "%s%.*s", used ? "::" : "",
							 (int)size, name);
			}
			mangled = name + size - 1;
		} else if (*mangled == 'I' || (depth && *mangled == 'N')) {
			depth++;
		} else if (*mangled == 'E' && depth) {
			depth--;
		} else if (*mangled == 'E') {
			return used != 0;
		} else if (!depth || *mangled == 'L' || *mangled == 'X' || !*mangled) {
			/* Operators, constructors, the standard library, arguments that are numbers. */
			return false;
		}
	}
}

bool spec_fits_function(const char *pattern, const char *name)
{
	char scoped[512];

	if (!fnmatch(pattern, name, 0))
		return true;
	return strstr(pattern, "::") && decode(name, scoped, sizeof scoped) && !fnmatch(pattern, scoped, 0);
}

/* What is asked about; NULL for what it has not. */
struct subject {
	const char *name, *linkage_name; /* of a function, or a variable's name */
	const char *type, *member, *file;
};

static bool fits(const struct statement *s, const struct subject *of)
{
	if (s->function && !(of->name && spec_fits_function(s->function, of->name)) &&
	    !(of->linkage_name && spec_fits_function(s->function, of->linkage_name)))
		return false;
	if (s->type && !(of->type && fits_name(s->type, of->type)))
		return false;
	if (s->member && !(of->member && spec_fits_member(s->member, of->member)))
		return false;
	if (s->variable && !(of->name && !fnmatch(s->variable, of->name, 0)))
		return false;
	if (s->file &&
	    !(of->file && (s->variable ? spec_fits_file(s->file, of->file) : !fnmatch(s->file, of->file, 0))))
		return false;
	return true;
}

/* ---- which of several counts ---- */

static size_t length(const char *text)
{
	return text ? strlen(text) : 0;
}

/* See spec.h; statements are kept in the order in which they came. */
static bool outweighs(const struct statement *later, const struct statement *earlier)
{
	if (later->source != earlier->source)
		return later->source > earlier->source;
	if (later->literal != earlier->literal)
		return later->literal;
	if (length(later->member) != length(earlier->member))
		return length(later->member) > length(earlier->member);
	/* A variable of one file is more than one of any. */
	if (!later->file != !earlier->file)
		return later->file != NULL;
	return true;
}

static const struct statement *best(const struct spec *spec, enum statement_kind kind, struct subject of)
{
	const struct statements *all = &spec->kinds[kind];
	const struct statement *found = NULL;

	for (size_t i = 0; i < all->count; i++)
		if (fits(&all->items[i], &of) && (!found || outweighs(&all->items[i], found)))
			found = &all->items[i];
	return found;
}

static const char *set_of(const struct statement *statement)
{
	return statement ? statement->set : NULL;
}

unsigned spec_function(const struct spec *spec, const char *name, const char *linkage_name, const char *file)
{
	struct subject of = {.name = name, .linkage_name = linkage_name};
	const struct statement *unit = best(spec, STATEMENT_UNIT, of);
	unsigned found = 0;

	if (unit)
		found |= unit->says ? SPEC_UNIT : SPEC_NOT_UNIT;
	if (best(spec, STATEMENT_WAIT, of))
		found |= SPEC_WAIT;
	if (best(spec, STATEMENT_IGNORE_FUNCTION, of) || spec_ignored_file(spec, file))
		found |= SPEC_IGNORE;
	for (size_t i = 0; i < spec->kinds[STATEMENT_UNITFOR].count; i++) {
		struct subject any = {name, linkage_name, spec->kinds[STATEMENT_UNITFOR].items[i].type, NULL,
				      NULL};

		if (fits(&spec->kinds[STATEMENT_UNITFOR].items[i], &any))
			found |= SPEC_UNITFOR;
	}
	return found;
}

bool spec_unitfor(const struct spec *spec, const char *name, const char *linkage_name, const char *type)
{
	return best(spec, STATEMENT_UNITFOR,
		    (struct subject){.name = name, .linkage_name = linkage_name, .type = type});
}

struct spec_role spec_role(const struct spec *spec, const char *name, const char *linkage_name)
{
	const struct statement *word =
		best(spec, STATEMENT_ROLE, (struct subject){.name = name, .linkage_name = linkage_name});

	return word ? word->role : (struct spec_role){SPEC_ROLE_NONE, 0, 0};
}

const char *spec_member_set(const struct spec *spec, const char *type, const char *member)
{
	return set_of(best(spec, STATEMENT_SET_MEMBER, (struct subject){.type = type, .member = member}));
}

const char *spec_variable_set(const struct spec *spec, const char *name, const char *file)
{
	return set_of(best(spec, STATEMENT_SET_VARIABLE, (struct subject){.name = name, .file = file}));
}

const char *spec_type_merge(const struct spec *spec, const char *type)
{
	return set_of(best(spec, STATEMENT_MERGE_TYPE, (struct subject){.type = type}));
}

bool spec_merges_variables(const struct spec *spec)
{
	return spec->kinds[STATEMENT_MERGE_VARIABLE].count;
}

const char *spec_variable_merge(const struct spec *spec, const char *name, const char *file)
{
	return set_of(best(spec, STATEMENT_MERGE_VARIABLE, (struct subject){.name = name, .file = file}));
}

int spec_owned(const struct spec *spec, const char *type, const char *member)
{
	const struct statement *word =
		best(spec, STATEMENT_OWNED, (struct subject){.type = type, .member = member});

	return !word ? 0 : word->says ? 1 : -1;
}

bool spec_guarded(const struct spec *spec, const char *type)
{
	return best(spec, STATEMENT_GUARDED, (struct subject){.type = type});
}

bool spec_ignored_member(const struct spec *spec, const char *type, const char *member)
{
	return best(spec, STATEMENT_IGNORE_MEMBER, (struct subject){.type = type, .member = member});
}

bool spec_ignored_type(const struct spec *spec, const char *type)
{
	return best(spec, STATEMENT_IGNORE_TYPE, (struct subject){.type = type});
}

bool spec_ignored_variable(const struct spec *spec, const char *name, const char *file)
{
	return best(spec, STATEMENT_IGNORE_VARIABLE, (struct subject){.name = name, .file = file});
}

bool spec_ignored_file(const struct spec *spec, const char *file)
{
	return best(spec, STATEMENT_IGNORE_FILE, (struct subject){.file = file});
}
