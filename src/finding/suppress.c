/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which findings the entries match; suppress_read.c reads them. */
#include "finding/suppress.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static bool matches(const char *pattern, const char *name)
{
	/* No escapes: a backslash has no meaning in names, and a pattern ending in one would never match. */
	return name && !fnmatch(pattern, name, FNM_NOESCAPE);
}

static bool matches_file(const char *pattern, const char *path)
{
	if (!path || matches(pattern, path))
		return path != NULL;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (matches(pattern, slash + 1))
			return true;
	return false;
}

static bool matches_type(const char *pattern, const char *set)
{
	static const char *const tags[] = {"struct ", "class ", "union "};

	if (!set || matches(pattern, set))
		return set != NULL;
	for (unsigned i = 0; i < sizeof tags / sizeof *tags; i++)
		if (!strncmp(set, tags[i], strlen(tags[i])))
			return matches(pattern, set + strlen(tags[i]));
	return false;
}

static bool looks_at(const struct suppress_entry *entry, enum suppress_what what)
{
	return entry->what == SUPPRESS_ANY || entry->what == what;
}

static bool matches_place(const struct suppress_entry *entry, const struct finding_place *place)
{
	return (looks_at(entry, SUPPRESS_FUNCTION) && matches(entry->pattern, place->function)) ||
	       (looks_at(entry, SUPPRESS_FILE) && matches_file(entry->pattern, place->file));
}

static bool matches_access(const struct suppress_entry *entry, const struct finding_access *access)
{
	if (matches_place(entry, &access->place) ||
	    (looks_at(entry, SUPPRESS_VARIABLE) && matches(entry->pattern, access->variable)))
		return true;
	for (uint32_t i = 0; i < access->depth; i++)
		if (matches_place(entry, &access->stack[i]))
			return true;
	for (uint32_t i = 0; i < access->lock_count; i++)
		if (looks_at(entry, SUPPRESS_VARIABLE) && matches(entry->pattern, access->locks[i]))
			return true;
	return false;
}

static bool entry_matches(const struct suppress_entry *entry, const struct finding *finding)
{
	if (entry->expired || (entry->kind >= 0 && entry->kind != (int)finding->kind))
		return false;
	if (entry->what == SUPPRESS_ID)
		return !strcmp(entry->pattern, finding->id);
	for (uint32_t i = 0; i < finding->unit_count; i++)
		if (matches_place(entry, &finding->units[i].place) ||
		    (looks_at(entry, SUPPRESS_TYPE) && matches_type(entry->pattern, finding->units[i].set)))
			return true;
	for (uint32_t i = 0; i < finding->variable_count; i++)
		if (looks_at(entry, SUPPRESS_VARIABLE) && matches(entry->pattern, finding->variables[i]))
			return true;
	for (uint32_t i = 0; i < finding->access_count; i++)
		if (matches_access(entry, &finding->accesses[i]))
			return true;
	return false;
}

const struct suppress_entry *suppress_match(struct suppress_list *list, const struct finding *finding)
{
	const struct suppress_entry *first = NULL;

	for (unsigned i = 0; i < list->count; i++) {
		if (!entry_matches(&list->entries[i], finding))
			continue;
		list->entries[i].matched++;
		if (!first)
			first = &list->entries[i];
	}
	return first;
}

uint32_t suppress_apply(struct suppress_list *list, struct finding_list *findings)
{
	uint32_t kept = 0, before = findings->finding_count;

	for (uint32_t i = 0; i < before; i++)
		if (!suppress_match(list, &findings->findings[i]))
			findings->findings[kept++] = findings->findings[i];
	findings->finding_count = kept;
	return before - kept;
}

void suppress_report(const struct suppress_list *list, void (*say)(void *user, const char *sentence),
		     void *user)
{
	for (unsigned i = 0; i < list->count; i++) {
		const struct suppress_entry *entry = &list->entries[i];
		char *sentence = NULL;

		if (entry->expired)
			sentence = mem_textf("%s:%u: the suppression of '%s' expired on %s", entry->path,
					     entry->line, entry->pattern, entry->until);
		else if (!entry->matched)
			sentence = mem_textf("%s:%u: nothing matched the suppression of '%s'", entry->path,
					     entry->line, entry->pattern);
		if (sentence)
			say(user, sentence);
		free(sentence);
	}
}

static const char *name_for(const struct finding *finding, enum suppress_what what)
{
	const struct finding_place *place = finding->unit_count     ? &finding->units[0].place
					    : finding->access_count ? &finding->accesses[0].place
								    : NULL;

	switch (what) {
	case SUPPRESS_FUNCTION:
		return place ? place->function : NULL;
	case SUPPRESS_FILE:
		return place ? place->file : NULL;
	case SUPPRESS_TYPE:
		return finding->unit_count ? finding->units[0].set : NULL;
	case SUPPRESS_VARIABLE:
		return finding->variable_count ? finding->variables[0] : NULL;
	case SUPPRESS_ID:
	case SUPPRESS_ANY:
		break;
	}
	return finding->id;
}

static const char *const words[] = {"any", "function", "file", "type", "variable", "id"};

int suppress_what_of(const char *text)
{
	for (int i = SUPPRESS_FUNCTION; i <= SUPPRESS_ID; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

/* A name as a pattern for itself alone: what would be special is put into brackets. What cannot stand on a
 * line becomes a question mark, and the sign that a store has for bytes that are no UTF-8 a star. */
static char *pattern_for(const char *name)
{
	static const char unknown[] = "\xef\xbf\xbd";
	char *pattern = mem_alloc(3 * strlen(name) + 1), *to = pattern;

	for (; *name; name++) {
		if (strchr("*?[", *name)) {
			*to++ = '[';
			*to++ = *name;
			*to++ = ']';
		} else if (!strncmp(name, unknown, 3)) {
			*to++ = '*';
			name += 2;
		} else {
			*to++ = (unsigned char)*name < ' ' || *name == '#' ? '?' : *name;
		}
	}
	*to = 0;
	return pattern;
}

char *suppress_line(const struct finding *finding, enum suppress_what what, const char *reason,
		    const char *until, struct err *err)
{
	const char *name = name_for(finding, what);
	bool by_id = what == SUPPRESS_ID || what == SUPPRESS_ANY;

	if (!name || !*name) {
		err_set(err, "%s has no %s to suppress it by; --by=id always works", finding->id,
			words[what]);
		return NULL;
	}
	char *pattern = pattern_for(name);
	char *plain_reason = mem_text(reason);

	for (char *p = plain_reason; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	char *line = by_id ? mem_textf("id:%s%s%s  # %s", pattern, until ? " until=" : "", until ? until : "",
				       plain_reason)
			   : mem_textf("%s:%s=%s%s%s  # %s", finding_kind_text(finding->kind), words[what],
				       pattern, until ? " until=" : "", until ? until : "", plain_reason);

	free(plain_reason);
	free(pattern);
	return line;
}
