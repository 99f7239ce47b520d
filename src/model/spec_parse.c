/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The language of spec files, line by line: words separated by blanks, "..."
 * around a word that has some, # begins a comment. See docs/spec-file.md.
 */
#include "model/spec_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 1024, MOST_BYTES = 16 << 20 };

struct line {
	struct spec *spec;
	const char *where;
	unsigned number, source;
	char *words[MOST_WORDS];
	int count;
	struct err *err;
};

#define BAD(line, format, ...) \
	err_set((line)->err, "%s:%u: " format, (line)->where, (line)->number, __VA_ARGS__)

bool spec_has_wildcard(const char *pattern)
{
	return strpbrk(pattern, "*?") != NULL;
}

/* [ opens a set of characters unless nothing closes it: "operator[]" is a name. */
static bool is_glob(const char *pattern)
{
	const char *open = strchr(pattern, '[');

	return spec_has_wildcard(pattern) || (open && open[1] && strchr(open + 2, ']'));
}

static struct statement begin(const struct line *line)
{
	return (struct statement){.says = true,
				  .literal = true,
				  .source = line->source,
				  .where = line->where,
				  .line = line->number};
}

static int add(struct line *line, enum statement_kind kind, struct statement statement)
{
	return spec_add_statement(line->spec, kind, statement, line->err);
}

/* ---- what a word means ---- */

static int of_function(struct line *line, enum statement_kind kind, bool says, const char *type)
{
	struct statement s = begin(line);

	s.says = says;
	s.function = mem_text(line->words[2]);
	s.literal = !is_glob(s.function) && !(type && spec_has_wildcard(type));
	s.type = type ? mem_text(type) : NULL;
	return add(line, kind, s);
}

/* TYPE.MEMBER: a type's template arguments may have dots of their own. */
static int of_member(struct line *line, enum statement_kind kind, const char *word, bool says,
		     const char *set)
{
	struct statement s = begin(line);
	const char *dot = word;

	for (int depth = 0; *dot && (depth || *dot != '.'); dot++) {
		depth += *dot == '<' || *dot == '(';
		depth -= (*dot == '>' || *dot == ')') && depth;
	}
	if (dot == word || !*dot || !dot[1])
		return BAD(line, "'%.100s' should be a struct and a member, TYPE.MEMBER", word);
	s.says = says;
	s.type = mem_textf("%.*s", (int)(dot - word), word);
	s.member = mem_text(dot + 1);
	s.literal = !spec_has_wildcard(word);
	s.set = set ? mem_text(set) : NULL;
	return add(line, kind, s);
}

static int of_type(struct line *line, enum statement_kind kind, const char *word, const char *set)
{
	struct statement s = begin(line);

	s.type = mem_text(word);
	s.literal = !spec_has_wildcard(word);
	s.set = set ? mem_text(set) : NULL;
	return add(line, kind, s);
}

/* VARIABLE, or FILE:VARIABLE */
static int of_variable(struct line *line, enum statement_kind kind, const char *word, const char *set)
{
	struct statement s = begin(line);
	const char *colon = strrchr(word, ':');

	if (colon && (colon == word || !colon[1] || colon[-1] == ':'))
		return BAD(line, "'%.100s' should be a variable's name without scopes, or FILE:VARIABLE",
			   word);
	s.file = colon ? mem_textf("%.*s", (int)(colon - word), word) : NULL;
	s.variable = mem_text(colon ? colon + 1 : word);
	s.literal = !is_glob(word);
	s.set = set ? mem_text(set) : NULL;
	return add(line, kind, s);
}

/* ---- statements ---- */

static bool word_is(const struct line *line, int n, const char *word)
{
	return n < line->count && !strcmp(line->words[n], word);
}

static int unit_line(struct line *line)
{
	if (line->count != 3 || !word_is(line, 1, "function"))
		return BAD(line, "expected '%s function GLOB'", line->words[0]);
	return of_function(line, word_is(line, 0, "wait") ? STATEMENT_WAIT : STATEMENT_UNIT,
			   !word_is(line, 0, "notunit"), NULL);
}

static int unitfor_line(struct line *line)
{
	if (line->count != 4 || !word_is(line, 1, "function"))
		return BAD(line, "expected '%s function GLOB TYPE'", line->words[0]);
	return of_function(line, STATEMENT_UNITFOR, true, line->words[3]);
}

static int set_line(struct line *line)
{
	bool variables = word_is(line, 2, "variable");
	int failed = 0;

	if (line->count < (variables ? 4 : 3))
		return BAD(line, "expected '%s NAME TYPE.MEMBER...' or '%s NAME variable VARIABLE...'",
			   line->words[0], line->words[0]);
	for (int i = variables ? 3 : 2; i < line->count && !failed; i++)
		failed = variables ? of_variable(line, STATEMENT_SET_VARIABLE, line->words[i], line->words[1])
				   : of_member(line, STATEMENT_SET_MEMBER, line->words[i], true,
					       line->words[1]);
	return failed;
}

