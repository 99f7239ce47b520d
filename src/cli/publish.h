/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How a verb that finds something ends. findings_publish() leaves out what is
 * suppressed, stores the rest, prints it, and says what the exit status is.
 * The options for it are the same for all such verbs:
 *
 *   struct publish publish = {0};
 *   const struct cli_option options[] = {..., PUBLISH_OPTIONS(publish), {NULL, NULL, NULL}};
 *   ...
 *   return findings_publish(&verb_check, list, &publish);
 *
 * with PUBLISH_HELP at the end of the verb's help.
 */
#ifndef ATOMSAN_CLI_PUBLISH_H
#define ATOMSAN_CLI_PUBLISH_H

#include "cli/cli.h"
#include "finding/finding.h"

#include <stdio.h>

struct publish {
	int json, no_store, github;
	const char *db, *suppressions, *baseline, *report, *strip_path_prefix;
	FILE *out; /* NULL: standard output */
	bool told; /* findings were printed when they were found */
};

#define PUBLISH_OPTIONS(publish)                                                                  \
	{"--json", NULL, &(publish).json}, {"--db", &(publish).db, NULL},                         \
		{"--no-store", NULL, &(publish).no_store},                                        \
		{"--suppressions", &(publish).suppressions, NULL},                                \
		{"--baseline", &(publish).baseline, NULL}, {"--report", &(publish).report, NULL}, \
		{"--github", NULL, &(publish).github},                                            \
	{                                                                                         \
		"--strip-path-prefix", &(publish).strip_path_prefix, NULL                         \
	}

#define PUBLISH_HELP                                                                                    \
	"  --json                   one JSON document instead of text\n"                                \
	"  --report=FILE            write a report as well; the ending of FILE says which: .html\n"     \
	"                           .sarif .json .txt .perfetto.json\n"                                 \
	"  --github                 annotation lines for GitHub Actions after the text\n"               \
	"  --suppressions=FILE      what not to report, see atomsan-suppress(1); atomsan.supp if it\n"  \
	"                           exists\n"                                                           \
	"  --baseline=FILE          only findings that FILE does not have are reported and fail\n"      \
	"  --db=FILE                where findings are kept; .atomsan/findings.db beside the program\n" \
	"  --no-store               keep nothing\n"                                                     \
	"  --strip-path-prefix=P    show paths from behind P\n"

/* Takes the list over and frees it. Returns CLI_OK, CLI_FINDINGS or CLI_FAILED. What was found is printed
 * whatever else fails. */
int findings_publish(const struct verb *verb, struct finding_list *list, const struct publish *publish);

/* Writes a report to a file, "-" being standard output. 0, or -1 with err set. */
struct report_format;
struct report_options;
int findings_write(const char *path, const struct report_format *format, const struct finding_list *list,
		   const struct report_options *options, struct err *err);

#endif
