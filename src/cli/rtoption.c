/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/rtoption.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Text or number as the table has them, of which one counts. */
struct value {
	const char *text;
	uint64_t number;
};

static const struct option {
	const char *name;
	struct value value;
} table[] = {
#define BOOL(value) {NULL, value}
#define NUMBER(value) {NULL, value}
#define TEXT(value) {value, 0}
#define X(type, name, value, help) {#name, type(value)},
#include "abi/options.inc"
#undef X
#undef BOOL
#undef NUMBER
#undef TEXT
};

static const struct {
	const char *name;
	uint64_t most;
} limits[] = {
#define X(type, name, value, help)
#define LIMIT(name, most) {#name, most},
#include "abi/options.inc"
#undef X
};

/* The runtime says of what is beyond that it is ignored. */
static bool is_allowed(const char *name, uint64_t number)
{
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (!strcmp(limits[i].name, name))
			return number <= limits[i].most;
	return true;
}

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	BUG_ON("no such option");
	return NULL;
}

/* What the environment says, the last of several; NULL: nothing. */
static char *given(const char *name)
{
	const char *p = getenv("ATOMSAN_OPTIONS"), *found = NULL;
	size_t length = strlen(name);

	for (; p && *p; p += strcspn(p, ":"), p += *p == ':')
		if (!strncmp(p, name, length) && p[length] == '=')
			found = p + length + 1;
	return found ? strndup(found, strcspn(found, ":")) : NULL;
}

char *rtoption_text(const char *name)
{
	const struct option *option = find(name);
	char *text = given(name);

	return text ? text : mem_text(option->value.text ? option->value.text : "");
}

uint64_t rtoption_number(const char *name)
{
	const struct option *option = find(name);
	uint64_t number = option->value.number;
	char *text = given(name), *end;

	if (text && !strcmp(text, "true"))
		number = 1;
	else if (text && !strcmp(text, "false"))
		number = 0;
	else if (text && *text >= '0' && *text <= '9') {
		uint64_t n = strtoull(text, &end, 10);

		if (!*end && is_allowed(name, n))
			number = n;
	}
	free(text);
	return number;
}
