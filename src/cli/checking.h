/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the verbs that look for atomic-set serializability have in common: their options. */
#ifndef ATOMSAN_CLI_CHECKING_H
#define ATOMSAN_CLI_CHECKING_H

#include "analysis/serial.h"
#include "cli/cli.h"

struct spec;

struct checking {
	const char *sets, *units, *engine, *spec_files;
	int keep_at_waits, keep_loops, atomics, conflicts_only, every_cycle;
	struct spec *spec;
	struct finding_list
		*list; /* gets a sentence for each statement that says nothing; NULL: nobody asks */
};

#define CHECKING_OPTIONS(checking)                                                                          \
	{"--sets", &(checking).sets, NULL}, {"--units", &(checking).units, NULL},                           \
		{"--engine", &(checking).engine, NULL}, {"--spec", &(checking).spec_files, NULL},           \
		{"--keep-units-at-waits", NULL, &(checking).keep_at_waits},                                 \
		{"--keep-loop-units", NULL, &(checking).keep_loops},                                        \
		{"--atomics", NULL, &(checking).atomics}, {"--every-cycle", NULL, &(checking).every_cycle}, \
	{                                                                                                   \
		"--conflicts-only", NULL, &(checking).conflicts_only                                        \
	}

#define CHECKING_HELP                                                                                \
	"  --sets=objects|one       atomic sets: one per object (default), or everything in one\n"   \
	"  --units=WHAT             functions (default), sections, loops or declared\n"              \
	"  --spec=FILE              what the sources do not say, see atomsan-spec(5); FILE:FILE\n"   \
	"                           for several\n"                                                   \
	"  --engine=graph|clocks    conflict graph (default), or vector clocks\n"                    \
	"  --atomics                atomic and volatile data belongs to atomic sets, too\n"          \
	"  --conflicts-only         order units by conflicts alone, not by their thread\n"           \
	"  --every-cycle            tell what looks intended, too: what is tried again, taken and\n" \
	"                           given back, or over members that have nothing in common\n"       \
	"  --keep-units-at-waits    do not split units where their thread waits for others\n"        \
	"  --keep-loop-units        functions are units though a loop in them takes locks\n"

/* Before there is a trace: can the spec files be read? */
int checking_files(const struct checking *checking, struct err *err);
/* After the options were read: what they mean for this trace. */
int checking_prepare(struct checking *checking, const struct trace *trace, struct serial_options *options,
		     struct err *err);
void checking_release(struct checking *checking);
/* May there be units that no outermost call contains, or that do not end where it waits? */
bool checking_beyond_calls(const struct checking *checking);

#endif
