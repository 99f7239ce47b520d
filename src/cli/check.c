/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Atomic-set serializability of a recorded run. */
#include "analysis/serial.h"
#include "cli/checking.h"
#include "cli/cli.h"
#include "cli/publish.h"
#include "trace/std.h"

static int run(int argc, char **argv)
{
	struct checking checking = {0};
	struct publish publish = {0};
	const struct cli_option options[] = {
		CHECKING_OPTIONS(checking), PUBLISH_OPTIONS(publish), {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_check, argc, argv, options), more, status = CLI_FAILED;
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first != argc - 1)
		return cli_failf(&verb_check, first == argc ? "there is no trace to check"
							    : "more than one trace was given");
	struct trace *trace = std_open(argv[first], &err);
	struct finding_list *list = finding_list_new("check");
	struct serial_options serial_options;

	checking.list = list;
	if (!trace || checking_prepare(&checking, trace, &serial_options, &err) < 0) {
		cli_fail(&verb_check, &err);
		goto out;
	}
	serial_describe_run(trace, list);
	struct serial *serial = serial_new(trace, &serial_options, list);
	struct trace_cursor *cursor = trace_cursor_open(trace);

	more = serial_all(serial, cursor);
	serial_finish(serial);
	serial_free(serial);
	if (more < 0)
		cli_fail(&verb_check, trace_cursor_error(cursor));
	trace_cursor_close(cursor);
	/* What was found before the damage is true all the same. */
	status = findings_publish(&verb_check, list, &publish);
	if (more < 0)
		status = CLI_FAILED;
	list = NULL;
out:
	finding_list_free(list);
	checking_release(&checking);
	trace_close(trace);
	return status;
}

const struct verb verb_check = {
	.name = "check",
	.synopsis = "[OPTION...] TRACE",
	.summary = "find atomicity violations in a recorded run",
	.help = CHECKING_HELP PUBLISH_HELP,
	.run = run,
};