static int merge_line(struct line *line)
{
	bool variables = word_is(line, 2, "variable");
	int failed = 0;

	if (line->count < 4 || (!variables && !word_is(line, 2, "type")))
		return BAD(line, "expected '%s NAME type TYPE...' or '%s NAME variable VARIABLE...'",
			   line->words[0], line->words[0]);
	for (int i = 3; i < line->count && !failed; i++)
		failed = variables
				 ? of_variable(line, STATEMENT_MERGE_VARIABLE, line->words[i], line->words[1])
				 : of_type(line, STATEMENT_MERGE_TYPE, line->words[i], line->words[1]);
	return failed;
}

static int guarded_line(struct line *line)
{
	int failed = 0;

	if (line->count < 3 || !word_is(line, 1, "type"))
		return BAD(line, "expected '%s type TYPE...'", line->words[0]);
	for (int i = 2; i < line->count && !failed; i++)
		failed = of_type(line, STATEMENT_GUARDED, line->words[i], NULL);
	return failed;
}

static int owned_line(struct line *line)
{
	int failed = 0;

	if (line->count < 2)
		return BAD(line, "expected '%s TYPE.MEMBER'", line->words[0]);
	for (int i = 1; i < line->count && !failed; i++)
		failed = of_member(line, STATEMENT_OWNED, line->words[i], word_is(line, 0, "owned"), NULL);
	return failed;
}

static int ignore_line(struct line *line)
{
	const char *what = line->count == 3 ? line->words[1] : "";

	if (!strcmp(what, "function"))
		return of_function(line, STATEMENT_IGNORE_FUNCTION, true, NULL);
	if (!strcmp(what, "type"))
		return of_type(line, STATEMENT_IGNORE_TYPE, line->words[2], NULL);
	if (!strcmp(what, "member"))
		return of_member(line, STATEMENT_IGNORE_MEMBER, line->words[2], true, NULL);
	if (!strcmp(what, "variable"))
		return of_variable(line, STATEMENT_IGNORE_VARIABLE, line->words[2], NULL);
	if (!strcmp(what, "file")) {
		struct statement s = begin(line);

		s.file = mem_text(line->words[2]);
		s.literal = !is_glob(s.file);
		return add(line, STATEMENT_IGNORE_FILE, s);
	}
	return BAD(line, "expected '%s function|file|type|variable GLOB' or '%s member TYPE.MEMBER'",
		   line->words[0], line->words[0]);
}

/* A parameter by its number, from 1. */
static bool parameter_of(const struct line *line, int n, unsigned *parameter)
{
	char *end;
	unsigned long number;

	if (n >= line->count)
		return true;
	number = strtoul(line->words[n], &end, 10);
	if (*end || line->words[n][0] < '1' || line->words[n][0] > '9' || number > 100)
		return false;
	*parameter = (unsigned)number;
	return true;
}

/* lock function GLOB [N], unlock function GLOB [N], thread function GLOB N [M] */
static int role_line(struct line *line)
{
	struct statement s = begin(line);
	bool thread = word_is(line, 0, "thread");

	s.role.kind = thread                     ? SPEC_ROLE_THREAD
		      : word_is(line, 0, "lock") ? SPEC_ROLE_LOCK
						 : SPEC_ROLE_UNLOCK;
	s.role.what = 1;
	if (line->count < (thread ? 4 : 3) || line->count > (thread ? 5 : 4) ||
	    !word_is(line, 1, "function") || !parameter_of(line, 3, &s.role.what) ||
	    !parameter_of(line, 4, &s.role.argument))
		return BAD(line,
			   "expected '%s function GLOB %s', where parameters are numbers that begin with 1",
			   line->words[0], thread ? "FUNCTION [ARGUMENT]" : "[LOCK]");
	s.function = mem_text(line->words[2]);
	s.literal = !is_glob(s.function);
	return add(line, STATEMENT_ROLE, s);
}

/* FILE:LINE:COLUMN; the file's name may have colons, too. */
static bool position_of(char *word, unsigned *line, unsigned *column)
{
	unsigned *numbers[] = {column, line};

	for (int i = 0; i < 2; i++) {
		char *colon = strrchr(word, ':'), *end;
		unsigned long number;

		if (!colon || colon[1] < '0' || colon[1] > '9')
			return false;
		errno = 0;
		number = strtoul(colon + 1, &end, 10);
		if (*end || errno || !number || number > UINT32_MAX)
			return false;
		*numbers[i] = (unsigned)number;
		*colon = 0;
	}
	return *word != 0;
}

static int private_line(struct line *line)
{
	unsigned number, column;

	if (line->count != 3)
		return BAD(line, "expected '%s FILE:LINE:COLUMN FUNCTION'", line->words[0]);
	char *word = mem_text(line->words[1]);
	bool good = position_of(word, &number, &column);

	if (good)
		spec_add_private(line->spec, word, number, column, line->words[2]);
	free(word);
	return good ? 0 : BAD(line, "'%.100s' should be a place, FILE:LINE:COLUMN", line->words[1]);
}

