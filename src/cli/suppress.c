/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes a suppression for a finding. */
#include "finding/suppress.h"
#include "base/text.h"
#include "cli/findings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One write at the end of the file, so that two of us do not mix their lines. */
static int append(const char *path, const char *line, struct err *err)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char last = '\n';
	int failed = 0;

	/* A line that somebody left without its end is not made longer. */
	if (end > 0 && pread(fd, &last, 1, end - 1) != 1)
		last = '\n';
	char *text = mem_textf("%s%s\n", last == '\n' ? "" : "\n", line);
	size_t length = strlen(text);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		failed = err_set(err, "cannot write %s: %s", path, strerror(errno));
	if (fd >= 0 && close(fd) && !failed)
		failed = err_set(err, "cannot write %s: %s", path, strerror(errno));
	free(text);
	return failed;
}

static int write_line(const struct finding *finding, enum suppress_what what, const char *reason,
		      const char *until, const char *file, int json)
{
	struct err err;
	char *line = suppress_line(finding, what, reason, until, &err);

	if (!line)
		return cli_fail(&verb_suppress, &err);
	int failed = append(file, line, &err);

	if (failed) {
		cli_fail(&verb_suppress, &err);
	} else if (json) {
		fputs("{\"version\":1,\"file\":", stdout);
		text_json(stdout, file);
		fputs(",\"line\":", stdout);
		text_json(stdout, line);
		fputs("}\n", stdout);
	} else {
		text_put(stdout, file);
		fputs(": ", stdout);
		text_put(stdout, line);
		putchar('\n');
	}
	free(line);
	return failed ? CLI_FAILED : CLI_OK;
}

static int suppress_run(int argc, char **argv)
{
	const char *db = NULL, *by = "id", *reason = NULL, *until = NULL, *file = "atomsan.supp";
	int json = 0;
	const struct cli_option options[] = {{"--json", NULL, &json},   {"--db", &db, NULL},
					     {"--by", &by, NULL},       {"--reason", &reason, NULL},
					     {"--until", &until, NULL}, {"--file", &file, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_suppress, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_suppress, "needs one finding; usage: atomsan suppress %s",
				 verb_suppress.synopsis);
	int what = suppress_what_of(by);

	if (what < 0)
		return cli_failf(&verb_suppress, "--by=%s is none of id, function, file, type, variable", by);
	if (!reason || !*reason)
		return cli_failf(&verb_suppress, "a suppression needs its reason: --reason=TEXT");
	if (until && !suppress_is_day(until))
		return cli_failf(&verb_suppress, "--until=%s is not a day such as 2027-03-31", until);
	struct store *store = findings_open(&verb_suppress, db, STORE_READ);

	if (!store)
		return CLI_FAILED;
	struct finding_list *list = findings_one(&verb_suppress, store, argv[first]);

	store_close(store);
	if (!list)
		return CLI_FAILED;
	int status = write_line(&list->findings[0], (enum suppress_what)what, reason, until, file, json);

	finding_list_free(list);
	return status;
}

const struct verb verb_suppress = {
	.name = "suppress",
	.synopsis = "--reason=TEXT [--by=WHAT] [--until=DAY] [--file=FILE] [--json] [--db=FILE] FINDING",
	.summary = "Write a suppression for a finding",
	.help = "  --reason=TEXT  why it shall not be reported\n"
		"  --by=WHAT      id (this finding alone, the default), function, file, type, variable: all\n"
		"                 findings of its kind there\n"
		"  --until=DAY    the last day, such as 2027-03-31\n"
		"  --file=FILE    the file that gets the line; atomsan.supp\n"
		"  --json         print file and line as JSON\n"
		"  --db=FILE      the store; .atomsan/findings.db\n",
	.run = suppress_run,
};
