/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does the chain from source to trace hold: compiler, pass, runtime, program.
 * Each step needs the one before, so the first that fails ends the chain.
 * Everything lies in one temporary folder that is gone afterwards, also when
 * the user interrupts.
 */
#include "cli/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/trace.h"
#include "cli/ccflags.h"
#include "cli/cli.h"
#include "elf/units.h"

extern char **environ;

struct chain {
	char *folder;
	char *self;
	char output[400]; /* the first line of what the last step said */
};

static const char source[] = "#include <pthread.h>\n"
			     "#include <stdio.h>\n"
			     "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
			     "static int sum;\n"
			     "static void *work(void *unused)\n"
			     "{\n"
			     "	pthread_mutex_lock(&lock);\n"
			     "	sum++;\n"
			     "	pthread_mutex_unlock(&lock);\n"
			     "	return unused;\n"
			     "}\n"
			     "int main(void)\n"
			     "{\n"
			     "	pthread_t thread;\n"
			     "	if (pthread_create(&thread, NULL, work, NULL))\n"
			     "		return 3;\n"
			     "	work(NULL);\n"
			     "	pthread_join(thread, NULL);\n"
			     "	puts(sum == 2 ? \"two\" : \"not two\");\n"
			     "	return sum != 2;\n"
			     "}\n";

static void first_line(struct chain *chain, const char *path)
{
	FILE *file = fopen(path, "re");

	chain->output[0] = 0;
	if (file && fgets(chain->output, sizeof chain->output, file))
		chain->output[strcspn(chain->output, "\n")] = 0;
	if (file)
		fclose(file);
}

/* Runs to the end; 0 if it ended with status 0. Errors come first in the output. */
static int step(struct chain *chain, char **argv)
{
	char *output = mem_textf("%s/output", chain->folder);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t child;
	int status = -1, error;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(&child, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (!error) {
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			continue;
		first_line(chain, output);
	} else {
		snprintf(chain->output, sizeof chain->output, "%s: %s", argv[0], strerror(error));
	}
	if (!error && status && !chain->output[0])
		snprintf(chain->output, sizeof chain->output,
			 WIFSIGNALED(status) ? "killed by signal %d" : "exit status %d",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	free(output);
	return status;
}

static char *inside(const struct chain *chain, const char *name)
{
	return mem_textf("%s/%s", chain->folder, name);
}

static int compiler(struct doctor *doctor, struct chain *chain)
{
	for (int cxx = 0; cxx < 2; cxx++) {
		const char *name = ccflags_compiler_name(cxx);
		const char *wanted = strrchr(name, '-') + 1;
		struct err err;
		char *path = ccflags_compiler(cxx, &err);
		const char *version;
		int works;

		if (!path) {
			doctor_say(doctor, DOCTOR_BROKEN, mem_text(err.text),
				   mem_textf("apt-get install clang-%s", wanted));
			return -1;
		}
		works = !step(chain, (char *[]){path, "--version", NULL});
		version = strstr(chain->output, "version ");
		version = version ? version + 8 : "";
		works = works && strspn(version, "0123456789") == strlen(wanted) &&
			!strncmp(version, wanted, strlen(wanted));
		if (works)
			doctor_say(doctor, DOCTOR_OK, mem_textf("%s is clang %s", path, version), NULL);
		else
			doctor_say(doctor, DOCTOR_BROKEN,
				   mem_textf("%s is not the clang that the pass was built for (%s): %s", path,
					     wanted, chain->output),
				   mem_textf("apt-get install --reinstall clang-%s", wanted));
		free(path);
		if (!works)
			return -1;
	}
	return 0;
}

static int write_source(const char *path)
{
	FILE *file = fopen(path, "we");
	int failed = !file || fputs(source, file) < 0;

	if (file && fclose(file))
		failed = 1;
	return failed;
}

static int build(struct doctor *doctor, struct chain *chain)
{
	char *file = inside(chain, "two.c"), *object = inside(chain, "two.o"),
	     *program = inside(chain, "two");
	int failed = write_source(file);

	if (failed) {
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_textf("%s cannot be written: %s", file, strerror(errno)),
			   mem_text("export TMPDIR to a folder with room"));
	} else if (step(chain, (char *[]){chain->self, "cc", "-c", file, "-o", object, NULL})) {
		failed = 1;
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_textf("the pass does not compile a program: %s", chain->output),
			   mem_text("build atomsan again with 'make', or install it again"));
	} else {
		doctor_say(doctor, DOCTOR_OK, mem_text("the pass compiles a program"), NULL);
		failed = step(chain, (char *[]){chain->self, "cc", object, "-o", program, NULL});
		if (failed)
			doctor_say(doctor, DOCTOR_BROKEN,
				   mem_textf("the runtime does not link: %s", chain->output),
				   mem_text("build atomsan again with 'make', or install it again"));
		else
			doctor_say(doctor, DOCTOR_OK, mem_text("the runtime links"), NULL);
	}
	free(file);
	free(object);
	free(program);
	return failed;
}

