/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `atomsan lint`: what may fail to be atomic, without running the program. The
 * bitcode is read by a child (atomsan-lower), which hands the program over in
 * memory; the analyses run here.
 */
#include "cli/cli.h"
#include "cli/confirm.h"
#include "cli/cost.h"
#include "cli/publish.h"
#include "cli/repository.h"
#include "lint/print.h"
#include "lint/private.h"
#include "lint/result.h"
#include "lint/section.h"
#include "model/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const double default_confidence = 0.5;

static void show_step(const char *what)
{
	fprintf(stderr, "\r\033[Katomsan lint: %s", what);
}

static void end_steps(bool shown)
{
	if (shown)
		fputs("\r\033[K", stderr);
}

/* What the child said, without the end of the line. */
static void read_sentence(int fd, char *text, size_t room)
{
	size_t used = 0;
	ssize_t n;
	char rest[512];

	while (used + 1 < room && (n = read(fd, text + used, room - 1 - used)) > 0)
		used += (size_t)n;
	while (read(fd, rest, sizeof(rest)) > 0)
		;
	text[used] = 0;
	text[strcspn(text, "\n")] = 0;
}

static pid_t start(const char *lower, int image, int say, int count, char **files)
{
	char **argv = mem_zalloc((size_t)count + 3, sizeof(*argv)), number[16];
	pid_t child;

	snprintf(number, sizeof(number), "%d", image);
	argv[0] = (char *)lower;
	argv[1] = number;
	for (int i = 0; i < count; i++)
		argv[i + 2] = files[i];
	fflush(NULL);
	child = fork();
	if (!child) {
		dup2(say, STDERR_FILENO);
		fcntl(image, F_SETFD, 0);
		execv(lower, argv);
		dprintf(STDERR_FILENO, "'%s' cannot be run: %s\n", lower, strerror(errno));
		_exit(1);
	}
	free(argv);
	return child;
}

/* The program in the files, mapped; NULL with err set. */
static void *read_program(int count, char **files, size_t *size, struct err *err)
{
	char *lower = cli_part_lower(err), sentence[400];
	int image = memfd_create("atomsan-program", MFD_CLOEXEC), say[2], status = 0;
	struct stat st;
	void *memory = NULL;
	pid_t child;

	if (!lower)
		goto out;
	if (image < 0 || pipe2(say, O_CLOEXEC)) {
		err_set(err, "cannot start reading: %s", strerror(errno));
		goto out;
	}
	child = start(lower, image, say[1], count, files);
	close(say[1]);
	read_sentence(say[0], sentence, sizeof(sentence));
	close(say[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		err_set(err, "cannot start reading: %s", strerror(errno));
		goto out;
	}
	if (WIFSIGNALED(status)) {
		err_set(err,
			"LLVM cannot read the bitcode of '%s'%s, it is damaged (reading it ended with %s)",
			files[0], count > 1 ? " or of another of the files" : "",
			strsignal(WTERMSIG(status)));
		goto out;
	}
	if (status) {
		err_set(err, "%s", *sentence ? sentence : "the bitcode cannot be read");
		goto out;
	}
	if (fstat(image, &st) || !st.st_size ||
	    (memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, image, 0)) == MAP_FAILED) {
		memory = NULL;
		err_set(err, "the program that was read cannot be mapped: %s", strerror(errno));
		goto out;
	}
	*size = (size_t)st.st_size;
out:
	if (image >= 0)
		close(image);
	free(lower);
	return memory;
}

