/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The atomicity repository of a program, for verbs that change it. */
#ifndef ATOMSAN_CLI_REPOSITORY_H
#define ATOMSAN_CLI_REPOSITORY_H

#include "elf/tables.h"
#include "repository/repository.h"

struct program_repository {
	char *path;
	struct repository repository;
	struct atomicity_table table; /* of the program's sites, with an index */
	struct tables tables;
	uint32_t *index;
	uint32_t before, lost; /* sections that the file had, and of them what the program does not have */
};

/* Reads a repository that must be there. -1 with err set; to be released in either case. */
int repository_open_given(struct repository *repository, const char *path, struct err *err);

/*
 * Reads the repository at `path` (NULL: PROGRAM.atomicity beside the program), or
 * begins an empty one, and moves it to this build of the program; what is lost by
 * that is told on standard error. -1 with err set; to be released in either case.
 */
int program_repository_open(struct program_repository *r, const char *program, const char *path,
			    struct err *err);
int program_repository_save(struct program_repository *r, struct err *err);
void program_repository_release(struct program_repository *r);

#endif
