/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan bitcode`: lists the translation units that travel inside a program,
 * or writes them to files that LLVM's own tools read. All files are read and
 * checked before the first one is written.
 */
#include "cli/cli.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/needed.h"
#include "elf/units.h"

static int read_libraries(struct units *units, const char *file, struct err *err)
{
	struct needed needed;
	int status = needed_read(&needed, file, err);

	for (int i = 0; i < needed.missing_count; i++)
		fprintf(stderr, "atomsan bitcode: %s was not found and is left out\n", needed.missing[i]);
	for (int i = 0; i < needed.count && !status; i++)
		status = units_read(units, needed.paths[i], err);
	needed_release(&needed);
	return status;
}

static int read_files(struct units *units, int count, char **files, int libs, struct err *err)
{
	for (int i = 0; i < count; i++) {
		int before = units->count;

		if (units_read(units, files[i], err) || (libs && read_libraries(units, files[i], err)))
			return -1;
		if (units->count == before)
			return err_set(
				err,
				"'%s' holds no bitcode: build it with 'atomsan cc' and without --no-bitcode",
				files[i]);
	}
	return 0;
}

static void list(const struct units *units)
{
	for (int i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];

		printf("%3d %9zu  %s  %s\n", i + 1, unit->size, unit->source ? unit->source : "?",
		       unit->file);
	}
}

static int list_json(const struct units *units)
{
	json_t *all = json_array();
	json_t *document = json_pack("{s:i, s:o}", "version", 1, "units", all);
	int failed;

	for (int i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];
		/* A file's name need not be UTF-8, as JSON's strings must be. */
		json_t *source = unit->source ? json_string(unit->source) : NULL;
		json_t *file = json_string(unit->file);

		json_array_append_new(all, json_pack("{s:i, s:I, s:o, s:o}", "number", i + 1, "size",
						     (json_int_t)unit->size, "source",
						     source ? source : json_null(), "file",
						     file ? file : json_null()));
	}
	failed = json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
	return failed;
}

/* The last part of the source's name, without what a shell would take for something else. */
static char *file_name(const struct unit *unit, int number)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
	const char *slash = unit->source ? strrchr(unit->source, '/') : NULL;
	char *base = mem_text(slash ? slash + 1 : unit->source ? unit->source : "");
	char *name;

	for (char *c = base; *c; c++)
		if (!strchr(plain, *c))
			*c = '_';
	name = *base ? mem_textf("%03d-%.200s.bc", number, base) : mem_textf("%03d.bc", number);
	free(base);
	return name;
}

static int write_unit(const char *folder, const struct unit *unit, int number, struct err *err)
{
	char *name = file_name(unit, number);
	char *path = mem_textf("%s/%s", folder, name);
	FILE *file = fopen(path, "we");
	int failed = !file || fwrite(unit->bytes, 1, unit->size, file) != unit->size;

	if (file && fclose(file))
		failed = 1;
	if (failed) {
		err_set(err, "cannot write '%s': %s", path, strerror(errno));
		if (file)
			unlink(path);
	}
	free(name);
	free(path);
	return -failed;
}

static int write_all(const char *folder, const struct units *units, struct err *err)
{
	if (mkdir(folder, 0777) && errno != EEXIST)
		return err_set(err, "cannot make the folder '%s': %s", folder, strerror(errno));
	for (int i = 0; i < units->count; i++)
		if (write_unit(folder, &units->at[i], i + 1, err))
			return -1;
	return 0;
}

static int run(int argc, char **argv)
{
	const char *folder = NULL;
	int do_list = 0, libs = 0, json = 0;
	const struct cli_option options[] = {
		{"-l", NULL, &do_list},  {"-o", &folder, NULL}, {"--libs", NULL, &libs},
		{"--json", NULL, &json}, {NULL, NULL, NULL},
	};
	int first = cli_options_anywhere(&verb_bitcode, argc, argv, options);
	struct units units = {0};
	struct err err;
	int failed;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first == argc)
		return cli_failf(&verb_bitcode,
				 "no file was given: name an executable, a library or an object file");
	failed = read_files(&units, argc - first, argv + first, libs, &err) ||
		 (folder && write_all(folder, &units, &err));
	if (!failed && json)
		list_json(&units);
	else if (!failed && (do_list || !folder))
		list(&units);
	units_release(&units);
	if (failed)
		return cli_fail(&verb_bitcode, &err);
	if (fflush(stdout) || ferror(stdout))
		return cli_failf(&verb_bitcode, "cannot write the list: %s", strerror(errno));
	return CLI_OK;
}

const struct verb verb_bitcode = {
	.name = "bitcode",
	.synopsis = "[-l] [-o DIR] [--libs] [--json] FILE...",
	.summary = "List or extract the bitcode inside programs, libraries and object files",
	.help = "  -l        list number, size, source file and where it was found; without -o the default\n"
		"  -o DIR    write each as DIR/NUMBER-NAME.bc, for llvm-link, opt and the like\n"
		"  --libs    also of the shared libraries that the program would load\n"
		"  --json    list as JSON\n",
	.run = run,
};
