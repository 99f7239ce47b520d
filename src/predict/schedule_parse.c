/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading schedules. The runtime reads the same file with less care, so what
 * is accepted here must be what it understands: names of threads, numbers that
 * do not overflow, one way of counting.
 */
#include "predict/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *path;
	uint32_t line;
	struct schedule *s;
	struct err *err;
	bool ended, counted;
};

static int wrong(const struct parser *p, const char *what)
{
	return err_set(p->err, "%s, line %" PRIu32 ": %s", p->path, p->line, what);
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef0123456789ABCDEF", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) % 16 : -1;
}

/* In place. False if a sign is written wrongly. */
static bool decode(char *text)
{
	char *to = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*to++ = *text;
			continue;
		}
		high = hex(text[1]);
		low = high < 0 ? -1 : hex(text[2]);
		if (low < 0 || !(high | low))
			return false;
		*to++ = (char)(high << 4 | low);
		text += 2;
	}
	*to = 0;
	return true;
}

static bool number(const char *text, uint64_t *n)
{
	*n = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || *n > (UINT64_MAX - 9) / 10)
			return false;
		*n = *n * 10 + (uint64_t)(*text - '0');
	}
	return true;
}

/* T0, T12, T1.2.3. */
static bool is_thread_name(const char *name)
{
	if (strlen(name) > 240 || *name++ != 'T')
		return false;
	for (;;) {
		size_t digits = strspn(name, "0123456789");

		if (!digits)
			return false;
		name += digits;
		if (!*name)
			return true;
		if (*name++ != '.')
			return false;
	}
}

static int parse_step(struct parser *p, char *rest)
{
	char *note = strstr(rest, " # "), *events;
	uint64_t n;

	if (p->ended)
		return wrong(p, "a step stands behind 'then'");
	if (note) {
		*note = 0;
		note += 3;
		if (!decode(note))
			return wrong(p, "a % is not followed by two hexadecimal digits");
	}
	events = strchr(rest, ' ');
	if (!events)
		return wrong(p, "a step is 'run THREAD EVENTS'");
	*events++ = 0;
	if (!is_thread_name(rest))
		return wrong(p, "that is no thread's name; they look like T0, T1 and T1.2");
	if (!number(events, &n))
		return wrong(p, "how far the thread runs must be a number of events");
	schedule_add(p->s, rest, n, note);
	return 0;
}

static int parse_text(struct parser *p, char **field, char *rest)
{
	if (!decode(rest))
		return wrong(p, "a % is not followed by two hexadecimal digits");
	if (*field)
		return wrong(p, "it says this for the second time");
	*field = mem_text(rest);
	return 0;
}

static int parse_end(struct parser *p, char *rest)
{
	char *first = !strncmp(rest, "serial ", 7) ? rest + 7 : NULL;

	if (p->ended || (!first && strcmp(rest, "serial") && strcmp(rest, "free")))
		return wrong(p, "it ends once, and either 'serial', 'serial THREAD' or 'free'");
	if (first && !is_thread_name(first))
		return wrong(p, "that is no thread's name; they look like T0, T1 and T1.2");
	p->ended = true;
	p->s->end = *rest == 'f' ? SCHEDULE_FREE : SCHEDULE_SERIAL;
	p->s->first = first ? mem_text(first) : NULL;
	return 0;
}

static int parse_line(struct parser *p, char *line)
{
	char *rest = strchr(line, ' ');
	char *argument;

	if (!*line || *line == '#')
		return 0;
	if (rest)
		*rest++ = 0;
	else
		rest = line + strlen(line);
	if (!strcmp(line, "run"))
		return parse_step(p, rest);
	if (!strcmp(line, "program"))
		return parse_text(p, &p->s->program, rest);
	if (!strcmp(line, "build-id"))
		return parse_text(p, &p->s->build_id, rest);
	if (!strcmp(line, "strategy"))
		return parse_text(p, &p->s->strategy, rest);
	if (!strcmp(line, "verdict"))
		return parse_text(p, &p->s->verdict, rest);
	if (!strcmp(line, "argument")) {
		if (!decode(rest))
			return wrong(p, "a % is not followed by two hexadecimal digits");
		argument = rest;
		p->s->arguments =
			mem_resize(p->s->arguments, p->s->argument_count + 1, sizeof *p->s->arguments);
		p->s->arguments[p->s->argument_count++] = mem_text(argument);
		return 0;
	}
	if (!strcmp(line, "environment")) {
		if (!decode(rest) || !strchr(rest, '=') || *rest == '=')
			return wrong(p, "a variable is NAME=VALUE");
		schedule_add_environment(p->s, rest);
		return 0;
	}
	if (!strcmp(line, "seed"))
		return number(rest, &p->s->seed) ? 0 : wrong(p, "the seed must be a number");
	if (!strcmp(line, "events")) {
		if (p->counted || (strcmp(rest, "every") && strcmp(rest, "first")))
			return wrong(p, "events are counted once, and either 'every' or 'first'");
		p->counted = true;
		p->s->every = *rest == 'e';
		return 0;
	}
	if (!strcmp(line, "then"))
		return parse_end(p, rest);
	return wrong(p, "a schedule has no such line");
}

struct schedule *schedule_parse(const char *text, size_t length, const char *path, struct err *err)
{
	struct parser p = {.path = path, .line = 1, .err = err};
	static const char begin[] = "atomsan schedule ";
	char *copy, *line, *next;
	uint64_t version;
	int failed = 0;

	if (length < sizeof begin || memcmp(text, begin, sizeof begin - 1) || memchr(text, 0, length)) {
		err_set(err, "%s: is not a schedule", path);
		return NULL;
	}
	copy = mem_alloc(length + 1);
	memcpy(copy, text, length);
	copy[length] = 0;
	p.s = schedule_new();
	for (line = copy; line && !failed; line = next, p.line++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (p.line > 1)
			failed = parse_line(&p, line);
		else if (!number(line + sizeof begin - 1, &version) || version != SCHEDULE_VERSION)
			failed = err_set(err, "%s: is a schedule of another version than %d", path,
					 SCHEDULE_VERSION);
	}
	if (!failed && !p.ended)
		failed = err_set(err, "%s: ends before its end: there is no line 'then'", path);
	if (!failed && !p.counted)
		failed = err_set(err, "%s: does not say which events are counted", path);
	free(copy);
	if (!failed)
		return p.s;
	schedule_free(p.s);
	return NULL;
}

struct schedule *schedule_read(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	struct schedule *s = NULL;
	char *text = NULL;
	size_t length = 0, room = 0, got = 1;

	if (!file) {
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	/* A folder opens, and fails only here. */
	errno = 0;
	while (got) {
		if (length == room) {
			room = room ? room * 2 : 1 << 16;
			text = mem_resize(text, room, 1);
		}
		got = fread(text + length, 1, room - length, file);
		length += got;
	}
	if (ferror(file))
		err_set(err, "%s: cannot be read: %s", path, strerror(errno ? errno : EIO));
	else
		s = schedule_parse(text, length, path, err);
	fclose(file);
	free(text);
	return s;
}
