/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One verb, one file, one entry in the table of verbs.inc. A verb gets its own
 * arguments (argv[0] is the verb's name) and returns the exit status: 0 clean,
 * 66 findings, 1 the tool failed or was misused, else the program's own.
 */
#ifndef ATOMSAN_CLI_CLI_H
#define ATOMSAN_CLI_CLI_H

#include "base/err.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_FINDINGS = 66 };

struct verb {
	const char *name;
	const char *synopsis; /* after "atomsan NAME ", one line; the man page has the same */
	const char *summary;  /* one line, for the list of verbs */
	const char *help;     /* options, one a line, ready to print; "" if none */
	int (*run)(int argc, char **argv);
};

#define VERB(id) extern const struct verb verb_##id;
#include "cli/verbs.inc"
#undef VERB

const struct verb *const *cli_verbs(void); /* NULL-terminated */

/* Print one sentence for this verb and return CLI_FAILED. */
int cli_fail(const struct verb *verb, const struct err *err);
int cli_failf(const struct verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_help(const struct verb *verb);

/*
 * Options of a verb, in any order before the first argument that is none, or
 * before "--". A long option's value follows "=" or is the next argument.
 */
struct cli_option {
	/* "--json" or "-o"; end of the table: NULL. With a '+' in front, "+--noise", it may be given several
	 * times: the values are joined, a newline behind each but the last. */
	const char *name;
	const char **text; /* takes a value, stored here (NULL: takes none) */
	int *flag;         /* set to 1 when seen */
};

/* Returns the index of the first argument, or -1 after printing what is wrong
 * (with "did you mean" for a near miss), or -2 after printing the help for -h. */
int cli_options(const struct verb *verb, int argc, char **argv, const struct cli_option *options);
/* For verbs whose arguments are no program's: options may stand anywhere among them; what is behind "--" is
 * none. Moves the arguments to the end of argv. */
int cli_options_anywhere(const struct verb *verb, int argc, char **argv, const struct cli_option *options);

/* Where the parts of atomsan lie: next to this executable, in a build folder or
 * installed. Each returns a path that the caller frees, or NULL with err set. */
char *cli_part_plugin(struct err *err);       /* atomsan-pass-22.so */
char *cli_part_runtime(struct err *err);      /* atomsan_rt.o */
char *cli_part_heal(struct err *err);         /* libatomsan_heal.a */
char *cli_part_dynamic_list(struct err *err); /* what executables must export */
char *cli_part_lower(struct err *err);        /* atomsan-lower, which reads bitcode */
char *cli_part_include(struct err *err);      /* the folder that has atomsan/atomsan.h */
char *cli_self(struct err *err);              /* absolute path of this executable */

/* The nearest of the words within a small edit distance, or NULL. */
const char *cli_nearest(const char *word, const char *const *words);

#endif
