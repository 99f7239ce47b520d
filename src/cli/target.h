/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program that a verb runs again and again, and what a good run of it looks
 * like. The options are the same for all such verbs:
 *
 *   struct target target = {0};
 *   const struct cli_option options[] = {..., TARGET_OPTIONS(target), {NULL, NULL, NULL}};
 *   ...
 *   if (target_init(&target, argv + first, &err) < 0)
 *           return cli_fail(&verb_x, &err);
 */
#ifndef ATOMSAN_CLI_TARGET_H
#define ATOMSAN_CLI_TARGET_H

#include "cli/cli.h"
#include "predict/run.h"

struct target {
	const char *expect_stdout, *expect_status, *check, *timeout; /* as given */
	char **argv;
	char *path;     /* of the executable; NULL: not found, and exec will say so */
	char *build_id; /* NULL: none */
	char *output;   /* the expected one */
	size_t output_length;
	int status;
	uint32_t timeout_ms;
};

#define TARGET_OPTIONS(target)                                                                          \
	{"--expect-stdout", &(target).expect_stdout, NULL},                                             \
		{"--expect-status", &(target).expect_status, NULL}, {"--check", &(target).check, NULL}, \
	{                                                                                               \
		"--timeout", &(target).timeout, NULL                                                    \
	}

#define TARGET_HELP                                                                              \
	"  --expect-status=N      exit status of a good run; 0\n"                                \
	"  --expect-stdout=FILE   what a good run prints\n"                                      \
	"  --check=COMMAND        shell command that reads what the program printed; its exit\n" \
	"                         status is 0 for a good run\n"                                  \
	"  --timeout=SECONDS      a run that takes longer has failed; 10\n"

int target_init(struct target *target, char **argv, struct err *err);
void target_release(struct target *target);

/* A run of it, all but the strategy. */
struct run_setup target_setup(const struct target *target);

/* Where schedules of it go if nothing else was said: beside it. The caller frees it. */
char *target_schedules(const struct target *target);
/* With all folders above it. -1 with err set. */
int target_make_folder(const char *path, struct err *err);

/* The path that execvp would take; the caller frees it. NULL if there is none. */
char *target_find(const char *program);

#endif
