/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan doctor`: what will and will not work on this machine, and the fix. */
#include "cli/doctor.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static const char *const state_names[] = {"ok", "warning", "broken"};

void doctor_say(struct doctor *doctor, enum doctor_state state, char *what, char *mend)
{
	doctor->lines = mem_resize(doctor->lines, doctor->count + 1, sizeof *doctor->lines);
	doctor->lines[doctor->count++] = (struct doctor_line){state, what, mend};
}

static int count(const struct doctor *doctor, enum doctor_state state)
{
	int n = 0;

	for (int i = 0; i < doctor->count; i++)
		n += doctor->lines[i].state == state;
	return n;
}

static void print(const struct doctor *doctor)
{
	for (int i = 0; i < doctor->count; i++) {
		const struct doctor_line *line = &doctor->lines[i];

		printf("%-8s %s\n", state_names[line->state], line->what);
		if (line->mend)
			printf("         mend: %s\n", line->mend);
	}
}

/* A path in a message need not be UTF-8, as JSON's strings must be. */
static json_t *text(const char *what)
{
	json_t *string = what ? json_string(what) : NULL;

	return string ? string : json_null();
}

static void print_json(const struct doctor *doctor)
{
	json_t *checks = json_array();
	json_t *document =
		json_pack("{s:i, s:i, s:i, s:o}", "version", 1, "broken", count(doctor, DOCTOR_BROKEN),
			  "warnings", count(doctor, DOCTOR_WARNING), "checks", checks);

	for (int i = 0; i < doctor->count; i++) {
		const struct doctor_line *line = &doctor->lines[i];

		json_array_append_new(checks, json_pack("{s:s, s:o, s:o}", "state", state_names[line->state],
							"what", text(line->what), "mend", text(line->mend)));
	}
	json_dumpf(document, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(document);
}

static int run(int argc, char **argv)
{
	struct doctor doctor = {0};
	int json = 0;
	const struct cli_option options[] = {{"--json", NULL, &json}, {NULL, NULL, NULL}};
	int first = cli_options(&verb_doctor, argc, argv, options);
	int broken;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first < argc)
		return cli_failf(&verb_doctor, "'%s' is one argument too many; doctor takes none",
				 argv[first]);
	doctor_toolchain(&doctor);
	doctor_machine(&doctor);
	if (json)
		print_json(&doctor);
	else
		print(&doctor);
	broken = count(&doctor, DOCTOR_BROKEN);
	for (int i = 0; i < doctor.count; i++) {
		free(doctor.lines[i].what);
		free(doctor.lines[i].mend);
	}
	free(doctor.lines);
	return broken ? CLI_FAILED : CLI_OK;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.synopsis = "[--json]",
	.summary = "Say what will and will not work on this machine, and how to mend it",
	.help = "  --json    print the checks as JSON\n",
	.run = run,
};
