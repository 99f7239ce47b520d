/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan record`: run an instrumented program and keep what its threads do. */
#include "abi/trace.h"
#include "base/deaf.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ATOMSAN_OPTIONS with the trace's path before what the user has set already. */
static void set_options(const char *path, const char *max_size, int unfiltered, int values, int verbose)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	char *options =
		mem_textf("record=%s%s%s%s%s%s%s%s", path, max_size ? ":max_size=" : "",
			  max_size ? max_size : "", unfiltered ? ":filter=0" : "", values ? ":values=1" : "",
			  verbose ? ":verbosity=1" : "", old && *old ? ":" : "", old ? old : "");

	setenv("ATOMSAN_OPTIONS", options, 1);
	free(options);
}

/* How the program ended, for a trace whose program could not say it itself. */
static int note_end(const char *program, const char *path, int status, struct err *err)
{
	struct stat file;
	struct trace_header *header;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &file) < 0 || file.st_size < (off_t)TRACE_PAGE) {
		if (fd >= 0)
			close(fd);
		return err_set(err, "no trace was written to %s by %s: %s", path, program,
			       deaf_reason(program));
	}
	header = mmap(NULL, TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header != MAP_FAILED) {
		if (header->state == TRACE_RUNNING)
			header->exit_status = status;
		munmap(header, TRACE_PAGE);
	}
	close(fd);
	return 0;
}

static int run(int argc, char **argv)
{
	const char *path = "atomsan.atr", *max_size = NULL, *timeout = NULL;
	int unfiltered = 0, values = 0, verbose = 0;
	struct noise noise = {0};
	const struct cli_option options[] = {
		{"-o", &path, NULL},
		{"--output", &path, NULL},
		{"--max-size", &max_size, NULL},
		{"--timeout", &timeout, NULL},
		{"--all", NULL, &unfiltered},
		{"--values", NULL, &values},
		{"--verbose", NULL, &verbose},
		NOISE_OPTIONS(noise),
		NOISE_SEED_OPTION(noise),
		{NULL, NULL, NULL},
	};
	int first = cli_options(&verb_record, argc, argv, options), status;
	struct err err;
	char *absolute, *folder;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first >= argc)
		return cli_failf(&verb_record, "which program? usage: atomsan record %s",
				 verb_record.synopsis);
	if (strchr(path, ':'))
		return cli_failf(&verb_record, "the trace's name may not have a colon: %s", path);
	if (max_size && (!*max_size || strspn(max_size, "0123456789") != strlen(max_size)))
		return cli_failf(&verb_record, "--max-size takes megabytes, not '%s'", max_size);
	if (timeout && (!*timeout || strspn(timeout, "0123456789") != strlen(timeout) || strlen(timeout) > 7))
		return cli_failf(&verb_record, "--timeout=%s is no number of seconds", timeout);
	/* The program may change folders before the runtime opens the file. */
	folder = path[0] == '/' ? mem_text("") : getcwd(NULL, 0);
	absolute = mem_textf("%s%s%s", folder ? folder : "", path[0] == '/' ? "" : "/", path);
	free(folder);
	folder = mem_text(absolute);
	*strrchr(folder, '/') = 0;
	if (access(*folder ? folder : "/", W_OK | X_OK) < 0)
		return cli_failf(&verb_record, "%s: cannot be written: %s", path, strerror(errno));
	free(folder);
	if (folder_make_room(absolute, path, &err) < 0)
		return cli_fail(&verb_record, &err);
	if (noise_apply(&noise, argv[first], NULL, &err) < 0)
		return cli_fail(&verb_record, &err);
	set_options(absolute, max_size, unfiltered, values, verbose);
	if (child_start(&(struct child){.argv = argv + first}, &err) < 0 ||
	    child_wait(timeout ? (uint32_t)strtoul(timeout, NULL, 10) : 0, &status, &err) < 0)
		return cli_fail(&verb_record, &err);
	if (note_end(argv[first], absolute, status, &err) < 0)
		return cli_fail(&verb_record, &err);
	free(absolute);
	/* Killed for taking too long, which is no reason for us to die. */
	if (timeout && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return 128 + SIGKILL;
	return child_end(status);
}

const struct verb verb_record = {
	.name = "record",
	.synopsis = "[-o FILE] [OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program and write a trace of what its threads do",
	.help = "  -o, --output FILE   the trace (default atomsan.atr); an old one is replaced\n"
		"  --max-size MB       stop recording, not the program, when the trace is this big\n"
		"  --timeout SECONDS   end a run that takes longer; what it did is in the trace\n"
		"  --all               record every access, also those that repeat one already recorded\n"
		"  --values            record what each access found; predict goes by pointers then\n"
		"  --verbose           say what the runtime does\n" NOISE_HELP NOISE_SEED_HELP "\n"
		"The exit status is the program's own.\n",
	.run = run,
};