static int is_trace(const char *path)
{
	char magic[8] = "";
	FILE *file = fopen(path, "re");
	int good = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
		   !memcmp(magic, TRACE_MAGIC, sizeof magic);

	if (file)
		fclose(file);
	return good;
}

static void run_program(struct doctor *doctor, struct chain *chain)
{
	char *program = inside(chain, "two"), *trace = inside(chain, "two.atr");
	char *options = mem_textf("record=%s", trace);

	setenv("ATOMSAN_OPTIONS", options, 1);
	if (step(chain, (char *[]){program, NULL}))
		doctor_say(
			doctor, DOCTOR_BROKEN,
			mem_textf("an instrumented program does not run: %s", chain->output),
			mem_text("see the other lines that are broken; TMPDIR must allow programs to run"));
	else if (!is_trace(trace))
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_textf("an instrumented program runs and writes no trace: %s", chain->output),
			   mem_text("see the other lines that are broken"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("an instrumented program runs and writes a trace"),
			   NULL);
	unsetenv("ATOMSAN_OPTIONS");
	free(program);
	free(trace);
	free(options);
}

static void bitcode(struct doctor *doctor, struct chain *chain)
{
	char *program = inside(chain, "two");
	struct units units = {0};
	struct err err;

	if (units_read(&units, program, &err))
		doctor_say(doctor, DOCTOR_BROKEN, mem_text(err.text),
			   mem_text("build atomsan again with 'make'"));
	else if (!units.count)
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_text("the program carries no bitcode for static analysis"),
			   mem_text("unset ATOMSAN_BITCODE"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("the program carries its bitcode for static analysis"),
			   NULL);
	units_release(&units);
	free(program);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	return remove(path);
}

void doctor_toolchain(struct doctor *doctor)
{
	const char *temporary = getenv("TMPDIR");
	struct chain chain = {.folder = NULL};
	sigset_t interrupts, before;
	struct err err;

	chain.self = cli_self(&err);
	if (!chain.self) {
		doctor_say(doctor, DOCTOR_BROKEN, mem_text(err.text), mem_text("mount -t proc proc /proc"));
		return;
	}
	chain.folder = mem_textf("%s/atomsan-doctor-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigaddset(&interrupts, SIGTERM);
	sigaddset(&interrupts, SIGHUP);
	sigprocmask(SIG_BLOCK, &interrupts, &before);
	if (!mkdtemp(chain.folder)) {
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_textf("no folder can be made as %s: %s", chain.folder, strerror(errno)),
			   mem_text("export TMPDIR to a folder with room"));
	} else {
		if (!compiler(doctor, &chain) && !build(doctor, &chain)) {
			run_program(doctor, &chain);
			bitcode(doctor, &chain);
		}
		nftw(chain.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(chain.folder);
	free(chain.self);
}
