/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ATOMSAN_OPTIONS, read once before the program runs. A wrong name or value
 * is said, with the nearest right one, and otherwise ignored: the program is
 * not ours to stop.
 */
#include "rt/rt.h"

#define BOOL bool
#define NUMBER uint64_t
#define TEXT const char *
struct rt_options rt_options = {
#define X(type, name, value, help) .name = value,
#include "abi/options.inc"
#undef X
};
#undef BOOL
#undef NUMBER
#undef TEXT

enum type { BOOL, NUMBER, TEXT };

static const struct option {
	const char *name;
	enum type type;
	const char *value;
	const char *help;
	uint64_t offset;
} table[] = {
#define X(type, name, value, help) {#name, type, #value, help, offsetof(struct rt_options, name)},
#include "abi/options.inc"
#undef X
};
enum { COUNT = sizeof table / sizeof *table };

static const struct {
	const char *name;
	uint64_t most;
} limits[] = {
#define X(type, name, value, help)
#define LIMIT(name, most) {#name, most},
#include "abi/options.inc"
#undef X
};

static const struct {
	const char *name, *words[4];
} choices[] = {
#define X(type, name, value, help)
#define CHOICE(name, ...) {#name, {__VA_ARGS__}},
#include "abi/options.inc"
#undef X
};

/* Values are copied here: the environment is the program's to change. */
static char storage[8192];

static uint64_t length(const char *s)
{
	uint64_t n = 0;

	while (s[n])
		n++;
	return n;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	uint64_t na = length(a), nb = length(b);

	if (na > 63 || nb > 63)
		return 63;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = row[j];
			row[j] = best;
		}
	}
	return row[nb];
}

static void unknown(const char *name)
{
	const char *near = NULL;
	unsigned least = 3;

	for (int i = 0; i < COUNT; i++) {
		unsigned d = distance(name, table[i].name);

		if (d < least) {
			least = d;
			near = table[i].name;
		}
	}
	if (near)
		rt_say("ATOMSAN_OPTIONS: there is no option '%s'; did you mean '%s'?", name, near);
	else
		rt_say("ATOMSAN_OPTIONS: there is no option '%s'; help=1 lists them", name);
}

static bool number(const char *text, uint64_t *value)
{
	uint64_t n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(*text - '0');
	}
	*value = n;
	return true;
}

static bool is_allowed(const char *name, const char *value, uint64_t n)
{
	for (uint64_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (same(name, limits[i].name) && n > limits[i].most) {
			rt_say("ATOMSAN_OPTIONS: %s is at most %u; %s=%s is ignored", name, limits[i].most,
			       name, value);
			return false;
		}
	for (uint64_t i = 0; i < sizeof choices / sizeof *choices; i++) {
		const char *const *word = choices[i].words;

		if (!same(name, choices[i].name))
			continue;
		while (*word && !same(value, *word))
			word++;
		if (!*word) {
			word = choices[i].words;
			rt_say("ATOMSAN_OPTIONS: %s is %s or %s%s%s; %s=%s is ignored", name, word[0],
			       word[1], word[2] ? " or " : "", word[2] ? word[2] : "", name, value);
			return false;
		}
	}
	return true;
}

static void set(const char *name, const char *value)
{
	for (int i = 0; i < COUNT; i++) {
		void *field = (char *)&rt_options + table[i].offset;
		uint64_t n = 0;

		if (!same(name, table[i].name))
			continue;
		if (table[i].type == TEXT) {
			if (is_allowed(name, value, 0))
				*(const char **)field = value;
		} else if (same(value, "true") || same(value, "false")) {
			n = same(value, "true");
		} else if (!number(value, &n)) {
			rt_say("ATOMSAN_OPTIONS: '%s' is no number (in %s=%s)", value, name, value);
			return;
		}
		if (table[i].type == BOOL)
			*(bool *)field = n != 0;
		else if (table[i].type == NUMBER && is_allowed(name, value, n))
			*(uint64_t *)field = n;
		return;
	}
	unknown(name);
}

void rt_options_read(const char *text)
{
	uint64_t n = length(text);
	char *p = storage;

	if (n >= sizeof storage) {
		rt_say("ATOMSAN_OPTIONS: longer than %u characters, ignored", (uint64_t)sizeof storage - 1);
		return;
	}
	for (uint64_t i = 0; i <= n; i++)
		storage[i] = text[i];
	while (*p) {
		char *name = p, *value = NULL;

		for (; *p && *p != ':'; p++) {
			if (*p == '=' && !value) {
				*p = 0;
				value = p + 1;
			}
		}
		if (*p)
			*p++ = 0;
		if (!*name)
			continue;
		if (value)
			set(name, value);
		else
			rt_say("ATOMSAN_OPTIONS: '%s' has no value; write %s=1", name, name);
	}
	if (!rt_options.help)
		return;
	rt_say("options of the runtime (ATOMSAN_OPTIONS=name=value:name=value)");
	for (int i = 0; i < COUNT; i++)
		rt_say("  %s (default %s): %s", table[i].name, table[i].value, table[i].help);
}
