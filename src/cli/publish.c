/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/publish.h"

#include "base/text.h"
#include "finding/baseline.h"
#include "finding/store.h"
#include "finding/suppress.h"
#include "report/format.h"
#include "report/json.h"
#include "report/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(void *user, const char *sentence)
{
	const struct verb *verb = user;

	fprintf(stderr, "atomsan %s: ", verb->name);
	text_put(stderr, sentence);
	putc('\n', stderr);
}

/* The project's own file, if nothing else was asked for. */
static const char default_suppressions[] = "atomsan.supp";

static int suppress(const struct verb *verb, struct finding_list *list, const struct publish *publish,
		    uint64_t *left_out)
{
	struct suppress_list suppressions = {0};
	const char *path = publish->suppressions ? publish->suppressions : default_suppressions;
	struct err err;
	int failed = 0;

	if (!publish->suppressions && access(path, F_OK))
		return 0;
	if (suppress_read(&suppressions, path, time(NULL), &err)) {
		cli_fail(verb, &err);
		failed = -1;
	} else {
		*left_out += suppress_apply(&suppressions, list);
		suppress_report(&suppressions, say, (void *)verb);
	}
	suppress_release(&suppressions);
	return failed;
}

/* What people have explained is not reported again. */
static void leave_out_explained(struct finding_list *list, uint64_t *left_out)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		enum finding_review review = list->findings[i].review;

		if (review == FINDING_FALSE_ALARM || review == FINDING_INTENDED)
			++*left_out;
		else
			list->findings[kept++] = list->findings[i];
	}
	list->finding_count = kept;
}

static int keep(const struct verb *verb, struct finding_list *list, const struct publish *publish)
{
	char *path = publish->db ? mem_text(publish->db) : store_default_path(list->program);
	struct err err;
	struct store *store = store_open(path, STORE_WRITE, &err);
	int failed = !store || store_add(store, list, &err);

	if (failed)
		cli_failf(verb, "the findings are not stored: %s", err.text);
	store_close(store);
	free(path);
	/* A folder that may not be written to is no reason to fail unless the store was asked for. */
	return failed && publish->db ? -1 : 0;
}

static int leave_out_known(const struct verb *verb, struct finding_list *list, const struct publish *publish,
			   uint64_t *known)
{
	struct baseline baseline;
	struct err err;
	uint32_t kept = 0;

	if (!publish->baseline)
		return 0;
	if (baseline_read(&baseline, publish->baseline, &err)) {
		cli_fail(verb, &err);
		return -1;
	}
	for (uint32_t i = 0; i < list->finding_count; i++)
		if (!baseline_has(&baseline, list->findings[i].id))
			list->findings[kept++] = list->findings[i];
	*known = list->finding_count - kept;
	list->finding_count = kept;
	baseline_release(&baseline);
	return 0;
}

int findings_write(const char *path, const struct report_format *format, const struct finding_list *list,
		   const struct report_options *options, struct err *err)
{
	bool standard = !strcmp(path, "-");
	FILE *out = standard ? stdout : fopen(path, "we");

	if (!out)
		return err_set(err, "cannot write %s: %s", path, strerror(errno));
	errno = 0;
	format->write(out, list, options);
	int failed = fflush(out) || ferror(out);
	int number = errno ? errno : EIO;

	if (!standard && fclose(out) && !failed) {
		failed = 1;
		number = errno;
	}
	if (!failed)
		return 0;
	return err_set(err, "cannot write %s: %s", standard ? "the output" : path, strerror(number));
}

static int write_report(const struct verb *verb, const struct finding_list *list,
			const struct publish *publish, const struct report_options *options)
{
	struct report_options plain = *options;
	const struct report_format *format = report_format_for(publish->report);
	struct err err;

	if (!format)
		return cli_failf(verb,
				 "--report=%s: the name's ending says which report it shall be, and this is "
				 "none of .html .sarif .json .txt .perfetto.json",
				 publish->report);
	plain.color = false;
	plain.width = 0;
	if (findings_write(publish->report, format, list, &plain, &err))
		return cli_fail(verb, &err);
	return 0;
}

int findings_publish(const struct verb *verb, struct finding_list *list, const struct publish *publish)
{
	struct report_options options;
	int failed = 0;
	struct err err;

	report_options_init(&options, publish->out ? publish->out : stdout);
	options.told = publish->told;
	options.strip_path_prefix = publish->strip_path_prefix;
	finding_list_merge(list);
	if (suppress(verb, list, publish, &options.suppressed))
		failed = 1;
	if (!publish->no_store && keep(verb, list, publish))
		failed = 1;
	leave_out_explained(list, &options.suppressed);
	if (leave_out_known(verb, list, publish, &options.known))
		failed = 1;
	if (publish->report && write_report(verb, list, publish, &options))
		failed = 1;
	if (publish->out) {
		report_format_of(publish->json ? "json" : "text")->write(publish->out, list, &options);
		fflush(publish->out);
	} else if (findings_write("-", report_format_of(publish->json ? "json" : "text"), list, &options,
				  &err)) {
		cli_fail(verb, &err);
		failed = 1;
	}
	if (publish->github && !publish->json && !failed)
		findings_write("-", report_format_of("github"), list, &options, &err);
	int status = failed ? CLI_FAILED : list->finding_count ? CLI_FINDINGS : CLI_OK;

	finding_list_free(list);
	return status;
}
