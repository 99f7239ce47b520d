/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Traces from one form to another: recorded, packed, STD text. */
#include "cli/cli.h"
#include "trace/output.h"
#include "trace/pack.h"
#include "trace/std.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct convert {
	const char *from, *to, *form, *units;
};

/* Text to a trace in a file of that name. */
static int import(const struct convert *c, const char *to, struct err *err)
{
	struct stat st;
	char *text;
	int fd = open(c->from, O_RDONLY | O_CLOEXEC);
	int failed;

	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, "%s: cannot open the file: %s", c->from, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (text == MAP_FAILED)
		return err_set(err, "%s: cannot map the file into memory: %s", c->from, strerror(errno));
	failed = std_import(text, (size_t)st.st_size, c->from, to, err);
	munmap(text, (size_t)st.st_size);
	return failed;
}

static int export(const struct convert *c, struct err *err)
{
	struct std_options options = {.functions = c->units && !strcmp(c->units, "functions")};
	struct trace *trace = trace_open(c->from, err);
	struct output output = {0};
	int failed;

	if (!trace)
		return -1;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	failed = c->to ? output_open(&output, c->to, err) : 0;
	if (!failed) {
		failed = std_export(trace, c->to ? output.file : stdout, &options, err);
		if (c->to && failed)
			output_abandon(&output);
		else if (c->to)
			failed = output_commit(&output, err);
	}
	trace_close(trace);
	errno = 0;
	if (!c->to && (fflush(stdout) || ferror(stdout)) && !failed)
		failed = err_set(err, "cannot write the output: %s", strerror(errno ? errno : EIO));
	return failed;
}

static int repack(const char *from, const char *to, bool packed, struct err *err)
{
	struct trace *trace = trace_open(from, err);
	int failed = trace ? trace_repack(trace, to, packed, err) : -1;

	trace_close(trace);
	return failed;
}

/* Text that is to be packed becomes a trace beside the target first. */
static int import_packed(const struct convert *c, struct err *err)
{
	char *between = mem_textf("%s.%ld.atr", c->to, (long)getpid());
	int failed = import(c, between, err);

	if (!failed)
		failed = repack(between, c->to, true, err);
	unlink(between);
	free(between);
	return failed;
}

/* 1: the file begins like a trace, 0: it does not, -1: it cannot be read. */
static int is_trace(const char *path, struct err *err)
{
	char start[sizeof TRACE_MAGIC - 1];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st)) {
		err_set(err, "%s: cannot open the file: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	n = S_ISREG(st.st_mode) ? read(fd, start, sizeof start) : -1;
	close(fd);
	if (n < 0)
		return err_set(err, "%s: this is not a regular file", path);
	if (!n)
		return err_set(err, "%s: the file is empty", path);
	return trace_is_one(start, (size_t)n);
}

static int convert(const struct convert *c, struct err *err)
{
	int trace = is_trace(c->from, err);
	const char *form = c->form ? c->form : trace ? "std" : "atr";
	bool packed = !strcmp(form, "packed");

	if (trace < 0)
		return -1;
	if (strcmp(form, "std") && strcmp(form, "atr") && !packed)
		return err_set(err, "--to=%s is not known; it is std, atr or packed", form);
	if (c->units && strcmp(c->units, "functions") && strcmp(c->units, "marked"))
		return err_set(err, "--units=%s is not known; it is marked or functions", c->units);
	if (!strcmp(form, "std"))
		return trace ? export(c, err) : err_set(err, "%s: the file is not a trace", c->from);
	if (!c->to)
		return err_set(err, "a binary trace needs a file to go to; add -o FILE");
	if (trace)
		return repack(c->from, c->to, packed, err);
	return packed ? import_packed(c, err) : import(c, c->to, err);
}

static int convert_run(int argc, char **argv)
{
	struct convert c = {0};
	struct err err;
	const struct cli_option options[] = {{"--to", &c.form, NULL},
					     {"-o", &c.to, NULL},
					     {"--units", &c.units, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_convert, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_convert, "needs one file; usage: atomsan convert %s",
				 verb_convert.synopsis);
	c.from = argv[first];
	return convert(&c, &err) ? cli_fail(&verb_convert, &err) : CLI_OK;
}

const struct verb verb_convert = {
	.name = "convert",
	.synopsis = "[--to=std|atr|packed] [-o FILE] [--units=marked|functions] FILE",
	.summary = "Turn a trace into STD text, text into a trace, or pack and unpack one",
	.help = "  --to=FORM      std: RAPID's text; atr: a trace that is not packed; packed: a\n"
		"                 trace compressed with zstd. Without it a trace becomes text and text\n"
		"                 a trace\n"
		"  -o FILE        write there; text goes to standard output without it\n"
		"  --units=KIND   what begins and ends in the text: units that the program marks\n"
		"                 (marked), or its outermost functions as well (functions)\n",
	.run = convert_run,
};
