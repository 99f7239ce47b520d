/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where sections of the atomicity repository come from, other than the static
 * side: traces of runs that passed, findings, and what the user says in a spec
 * file. Each adds to a repository that was settled with the program's table of
 * sites (repository_settle).
 */
#ifndef ATOMSAN_LEARN_LEARN_H
#define ATOMSAN_LEARN_LEARN_H

#include "finding/finding.h"
#include "model/spec.h"
#include "repository/repository.h"

struct learn_counts {
	uint64_t accesses;  /* to data that threads share and write */
	uint32_t pairs;     /* that nobody broke */
	uint32_t fresh;     /* of them, sections that the repository did not have */
	uint32_t broken;    /* pairs that somebody broke */
	uint32_t brackets;  /* sections by annotation */
	uint32_t elsewhere; /* pairs of places that the table does not have: in a shared object */
};

/* One run that passed, recorded with every access. -1 with err set. */
int learn_trace(struct repository *repository, const struct atomicity_table *table, const char *path,
		struct learn_counts *counts, struct err *err);

/*
 * First and last access of each unit of the finding that was broken; returns how many sections that makes.
 * With halves also those of units that are shown with one access of an update, and no lock, which may be
 * broken as well, and what was broken in a run that failed, of which no unit is known: healing wants them,
 * but nobody has seen that they matter.
 */
uint32_t learn_finding(struct repository *repository, const struct atomicity_table *table,
		       const struct finding *finding, bool halves);

/* -1 with err set, a sentence with the statement's place: the program has no such access there. */
int learn_spec(struct repository *repository, const struct atomicity_table *table, const struct spec *spec,
	       uint32_t *added, struct err *err);

#endif
