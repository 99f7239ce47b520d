/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/cli.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VERB(id) &verb_##id,
static const struct verb *const verbs[] = {
#include "cli/verbs.inc"
	NULL};
#undef VERB

const struct verb *const *cli_verbs(void)
{
	return verbs;
}

static void usage(FILE *out)
{
	fputs("usage: atomsan VERB [OPTION]... [ARGUMENT]...\n\n"
	      "Finds atomicity violations in C and C++ programs.\n\n",
	      out);
	for (const struct verb *const *v = verbs; *v; v++)
		fprintf(out, "  %-9s %s\n", (*v)->name, (*v)->summary);
	fputs("\n'atomsan VERB -h' tells about one verb. Exit status: 0 clean, 66 findings, 1 the tool\n"
	      "failed or was misused, otherwise the program's own.\n",
	      out);
}

void cli_help(const struct verb *verb)
{
	printf("usage: atomsan %s %s\n\n%s.\n", verb->name, verb->synopsis, verb->summary);
	if (*verb->help)
		printf("\n%s", verb->help);
}

int cli_fail(const struct verb *verb, const struct err *err)
{
	fflush(stdout);
	fprintf(stderr, "atomsan %s: ", verb->name);
	/* It may name what stands in a damaged file. */
	text_put(stderr, err->text);
	fputc('\n', stderr);
	return CLI_FAILED;
}

int cli_failf(const struct verb *verb, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "atomsan %s: ", verb->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return CLI_FAILED;
}

/* Build systems like a compiler's name to be one word: atomsan-cc, atomsan-c++,
 * perhaps with a prefix, are links to this executable. */
static const struct verb *named_as_compiler(const char *name)
{
	static const struct verb *const compilers[] = {&verb_cc, &verb_cxx};

	for (int i = 0; i < 2; i++) {
		char ending[32];
		int n = snprintf(ending, sizeof ending, "atomsan-%s", compilers[i]->name);
		size_t length = strlen(name);

		if (length >= n && !strcmp(name + length - n, ending))
			return compilers[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct verb *compiler = argc ? named_as_compiler(argv[0]) : NULL;
	const char *names[64];
	const char *near;
	int n = 0;

	if (compiler)
		return compiler->run(argc, argv);
	if (argc < 2) {
		usage(stderr);
		return CLI_FAILED;
	}
	if (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("atomsan " ATOMSAN_VERSION);
		return CLI_OK;
	}
	for (const struct verb *const *v = verbs; *v; v++) {
		if (!strcmp(argv[1], (*v)->name))
			return (*v)->run(argc - 1, argv + 1);
		names[n++] = (*v)->name;
	}
	names[n] = NULL;
	near = cli_nearest(argv[1], names);
	fprintf(stderr, "atomsan: there is no verb '%s'%s%s%s; 'atomsan -h' lists them\n", argv[1],
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return CLI_FAILED;
}
