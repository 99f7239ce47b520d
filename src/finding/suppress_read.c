/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads files of suppressions. A line that is wrong is an error: a typo must not make findings disappear, or
 * stay. */
#include "finding/suppress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool suppress_is_day(const char *text)
{
	struct tm parts = {0};
	const char *end = strptime(text, "%Y-%m-%d", &parts);

	if (strlen(text) != 10 || !end || *end)
		return false;
	/* The 31st of April is none. */
	int day = parts.tm_mday;

	timegm(&parts);
	return parts.tm_mday == day;
}

static char *keep(struct suppress_list *list, char *text)
{
	list->texts = mem_resize(list->texts, list->text_count + 1, sizeof(*list->texts));
	return list->texts[list->text_count++] = text;
}

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && strchr(" \t\r", end[-1]))
		*--end = 0;
	return text + strspn(text, " \t");
}

/* The rest of a pattern in front of which "word=" stands. */
static char *after_word(char *text, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(text, word, length) && text[length] == '=' ? text + length + 1 : NULL;
}

static int parse_kind(struct suppress_entry *entry, const char *kind)
{
	if (!strcmp(kind, "id")) {
		entry->what = SUPPRESS_ID;
		entry->kind = -1;
		return 0;
	}
	entry->kind = finding_kind_of(kind);
	return entry->kind >= 0 || !strcmp(kind, "any") ? 0 : -1;
}

static int parse_until(struct suppress_entry *entry, char *rest, const char *today, struct err *err)
{
	char *space = strrchr(rest, ' ');
	char *day = after_word(space ? space + 1 : rest, "until");

	if (!day)
		return 0;
	if (!suppress_is_day(day))
		return err_set(err, "%s:%u: '%s' is not a day such as 2027-03-31", entry->path, entry->line,
			       day);
	memcpy(entry->until, day, sizeof(entry->until));
	entry->expired = strcmp(entry->until, today) < 0;
	if (space)
		*space = 0;
	else
		*rest = 0;
	return 0;
}

static int parse_line(struct suppress_list *list, char *line, const char *path, unsigned number,
		      const char *today, struct err *err)
{
	struct suppress_entry entry = {.path = path, .line = number, .kind = -1};
	char *hash = strchr(line, '#');
	char *reason = hash ? trim(hash + 1) : "";

	if (hash)
		*hash = 0;
	line = trim(line);
	if (!*line)
		return 0;
	char *colon = strchr(line, ':');

	if (!colon)
		return err_set(err, "%s:%u: a suppression reads KIND:PATTERN  # REASON", path, number);
	*colon = 0;
	if (parse_kind(&entry, trim(line)))
		return err_set(err,
			       "%s:%u: '%s' is no kind of finding; there are any, atomicity, race, "
			       "high-level-race, stale-value, deadlock, and id",
			       path, number, line);
	char *rest = trim(colon + 1);

	if (parse_until(&entry, rest, today, err))
		return -1;
	rest = trim(rest);
	if (entry.what != SUPPRESS_ID) {
		static const char *const words[] = {"function", "file", "type", "variable"};

		for (int i = 0; i < 4; i++) {
			char *pattern = after_word(rest, words[i]);

			if (pattern) {
				entry.what = (enum suppress_what)(SUPPRESS_FUNCTION + i);
				rest = trim(pattern);
				break;
			}
		}
	} else if (!finding_id_is_valid(rest)) {
		return err_set(err, "%s:%u: '%s' is not the id of a finding", path, number, rest);
	}
	if (!*rest)
		return err_set(err, "%s:%u: the pattern is empty", path, number);
	if (!*reason)
		return err_set(err, "%s:%u: the reason is missing; write it behind a #", path, number);
	entry.pattern = rest;
	entry.reason = reason;
	list->entries = mem_resize(list->entries, list->count + 1, sizeof(*list->entries));
	list->entries[list->count++] = entry;
	return 0;
}

int suppress_parse(struct suppress_list *list, const char *text, const char *path, time_t now,
		   struct err *err)
{
	char *copy = keep(list, mem_text(text)), *name = keep(list, mem_text(path)), today[16];
	struct tm parts;
	unsigned number = 0;

	localtime_r(&now, &parts);
	strftime(today, sizeof today, "%Y-%m-%d", &parts);
	for (char *line = copy, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (parse_line(list, line, name, ++number, today, err))
			return -1;
	}
	return 0;
}

int suppress_read(struct suppress_list *list, const char *path, time_t now, struct err *err)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	int failed;

	if (!in)
		return err_set(err, "cannot read the suppressions in %s: %s", path, strerror(errno));
	errno = 0;
	ssize_t length = getdelim(&text, &room, 0, in);

	if (ferror(in))
		failed = err_set(err, "cannot read the suppressions in %s: %s", path, strerror(errno));
	else if (length > 0 && !feof(in))
		failed = err_set(err, "%s is not a text file of suppressions", path);
	else
		failed = length > 0 ? suppress_parse(list, text, path, now, err) : 0;
	free(text);
	fclose(in);
	return failed;
}

void suppress_release(struct suppress_list *list)
{
	for (unsigned i = 0; i < list->text_count; i++)
		free(list->texts[i]);
	free(list->texts);
	free(list->entries);
	*list = (struct suppress_list){0};
}
