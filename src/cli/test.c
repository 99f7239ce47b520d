/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan test`: the whole job of a newcomer in one command (steps.h). */
#include "cli/publish.h"
#include "cli/steps.h"

static int run(int argc, char **argv)
{
	struct publish publish = {0};
	struct steps steps = {0};
	const struct cli_option options[] = {
		STEPS_OPTIONS(steps), PUBLISH_OPTIONS(publish), {NULL, NULL, NULL}};
	int first = cli_options(&verb_test, argc, argv, options), status;
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first == argc)
		return cli_failf(&verb_test, "there is no program to test");
	if (steps_begin(&steps, &verb_test, argv + first, publish.db, &err) < 0)
		return cli_fail(&verb_test, &err);
	steps.quiet = publish.json;
	if (!steps_take(&steps)) {
		finding_list_free(steps.all);
		status = CLI_FAILED;
	} else if (steps_any(&steps)) {
		status = findings_publish(&verb_test, steps.all, &publish);
		/* As with a spec file that speaks of another program: silence means nothing then. */
		if (status == CLI_OK && steps.trace && !steps.found[STEP_CHECK])
			status = cli_failf(&verb_test, "the recorded run was not checked");
	} else {
		finding_list_free(steps.all);
		status = cli_failf(&verb_test, "no step could be done; was %s built with 'atomsan cc'?",
				   argv[first]);
	}
	return steps_end(&steps, status);
}

const struct verb verb_test = {
	.name = "test",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Do everything: lint, record, check, race, predict, force; then tell what was found",
	.help = STEPS_HELP PUBLISH_HELP,
	.run = run,
};
