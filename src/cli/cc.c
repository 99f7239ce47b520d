/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan cc` and `atomsan c++`: clang, with the flags that make the program
 * come out instrumented. The wrapper becomes clang (exec), so diagnostics, exit
 * status and signals are clang's own.
 */
#include "abi/heal.h"
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ccflags.h"
#include "cli/ccline.h"
#include "cli/repository.h"
#include "elf/tables.h"

/* In single quotes where a shell would see more than a word. */
static void print_quoted(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=/.,:@%";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static int print_flags(const struct verb *verb, struct ccflags *flags, int failed, struct err *err)
{
	for (int i = 0; i < flags->count && !failed; i++) {
		if (i)
			putchar(' ');
		print_quoted(flags->words[i]);
	}
	ccflags_release(flags);
	if (failed)
		return cli_fail(verb, err);
	putchar('\n');
	return CLI_OK;
}

static int print(const struct verb *verb, int cxx, int argc, char **argv)
{
	static const char *const names[] = {"cflags", "ldflags", "compiler", "include",
					    "plugin", "runtime", NULL};
	const char *what = argc == 3 ? argv[2] : "";
	struct ccflags flags = {.count = 0};
	struct err err;
	const char *near;
	char *path;

	if (!strcmp(what, "cflags")) {
		int failed;

		ccflags_quietly(&flags, 1);
		failed = ccflags_compile(&flags, 0, &err) || ccflags_include(&flags, &err);
		ccflags_quietly(&flags, 0);
		return print_flags(verb, &flags, failed, &err);
	}
	if (!strcmp(what, "ldflags"))
		return print_flags(verb, &flags, ccflags_link(&flags, &err), &err);
	if (!strcmp(what, "compiler"))
		path = ccflags_compiler(cxx, &err);
	else if (!strcmp(what, "include"))
		path = cli_part_include(&err);
	else if (!strcmp(what, "plugin"))
		path = cli_part_plugin(&err);
	else if (!strcmp(what, "runtime"))
		path = cli_part_runtime(&err);
	else if ((near = cli_nearest(what, names)))
		return cli_failf(verb, "there is no '%s' to print; did you mean '%s'?", what, near);
	else
		return cli_failf(
			verb,
			"--print takes one word: cflags, ldflags, compiler, include, plugin or runtime");
	if (!path)
		return cli_fail(verb, &err);
	print_quoted(path);
	putchar('\n');
	free(path);
	return CLI_OK;
}

static void append(const struct ccflags *flags, char **out, int *n)
{
	for (int i = 0; i < flags->count; i++)
		out[(*n)++] = flags->words[i];
}

/* The pass runs inside clang and learns from the environment what was asked for. */
static void tell_plugin(const struct ccline *line)
{
	if (line->specs)
		setenv("ATOMSAN_SPEC", line->specs, 1);
	if (line->no_bitcode)
		setenv("ATOMSAN_BITCODE", "0", 1);
	if (line->early)
		setenv("ATOMSAN_EARLY", "1", 1);
	if (line->heal)
		setenv("ATOMSAN_HEAL", line->heal, 1);
}

struct command {
	char *compiler;
	char **words;
	struct ccflags before, after;
};

/* The whole command line. `heal`: with the runtime for the field. */
static int prepare(struct command *command, int cxx, const struct ccline *line, int heal, struct err *err)
{
	int n = 0, failed = 0;

	*command = (struct command){.compiler = ccflags_compiler(cxx, err)};
	ccflags_quietly(&command->before, 1);
	ccflags_quietly(&command->after, 1);
	if (!command->compiler || ccflags_compile(&command->before, line->heal != NULL, err) ||
	    ccflags_include(&command->after, err))
		return -1;
	ccflags_quietly(&command->before, 0);
	ccflags_quietly(&command->after, 0);
	if (line->link == CCLINE_EXECUTABLE && !line->heal)
		failed = ccflags_link(&command->after, err);
	else if (line->link == CCLINE_EXECUTABLE && heal)
		failed = ccflags_link_heal(&command->after, err);
	else if (line->link == CCLINE_SHARED)
		ccflags_shared(&command->after);
	if (failed)
		return -1;
	command->words = mem_zalloc(1 + command->before.count + line->word_count + line->argument_count +
					    command->after.count + 1,
				    sizeof *command->words);
	command->words[n++] = (char *)ccflags_compiler_name(cxx);
	append(&command->before, command->words, &n);
	ccline_rest(line, 0, line->end, command->words, &n);
	append(&command->after, command->words, &n);
	ccline_rest(line, line->end, line->argument_count, command->words, &n);
	return 0;
}

static int cannot_run(const struct verb *verb, const struct command *command)
{
	return cli_failf(verb, "cannot run %s: %s%s", command->compiler, strerror(errno),
			 errno == E2BIG ? "; use a response file" : "");
}

/*
 * A program without a section of the repository must be as if built without us,
 * and the functions that lock would bring the runtime along. So it is looked at
 * when it is linked, and linked again if there is nothing in it to heal. Returns
 * only if that is so, or with a status.
 */
static int link_with_healing(const struct verb *verb, int cxx, const struct ccline *line, struct err *err)
{
	struct command command;
	int status;
	pid_t child;

	if (prepare(&command, cxx, line, 1, err))
		return cli_fail(verb, err);
	child = fork();
	if (!child) {
		execv(command.compiler, command.words);
		_exit(cannot_run(verb, &command));
	}
	if (child < 0)
		return cli_failf(verb, "cannot start another process: %s", strerror(errno));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return cli_failf(verb, "lost the compiler: %s", strerror(errno));
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
	return tables_has_section(ccline_output(line), ATOMSAN_HEAL_TABLE) ? CLI_OK : -1;
}

/* One that is damaged somewhere is used up to there, and the pass says so. One that nothing can be had from
 * would make a program that is healed of nothing. */
static int check_repository(const char *path, struct err *err)
{
	struct repository repository = {0};
	int failed = repository_open_given(&repository, path, err) < 0 && !repository.section_count;

	repository_release(&repository);
	return failed;
}

/* Its sections would have no gates: those are in an executable, for what is its own. */
static int refuse_shared(const struct verb *verb, const struct ccline *line)
{
	unlink(ccline_output(line));
	return cli_failf(verb,
			 "%s would have sections, and shared objects are not healed in the field: link its "
			 "parts into the executable, or heal the tested build with 'atomsan heal'",
			 ccline_output(line));
}

/* Returns only if clang could not be started, or has been. */
static int compile(const struct verb *verb, int cxx, struct ccline *line, struct err *err)
{
	struct command command;
	int status;

	if (line->heal && check_repository(line->heal, err))
		return cli_fail(verb, err);
	tell_plugin(line);
	if (line->heal && (line->link == CCLINE_EXECUTABLE || line->link == CCLINE_SHARED)) {
		status = link_with_healing(verb, cxx, line, err);
		if (status == CLI_OK && line->link == CCLINE_SHARED)
			return refuse_shared(verb, line);
		if (status >= 0 || line->link == CCLINE_SHARED)
			return status > 0 ? status : CLI_OK;
	}
	if (prepare(&command, cxx, line, 0, err))
		return cli_fail(verb, err);
	execv(command.compiler, command.words);
	return cannot_run(verb, &command);
}

static int run_compiler(const struct verb *verb, int cxx, int argc, char **argv)
{
	struct ccline line;
	struct err err;
	int status;

	if (argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"))) {
		cli_help(verb);
		return CLI_OK;
	}
	if (argc >= 2 && !strcmp(argv[1], "--print"))
		return print(verb, cxx, argc, argv);
	status = ccline_read(&line, argc - 1, argv + 1, &err) ? cli_fail(verb, &err)
							      : compile(verb, cxx, &line, &err);
	ccline_release(&line);
	return status;
}

static int run_cc(int argc, char **argv)
{
	return run_compiler(&verb_cc, 0, argc, argv);
}

static int run_cxx(int argc, char **argv)
{
	return run_compiler(&verb_cxx, 1, argc, argv);
}

#define SYNOPSIS "[--spec=FILE]... [--no-bitcode] [--early] [--heal=FILE] [--print WHAT] [CLANG-ARGUMENT]..."
#define HELP                                                                                               \
	"  --spec=FILE    what to leave out, in a file; also from ATOMSAN_SPEC, separated by colons\n"     \
	"  --no-bitcode   leave the bitcode out of the object files, which get smaller\n"                  \
	"  --early        instrument accesses before optimisation: all that the source has, slower\n"      \
	"  --heal=FILE    for the field: only what this atomicity repository names is instrumented, and\n" \
	"                 healed; also from ATOMSAN_HEAL\n"                                                \
	"  --print WHAT   print cflags, ldflags, compiler, include, plugin or runtime, for builds that\n"  \
	"                 call clang themselves, and do nothing else; the first argument\n"                \
	"\nEverything else is clang's. 'atomsan-cc' and 'atomsan-c++' are the same as one word.\n"

const struct verb verb_cc = {
	.name = "cc",
	.synopsis = SYNOPSIS,
	.summary = "Compile and link C as clang does, instrumented",
	.help = HELP,
	.run = run_cc,
};

const struct verb verb_cxx = {
	.name = "c++",
	.synopsis = SYNOPSIS,
	.summary = "Compile and link C++ as clang++ does, instrumented",
	.help = HELP,
	.run = run_cxx,
};