static int write_file(struct lint *lint, const char *path, const char *program,
		      void (*write)(FILE *out, struct lint *lint, const char *program), struct err *err)
{
	FILE *out = fopen(path, "we");
	int failed;

	if (!out)
		return err_set(err, "cannot write '%s': %s", path, strerror(errno));
	write(out, lint, program);
	failed = ferror(out);
	if (fclose(out) || failed)
		return err_set(err, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

/* What lint said before is taken back: the code may have changed. */
static int write_repository(struct lint *lint, const char *path, const char *program, bool quiet,
			    struct err *err)
{
	struct program_repository r;
	uint32_t count = 0;
	int failed = program_repository_open(&r, program, path, err);

	if (!failed) {
		repository_forget(&r.repository, ATOMICITY_LINT);
		count = section_add(lint, &r.repository, &r.table);
		failed = program_repository_save(&r, err);
	}
	if (!failed && !quiet)
		fprintf(stderr, "%s: %u sections, %u of them new by what the code looks like\n", r.path,
			r.repository.section_count, count);
	program_repository_release(&r);
	return failed;
}

/* Words up to a lone "--"; what stands behind it is the program's command line, NULL if there is none. */
static int split_words(int first, int argc, char **argv, char ***program)
{
	for (int i = first; i < argc; i++)
		if (!strcmp(argv[i], "--")) {
			*program = argv + i + 1;
			return i;
		}
	*program = NULL;
	return argc;
}

static int set_program(struct confirm *confirm, char **program, char *file, struct err *err)
{
	static char *alone[2];

	alone[0] = file;
	if (program && !*program)
		return err_set(err, "which program shall run? There is nothing behind '--'");
	return target_init(&confirm->target, program ? program : alone, err);
}

/* ---- what a spec file says of locks and threads ---- */

struct said {
	struct spec *spec;
	struct known *known; /* one for each answer; they live as long as the analysis */
	uint32_t count;
};

enum { SAID_MOST = 1024 };

static const struct known *known_by_spec(void *user, const char *name, const char *linkage_name)
{
	static const uint8_t kinds[] = {[SPEC_ROLE_LOCK] = KNOWN_LOCK,
					[SPEC_ROLE_UNLOCK] = KNOWN_UNLOCK,
					[SPEC_ROLE_THREAD] = KNOWN_CREATE};
	struct said *said = user;
	struct spec_role role = spec_role(said->spec, name, linkage_name);

	if (role.kind == SPEC_ROLE_NONE || said->count == SAID_MOST)
		return NULL;
	struct known *known = &said->known[said->count++];

	/* No handle: nobody is known to wait for such a thread. */
	*known = (struct known){.name = linkage_name,
				.kind = kinds[role.kind],
				.a = (int8_t)(role.what - 1),
				.b = (int8_t)((int)role.argument - 1),
				.c = -1};
	return known;
}

static int read_specs(struct said *said, struct err *err)
{
	const char *list = getenv("ATOMSAN_SPEC");
	char *files = mem_text(list ? list : ""), *rest = files, *file;
	int failed = 0;

	said->spec = spec_new();
	said->known = mem_zalloc(SAID_MOST, sizeof(*said->known));
	while (!failed && (file = strsep(&rest, ":")))
		if (*file)
			failed = spec_add_file(said->spec, file, err);
	free(files);
	return failed;
}

static bool always(void *user, const char *word)
{
	(void)user;
	(void)word;
	return true;
}

static void warn(void *user, const char *sentence)
{
	finding_add_blind_spot(user, sentence);
}

/* The files may be a part of a program that the spec file is about as a whole, so nothing is certain. */
static void check_names(const struct said *said, const struct program *program, struct finding_list *list)
{
	const struct spec_doubts doubts = {list, always, warn, true};
	struct spec_names *names = spec_names_new();
	struct err err;

	for (uint32_t i = 0; i < program->functions_count; i++) {
		spec_names_add(names, SPEC_FUNCTION, program_text(program, program->functions[i].name));
		spec_names_add(names, SPEC_FUNCTION, program_text(program, program->functions[i].linkage));
		spec_names_add(names, SPEC_TYPE, program_text(program, program->functions[i].receiver));
	}
	for (uint32_t i = 0; i < program->notes_count; i++)
		spec_names_add_member(names, program_text(program, program->notes[i].type),
				      program_text(program, program->notes[i].member));
	for (uint32_t i = 0; i < program->globals_count; i++)
		spec_names_add_variable(names, program_text(program, program->globals[i].file),
					program_text(program, program->globals[i].name));
	spec_check_names(said->spec, names, &doubts, &err);
	spec_names_free(names);
}

static int confidence_of(const char *text, double *confidence)
{
	char *end;

	if (!text)
		return 0;
	*confidence = strtod(text, &end);
	return end == text || *end || !(*confidence >= 0 && *confidence <= 1) ? -1 : 0;
}

static int run(int argc, char **argv)
{
	struct publish publish = {0};
	const char *confidence_text = NULL, *spec = NULL, *sections = NULL, *private = NULL,
		   *repository = NULL;
	int all = 0, dump = 0, stats = 0, confirming = 0;
	struct confirm confirm = {0};
	struct said said = {0};
	char **program;
	const struct cli_option options[] = {{"--all", NULL, &all},
					     {"--confidence", &confidence_text, NULL},
					     {"--spec", &spec, NULL},
					     {"--sections", &sections, NULL},
					     {"--private", &private, NULL},
					     {"--repository", &repository, NULL},
					     {"--dump", NULL, &dump},
					     {"--stats", NULL, &stats},
					     {"--confirm", NULL, &confirming},
					     CONFIRM_OPTIONS(confirm),
					     PUBLISH_OPTIONS(publish),
					     {NULL, NULL, NULL}};
	int end = split_words(1, argc, argv, &program);
	int first = cli_options_anywhere(&verb_lint, end, argv, options);
	double confidence = default_confidence;
	struct effort effort = {0};
	struct lint lint = {.effort = &effort};
	struct verdicts verdicts = {0};
	struct finding_list *list;
	struct err err;
	size_t size = 0;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first == end)
		return cli_failf(&verb_lint,
				 "no file was given: name a program, libraries, object files or bitcode");
	if (program && !confirming)
		return cli_failf(&verb_lint, "nothing is run, and '--' has no meaning, without --confirm");
	if (confirming && set_program(&confirm, program, argv[first], &err))
		return cli_fail(&verb_lint, &err);
	if (confidence_of(confidence_text, &confidence))
		return cli_failf(&verb_lint, "--confidence=%s is no number from 0 to 1", confidence_text);
	if (all)
		confidence = 0;
	if (spec)
		setenv("ATOMSAN_SPEC", spec, 1);
	if (read_specs(&said, &err) < 0)
		return cli_fail(&verb_lint, &err);
	bool shown = isatty(STDERR_FILENO);

	if (shown)
		show_step("reading");
	void *image = read_program(end - first, argv + first, &size, &err);

	if (!image || program_open(&lint.program, image, size, &err)) {
		end_steps(shown);
		return cli_fail(&verb_lint, &err);
	}
	lint.options.step = shown ? show_step : NULL;
	lint.options.known = known_by_spec;
	lint.options.user = &said;
	effort.seconds[EFFORT_READING] = cost_children();
	lint_run(&lint);
	verdict_all(&lint, &verdicts);
	end_steps(shown);
	if (dump)
		print_program(stdout, &lint);
	int failed = (sections && write_file(&lint, sections, argv[first], section_write, &err)) ||
		     (private && write_file(&lint, private, argv[first], private_write, &err)) ||
		     (repository && write_repository(&lint, repository, argv[first], publish.json, &err));

	list = finding_list_new("lint");
	list->program = finding_text(list, argv[first]);
	check_names(&said, &lint.program, list);
	result_add(&lint, &verdicts, confidence, list);
	if (stats)
		effort_count(&lint, list);
	if (stats && !publish.json)
		effort_print(&lint, stdout);
	vec_free(&verdicts.at);
	lint_release(&lint);
	munmap(image, size);
	spec_free(said.spec);
	free(said.known);
	if (failed)
		cli_fail(&verb_lint, &err);
	if (confirming) {
		finding_list_merge(list);
		confirm.spec = spec;
		if (confirm_all(&confirm, list, &err) < 0) {
			cli_fail(&verb_lint, &err);
			failed = true;
		}
		if (!publish.json)
			confirm_print(&confirm, stdout);
	}
	int status = findings_publish(&verb_lint, list, &publish);

	confirm_release(&confirm);
	return failed ? CLI_FAILED : status;
}

const struct verb verb_lint = {
	.name = "lint",
	.synopsis = "[OPTION...] FILE... [-- PROGRAM [ARGUMENT...]]",
	.summary = "find what may not be atomic, without running the program",
	.help = "  --confidence=N           report what is at least so sure, from 0 to 1; 0.5\n"
		"  --all                    report everything, as --confidence=0\n"
		"  --spec=FILE              what the sources do not say, see atomsan's spec files\n"
		"  --sections=FILE          write atomic sections, getters, setters and what is shared, as "
		"JSON\n"
		"  --private=FILE           write the places that only access data of one thread, as a spec "
		"file\n"
		"  --repository=FILE        add atomic sections, by their patterns, to the atomicity "
		"repository of the\n"
		"                           first FILE, a program\n"
		"  --dump                   first print the program as the analyses see it\n"
		"  --stats                  what it took, part by part: CPU time, and steps\n"
		"  --confirm                run PROGRAM (or the first FILE) under the scheduler, to "
		"reproduce\n"
		"                           each finding; with it:\n"
		"  --budget=N|Ns            runs, or seconds, for each finding; 100\n"
		"  --seed=N                 of the first random schedule; 1\n"
		"  -o, --output FOLDER      where schedules go; .atomsan/schedules beside the "
		"program\n" TARGET_HELP PUBLISH_HELP,
	.run = run,
};
