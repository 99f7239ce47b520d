/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Atomic-set serializability of a recorded run. */
#include "analysis/serial.h"
#include "cli/checking.h"
#include "cli/cli.h"
#include "report/json.h"
#include "report/text.h"
#include "trace/std.h"

#include <stdio.h>
#include <string.h>

static int run(int argc, char **argv)
{
	struct checking checking = {0};
	struct cli_option options[CHECKING_OPTIONS + 2];
	int json = 0, status;
	struct err err;

	checking_options(&checking, options);
	options[CHECKING_OPTIONS] = (struct cli_option){"--json", NULL, &json};
	options[CHECKING_OPTIONS + 1] = (struct cli_option){NULL, NULL, NULL};
	int first = cli_options(&verb_check, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first != argc - 1)
		return cli_failf(&verb_check, "give one trace; '%s' has %d arguments", verb_check.name,
				 argc - first);

	struct trace *trace = trace_open(argv[first], &err);

	if (!trace)
		return cli_fail(&verb_check, &err);
	struct finding_list *list = finding_list_new("check");
	struct serial_options serial_options;

	serial_describe_run(trace, list);
	if (checking_prepare(&checking, trace, &serial_options, &err) < 0) {
		status = cli_fail(&verb_check, &err);
		goto out;
	}
	struct serial *serial = serial_new(trace, &serial_options, list);
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event event;
	int more;

	while ((more = trace_next(cursor, &event)) > 0)
		serial_event(serial, &event);
	if (more < 0)
		err = *trace_cursor_error(cursor);
	serial_finish(serial);
	serial_free(serial);
	trace_cursor_close(cursor);
	if (more < 0) {
		status = cli_fail(&verb_check, &err);
		goto out;
	}
	struct report_options report;

	report_options_init(&report, stdout);
	if (json)
		report_json(stdout, list, &report);
	else
		report_text(stdout, list, &report);
	status = list->finding_count ? CLI_FINDINGS : CLI_OK;
out:
	checking_release(&checking);
	finding_list_free(list);
	trace_close(trace);
	return status;
}

const struct verb verb_check = {
	.name = "check",
	.synopsis = "[OPTION...] TRACE",
	.summary = "find atomicity violations in a recorded run",
	.help = CHECKING_HELP "--json                print one JSON document instead of text\n",
	.run = run,
};
