/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Noise (docs/noise.md), for every verb that runs a program:
 *
 *   struct noise noise = {0};
 *   const struct cli_option options[] = {..., NOISE_OPTIONS(noise), {NULL, NULL, NULL}};
 *   ...
 *   if (noise_apply(&noise, argv[first], db, &err) < 0)
 *           return cli_fail(&verb_x, &err);
 *
 * after which the environment asks for it. A verb that has no --seed of its own
 * takes NOISE_SEED_OPTION, too.
 */
#ifndef ATOMSAN_CLI_NOISE_H
#define ATOMSAN_CLI_NOISE_H

#include "cli/cli.h"

#include <stdint.h>

struct noise {
	const char *given, *budget, *seed;
};

#define NOISE_OPTIONS(noise)                            \
	{"+--noise", &(noise).given, NULL},             \
	{                                               \
		"--noise-budget", &(noise).budget, NULL \
	}
#define NOISE_SEED_OPTION(noise) {"--seed", &(noise).seed, NULL}

#define NOISE_HELP                                                                                    \
	"  --noise=random:N          let threads pause at N per mille of accesses and operations;\n"  \
	"  --noise=var:NAME:N        or at those of a variable, \"type.member\" or a global;\n"       \
	"  --noise=place:FILE:LINE:N or at a place;\n"                                                \
	"  --noise=findings[:N]      or at the places of the findings in the store. Behind N may\n"   \
	"                            stand :sleep, :yield or :busy, and behind that :MICROSECONDS.\n" \
	"                            As often as given\n"                                             \
	"  --noise-budget=PERCENT    of the time that a thread runs it may pause; 200, 0: no limit\n"
#define NOISE_SEED_HELP "  --seed=N                  of every random decision; printed if not given\n"

/* Puts it into ATOMSAN_OPTIONS, in front of what is there. `db` is the store, NULL: the program's. -1 with
 * err set where something is not understood. */
int noise_apply(const struct noise *noise, const char *program, const char *db, struct err *err);

/* The noise as the runtime's option has it, without seed and budget, which is looked at as well; "" for none.
 * The caller frees it; NULL with err set. */
char *noise_text(const struct noise *noise, const char *program, const char *db, struct err *err);

/* The seed that was given, or one that nobody can foresee. -1 with err set. */
int noise_choose_seed(const char *given, uint64_t *seed, struct err *err);

#endif