static int section_line(struct line *line)
{
	const char *wrong = spec_add_section(line->spec, line->words, line->count, line->where, line->number);

	return wrong ? BAD(line, "%s", wrong) : 0;
}

static int statement_line(struct line *line)
{
	static const struct {
		const char *word;
		int (*read)(struct line *line);
	} verbs[] = {{"unit", unit_line},       {"notunit", unit_line},    {"wait", unit_line},
		     {"unitfor", unitfor_line}, {"set", set_line},         {"merge", merge_line},
		     {"owned", owned_line},     {"notowned", owned_line},  {"ignore", ignore_line},
		     {"private", private_line}, {"section", section_line}, {"lock", role_line},
		     {"unlock", role_line},     {"thread", role_line},     {"guarded", guarded_line}};

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (word_is(line, 0, verbs[i].word))
			return verbs[i].read(line);
	return BAD(line,
		   "there is no statement '%.60s'; there are unit, notunit, unitfor, set, owned, notowned, "
		   "merge, "
		   "guarded, ignore, private, section, wait, lock, unlock and thread",
		   line->words[0]);
}

/* ---- words ---- */

/* Cuts the text, which it changes, into words. */
static int split(struct line *line, char *text)
{
	line->count = 0;
	for (;;) {
		char *to;

		while (*text == ' ' || *text == '\t' || *text == '\r')
			text++;
		if (!*text || *text == '#')
			return 0;
		if (line->count == MOST_WORDS)
			return BAD(line, "there are more than %d words; use several lines", MOST_WORDS);
		line->words[line->count++] = to = text;
		if (*text != '"') {
			text += strcspn(text, " \t\r");
			if (*text)
				*text++ = 0;
			continue;
		}
		for (text++; *text && *text != '"'; text++) {
			if (*text == '\\' && text[1])
				text++;
			*to++ = *text;
		}
		if (!*text)
			return BAD(line, "a word that begins with %s must end with it", "\"");
		text++;
		if (*text && !strchr(" \t\r", *text))
			return BAD(line, "after the %s that ends a word there must be a blank", "\"");
		*to = 0;
		if (to == line->words[line->count - 1])
			return BAD(line, "word %d is empty", line->count);
	}
}

/* '#line NUMBER FILE': where the lines after this one come from. */
static bool is_position(struct line *line, const char *text)
{
	unsigned number;
	int used = 0;

	if (sscanf(text, "#line %u %n", &number, &used) != 1 || !used || !text[used])
		return false;
	line->number = number;
	if (strcmp(text + used, line->where))
		line->where = spec_keep(line->spec, text + used);
	return true;
}

static int read_lines(struct spec *spec, unsigned source, const char *name, const char *text, size_t length,
		      struct err *err)
{
	struct line *line = mem_zalloc(1, sizeof *line);
	bool fixed = false;
	int failed = 0;

	line->spec = spec;
	line->source = source;
	line->where = spec_keep(spec, name);
	line->err = err;
	/* Some editors begin a text with what says that it is UTF-8. */
	if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		length -= 3;
	}
	while (length && !failed) {
		const char *end = memchr(text, '\n', length);
		size_t size = end ? (size_t)(end - text) : length;
		char *copy = mem_alloc(size + 1);

		memcpy(copy, text, size);
		copy[size] = 0;
		line->number += !fixed;
		if (memchr(copy, 0, size)) {
			failed = BAD(line, "the line has a byte %d, which no text has", 0);
		} else if (!source && is_position(line, copy)) {
			fixed = true;
		} else {
			failed = split(line, copy);
			if (!failed && line->count)
				failed = statement_line(line);
		}
		free(copy);
		text += size + (end != NULL);
		length -= size + (end != NULL);
	}
	free(line);
	return failed;
}

int spec_add_text(struct spec *spec, const char *name, const char *text, size_t length, struct err *err)
{
	return read_lines(spec, 0, name, text, length, err);
}

int spec_add_file(struct spec *spec, const char *path, struct err *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), failed;
	char *text;
	size_t length = 0;
	ssize_t got;

	if (file < 0)
		return err_set(err, "cannot read the spec file %s: %s", path, strerror(errno));
	text = mem_alloc(MOST_BYTES + 1);
	while ((got = read(file, text + length, MOST_BYTES + 1 - length)) > 0)
		length += (size_t)got;
	if (got < 0)
		failed = err_set(err, "cannot read the spec file %s: %s", path, strerror(errno));
	else if (length > MOST_BYTES)
		failed = err_set(err, "%s: a spec file of more than 16 MiB is none", path);
	else
		failed = read_lines(spec, ++spec->files, path, text, length, err);
	close(file);
	free(text);
	return failed;
}

int spec_add_trace(struct spec *spec, const struct trace *trace, struct err *err)
{
	for (uint32_t i = 0; i < trace->module_count; i++) {
		const struct trace_module_table *m = &trace->modules[i];

		if (spec_add_text(spec, m->path, m->spec.data, m->spec.length, err))
			return -1;
	}
	return 0;
}
