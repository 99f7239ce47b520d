/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The verbs that look for something, one after the other, as a person would type
 * them: what the code suggests (lint), what one run shows (record, check), what
 * it makes possible (predict), which accesses meet (race), and what really
 * breaks when it is forced (explore). Each is a process of its own. What they
 * find is one list, in which a finding has the last word that was spoken about
 * it. `test` and `verify` are made of them.
 *
 *   struct steps steps = {0};
 *   const struct cli_option options[] = {..., STEPS_OPTIONS(steps), {NULL, NULL, NULL}};
 *   ...
 *   if (steps_begin(&steps, &verb_x, argv + first, db, &err) < 0)
 *           return cli_fail(&verb_x, &err);
 *   if (steps_take(&steps))
 *           ...
 *   return steps_end(&steps, status);
 */
#ifndef ATOMSAN_CLI_STEPS_H
#define ATOMSAN_CLI_STEPS_H

#include "cli/cli.h"
#include "cli/noise.h"
#include "finding/finding.h"

enum step { STEP_LINT, STEP_CHECK, STEP_PREDICT, STEP_RACE, STEP_EXPLORE, STEPS };

struct steps {
	const char *budget, *spec, *timeout, *expect_status, *expect_stdout, *check; /* as given */
	struct noise noise;
	bool quiet;
	bool with_predict; /* what is only possible is asked for, too; explore tries it in any case */
	unsigned race_runs;
	/* What came of them. */
	struct finding_list *all;
	struct finding_list *found[STEPS]; /* NULL: could not be done; their strings are used in all */
	char *trace;                       /* of the recorded run; NULL: there is none */
	/* their own */
	char *self, *folder;
	char **program;
	int program_words;
};

#define STEPS_OPTIONS(steps)                                                                              \
	{"--budget", &(steps).budget, NULL}, {"--spec", &(steps).spec, NULL},                             \
		{"--timeout", &(steps).timeout, NULL}, {"--expect-status", &(steps).expect_status, NULL}, \
		{"--expect-stdout", &(steps).expect_stdout, NULL}, {"--check", &(steps).check, NULL},     \
		NOISE_OPTIONS((steps).noise), NOISE_SEED_OPTION((steps).noise)

#define STEPS_HELP                                                                                 \
	"  --budget=N|Ns            runs under the scheduler, or seconds; 200\n"                   \
	"  --timeout=SECONDS        a run that takes longer has failed; 10\n"                      \
	"  --expect-status=N        exit status of a good run; 0\n"                                \
	"  --expect-stdout=FILE     what a good run prints\n"                                      \
	"  --check=COMMAND          shell command that judges what the program printed\n"          \
	"  --spec=FILE              what the sources do not say, see atomsan-spec(5)\n" NOISE_HELP \
		NOISE_SEED_HELP

/* argv is the program's. -1 with err set, and then there is nothing to end. */
int steps_begin(struct steps *steps, const struct verb *verb, char **argv, const char *db, struct err *err);
/* Takes them all, and says on standard error what came of each. False: a signal ended it, there is nothing to
 * tell. */
bool steps_take(struct steps *steps);
bool steps_any(const struct steps *steps); /* could be done */
/* Frees everything but `all`, which is whose it was given to, and returns the status; does not return after a
 * signal. */
int steps_end(struct steps *steps, int status);

#endif
