/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/block.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 400 };

struct scan {
	unsigned braces, brackets; /* open ones; round and square ones count alike */
	bool comment;              /* inside one that goes over lines */
	bool directive;            /* the line before went on with a backslash */
	bool closed;               /* the outermost brace was closed, and perhaps that was the end */
};

static bool is_directive(struct scan *scan, const char *line)
{
	size_t length = strlen(line);
	bool directive = scan->directive || (!scan->comment && line[strspn(line, " \t")] == '#');

	scan->directive = directive && length && line[length - 1] == '\\';
	return directive;
}

/* Behind a text in quotes; one that does not end on its line ends with it. */
static const char *behind_quotes(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

/* Behind what is not code, if `at` is the beginning of such; else the same. */
static const char *behind_other(struct scan *scan, const char *at)
{
	if (scan->comment || !strncmp(at, "/*", 2)) {
		const char *end = strstr(scan->comment ? at : at + 2, "*/");

		scan->comment = !end;
		return end ? end + 2 : at + strlen(at);
	}
	if (!strncmp(at, "//", 2))
		return at + strlen(at);
	return *at == '"' || *at == '\'' ? behind_quotes(at) : at;
}

/* True if the character ends what the scan began with. */
static bool ends(struct scan *scan, char c)
{
	switch (c) {
	case '(':
	case '[':
		scan->brackets++;
		break;
	case ')':
	case ']':
		scan->brackets -= scan->brackets > 0;
		break;
	case '{':
		scan->braces++;
		break;
	case '}':
		if (!scan->braces)
			return true;
		scan->closed = !--scan->braces && !scan->brackets;
		break;
	case ';':
		return !scan->braces && !scan->brackets;
	default:
		break;
	}
	return false;
}

uint32_t block_end(struct source_files *files, const char *path, uint32_t line)
{
	struct scan scan = {0};
	uint32_t closed = 0;

	for (uint32_t number = line; number && number - line < LONGEST; number++) {
		const char *at = source_line(files, path, number);

		if (!at)
			return closed;
		if (is_directive(&scan, at))
			continue;
		while (*at) {
			const char *behind = behind_other(&scan, at);

			if (behind != at || isspace((unsigned char)*at)) {
				at = behind != at ? behind : at + 1;
				continue;
			}
			/* The members that a constructor initialises have braces, too; then the body follows.
			 */
			if (scan.closed && *at != ',' && *at != '{')
				return closed;
			scan.closed = false;
			if (ends(&scan, *at))
				return number;
			if (scan.closed)
				closed = number;
			at++;
		}
	}
	return scan.closed ? closed : 0;
}
