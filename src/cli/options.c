/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Edits (insert, drop, replace) that turn a into b. */
static int distance(const char *a, const char *b)
{
	enum { MAX = 63 };
	int row[MAX + 1];
	int na = (int)strlen(a), nb = (int)strlen(b);

	if (na > MAX || nb > MAX)
		return MAX;
	for (int j = 0; j <= nb; j++)
		row[j] = j;
	for (int i = 1; i <= na; i++) {
		int diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= nb; j++) {
			int best = diagonal + (a[i - 1] != b[j - 1]);

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

const char *cli_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	int least = 3;

	for (; *words; words++) {
		int d = distance(word, *words);

		if (d < least && d < (int)strlen(*words)) {
			least = d;
			best = *words;
		}
	}
	return best;
}

/* The name without the '+' of what may be repeated. */
static const char *plain(const struct cli_option *option)
{
	return option->name + (option->name[0] == '+');
}

static void store(const struct cli_option *option, const char *value)
{
	if (option->name[0] == '+' && *option->text)
		*option->text = mem_textf("%s\n%s", *option->text, value);
	else
		*option->text = value;
}

static const struct cli_option *find(const struct cli_option *options, const char *arg, size_t length)
{
	for (; options->name; options++) {
		const char *name = plain(options);

		if (strlen(name) == length && !strncmp(name, arg, length))
			return options;
	}
	return NULL;
}

static int unknown(const struct verb *verb, const struct cli_option *options, const char *arg)
{
	const char *names[64];
	const char *near;
	int n = 0;

	for (; options->name && n < 63; options++)
		names[n++] = plain(options);
	names[n] = NULL;
	near = cli_nearest(arg, names);
	if (near)
		cli_failf(verb, "there is no option '%s'; did you mean '%s'?", arg, near);
	else
		cli_failf(verb, "there is no option '%s'; 'atomsan %s -h' lists them", arg, verb->name);
	return -1;
}

int cli_options(const struct verb *verb, int argc, char **argv, const struct cli_option *options)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		const char *arg = argv[i];
		const char *equals = arg[1] == '-' ? strchr(arg, '=') : NULL;
		size_t length = equals ? (size_t)(equals - arg) : strlen(arg);
		const struct cli_option *option;

		if (!strcmp(arg, "--"))
			return i + 1;
		if (!strcmp(arg, "-h") || !strcmp(arg, "--help")) {
			cli_help(verb);
			return -2;
		}
		option = find(options, arg, length);
		if (!option)
			return unknown(verb, options, arg);
		if (option->flag)
			*option->flag = 1;
		if (!option->text) {
			if (!equals)
				continue;
			cli_failf(verb, "option '%s' takes no value", plain(option));
			return -1;
		}
		if (equals) {
			store(option, equals + 1);
		} else if (i + 1 < argc) {
			store(option, argv[++i]);
		} else {
			cli_failf(verb, "option '%s' needs a value", plain(option));
			return -1;
		}
	}
	return i;
}

/* How many words of argv this option takes. */
static int words_of(const struct cli_option *options, const char *word)
{
	for (; options->name; options++)
		if (!strcmp(plain(options), word))
			return options->text ? 2 : 1;
	return 1;
}

int cli_options_anywhere(const struct verb *verb, int argc, char **argv, const struct cli_option *options)
{
	char **sorted = mem_zalloc((unsigned long)argc + 1, sizeof(*sorted)), **arguments;
	int n = 0, rest = 0, i = 1;

	arguments = mem_zalloc((unsigned long)argc + 1, sizeof(*arguments));
	while (i < argc && strcmp(argv[i], "--") != 0) {
		if (argv[i][0] == '-' && argv[i][1]) {
			for (int words = words_of(options, argv[i]); words && i < argc; words--)
				sorted[n++] = argv[i++];
		} else {
			arguments[rest++] = argv[i++];
		}
	}
	while (i < argc)
		arguments[rest++] = argv[i++];
	memcpy(argv + 1, sorted, (size_t)n * sizeof(*argv));
	memcpy(argv + 1 + n, arguments, (size_t)rest * sizeof(*argv));
	free(sorted);
	free(arguments);
	int first = cli_options(verb, argc, argv, options);

	/* "--" may now stand behind arguments; it means nothing more. */
	for (int k = first < 0 ? argc : first; k < argc; k++)
		if (!strcmp(argv[k], "--")) {
			memmove(argv + first + 1, argv + first, (size_t)(k - first) * sizeof(*argv));
			return first + 1;
		}
	return first;
}
