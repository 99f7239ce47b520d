/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Atomicity violations that a recorded run makes possible, and schedules that lead to them. */
#include "analysis/foretell.h"
#include "cli/checking.h"
#include "cli/cli.h"
#include "cli/publish.h"
#include "trace/std.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEDULES 100

static int run(int argc, char **argv)
{
	struct checking checking = {0};
	struct publish publish = {0};
	struct foretell_options wanted = {.schedules = SCHEDULES};
	const char *schedules = NULL;
	int one_variable = 0;
	const struct cli_option options[] = {{"-o", &wanted.folder, NULL},
					     {"--schedules", &schedules, NULL},
					     {"--one-variable", NULL, &one_variable},
					     {"--every-cycle", NULL, &checking.every_cycle},
					     {"--sets", &checking.sets, NULL},
					     {"--units", &checking.units, NULL},
					     {"--spec", &checking.spec_files, NULL},
					     {"--keep-units-at-waits", NULL, &checking.keep_at_waits},
					     {"--keep-loop-units", NULL, &checking.keep_loops},
					     {"--atomics", NULL, &checking.atomics},
					     PUBLISH_OPTIONS(publish),
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_predict, argc, argv, options), status = CLI_FAILED, failed;
	struct serial_options serial_options;
	struct foretell_stats stats;
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first != argc - 1)
		return cli_failf(&verb_predict, first == argc ? "there is no trace to predict from"
							      : "more than one trace was given");
	if (schedules) {
		char *end;
		unsigned long long value;

		errno = 0;
		value = strtoull(schedules, &end, 10);
		if (errno || *end || *schedules < '0' || *schedules > '9' || value > 1000000)
			return cli_failf(&verb_predict, "--schedules=%s is no number up to 1000000",
					 schedules);
		wanted.schedules = (uint32_t)value;
	}
	struct trace *trace = std_open(argv[first], &err);
	struct finding_list *list = finding_list_new("predict");

	checking.list = list;
	if (!trace || checking_prepare(&checking, trace, &serial_options, &err) < 0) {
		cli_fail(&verb_predict, &err);
		goto out;
	}
	if (wanted.folder && trace->header.flags & TRACE_IMPORTED) {
		cli_failf(&verb_predict, "%s is a text, and there is no program to schedule", argv[first]);
		goto out;
	}
	serial_describe_run(trace, list);
	wanted.model = serial_options.model;
	wanted.every_pattern = checking.every_cycle;
	wanted.predict.no_pairs = wanted.predict.no_cycles = one_variable;
	failed = foretell(trace, &wanted, list, &stats, &err);
	if (failed)
		cli_fail(&verb_predict, &err);
	if (!failed && stats.harmless && !publish.json)
		printf("%" PRIu64
		       " predicted orders do no harm and are left out; --every-cycle tells them, too.\n\n",
		       stats.harmless);
	status = findings_publish(&verb_predict, list, &publish);
	list = NULL;
	if (failed)
		status = CLI_FAILED;
out:
	finding_list_free(list);
	checking_release(&checking);
	trace_close(trace);
	return status;
}

const struct verb verb_predict = {
	.name = "predict",
	.synopsis = "[OPTION...] TRACE",
	.summary = "find atomicity violations that a recorded run makes possible",
	.help = "  -o DIR                   write schedules into DIR, for atomsan replay and explore\n"
		"  --schedules=N            at most N of them (100)\n"
		"  --one-variable           only patterns over one variable, as in the paper\n"
		"  --every-cycle            tell what looks intended, too: what is tried again, taken and\n"
		"                           given back, or over members that have nothing in common\n"
		"  --sets=objects|one       atomic sets: one per object (default), or everything in one\n"
		"  --units=WHAT             functions (default), sections, loops or declared\n"
		"  --spec=FILE              what the sources do not say, see atomsan-spec(5); FILE:FILE\n"
		"                           for several\n"
		"  --atomics                atomic and volatile data belongs to atomic sets, too\n"
		"  --keep-units-at-waits    do not split units where their thread waits for others\n"
		"  --keep-loop-units        functions are units though a loop in them takes "
		"locks\n" PUBLISH_HELP,
	.run = run,
};
