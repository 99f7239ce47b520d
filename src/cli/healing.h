/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of `atomsan heal` share: what is healed, in which program, and what came of it. */
#ifndef ATOMSAN_CLI_HEALING_H
#define ATOMSAN_CLI_HEALING_H

#include "abi/heal.h"
#include "cli/noise.h"
#include "cli/publish.h"
#include "cli/target.h"
#include "repository/repository.h"

struct healing {
	struct target target;
	struct publish publish;
	struct noise noise;
	const char *given;        /* --repository */
	const char *wait, *times; /* as given */
	int verify, from_findings, quiet, verbose;
	const char *finding; /* --verify: this one alone; NULL: all */
	char *path;          /* of the repository that the program is given */
	char *folder;        /* temporary, removed at the end */
	struct repository repository;
	bool damaged; /* there is more of it that could not be read */
	/* of each section, over all processes */
	uint64_t (*counters)[ATOMSAN_HEAL_COUNTERS];
	uint32_t processes;
	bool lost; /* some process could not tell */
	int ended; /* how the program did, as wait has it */
};

/* ---- healing_sources.c ---- */

/* Reads the repository, or makes one of the store's findings where there is none. -1 with err set. */
int healing_repository(struct healing *healing, struct err *err);
char *healing_db(const struct healing *healing);

/* ---- healing_verify.c ---- */

/* The failing schedules of the store's findings, without healing and with it. The exit status. */
int healing_verify(struct healing *healing);

/* ---- heal.c ---- */

/* ATOMSAN_OPTIONS for a program that is to be healed; the caller frees it. */
char *healing_options(const struct healing *healing);
/* The store is told that findings are healed, those for which `times` is not 0; `tell` (or NULL) adds what
 * was tried to the list of them. */
void healing_keep(const struct healing *healing,
		  uint64_t (*times)(const void *user, const struct finding *finding),
		  void (*tell)(const void *user, struct finding_list *list), const void *user);

#endif
