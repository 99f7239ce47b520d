/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shows what a trace holds. */
#include "base/text.h"
#include "cli/cli.h"
#include "trace/describe.h"
#include "trace/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dump {
	struct trace *trace;
	int json, stats, sites, variables;
	const char *thread; /* name, NULL: all */
	uint64_t limit;
};

static void begin(const struct dump *d)
{
	const struct trace *trace = d->trace;
	char state[96];

	describe_state(trace, state, sizeof state);
	if (!d->json) {
		if (trace->header.state != TRACE_FINISHED || d->stats)
			printf("# trace %s\n", state);
		stats_blind_spots(trace, "# ", stdout);
		return;
	}
	fputs("{\"version\":1,\"program\":", stdout);
	text_json(stdout, trace_program(trace));
	/* 64 bits, more than a JSON number holds everywhere. */
	printf(",\"seed\":\"%" PRIu64 "\",\"state\":\"%s\",\"finished\":%s", trace->header.seed, state,
	       trace->header.state == TRACE_FINISHED ? "true" : "false");
	if (trace->header.state == TRACE_FINISHED)
		printf(",\"exit_status\":%" PRId32, trace->header.exit_status);
	fputs(",\"blind_spots\":", stdout);
	stats_blind_spots_json(trace, stdout);
}

static void show_sites(const struct dump *d)
{
	uint64_t shown = 0;

	if (d->json)
		fputs(",\"sites\":[", stdout);
	for (uint32_t m = 0; m < d->trace->module_count; m++) {
		const struct trace_module_table *t = &d->trace->modules[m];

		for (uint64_t i = 0; i < t->sites && shown < d->limit; i++, shown++) {
			if (d->json) {
				fputs(shown ? ",\n" : "\n", stdout);
				describe_site_json(d->trace, t->first_site + i, stdout);
			} else {
				describe_site(d->trace, t->first_site + i, stdout);
				putchar('\n');
			}
		}
	}
	if (d->json)
		fputs("]", stdout);
}

static void show_variables(const struct dump *d)
{
	if (d->json)
		fputs(",\"variables\":[", stdout);
	for (uint64_t i = 0; i < d->trace->variable_count && i < d->limit; i++) {
		if (d->json) {
			fputs(i ? ",\n" : "\n", stdout);
			describe_listed_json(d->trace, i, stdout);
		} else {
			describe_listed(d->trace, i, stdout);
			putchar('\n');
		}
	}
	if (d->json)
		fputs("]", stdout);
}

/* Index of the thread that --thread names, or -1 with err set. Names are known
 * only once the creations were met, which takes a run through the trace. */
static int64_t find_thread(const struct dump *d, struct err *err)
{
	trace_name_threads(d->trace, NULL);
	for (uint32_t i = 0; i < d->trace->thread_count; i++)
		if (!strcmp(trace_thread_name(d->trace, i), d->thread))
			return i;
	return err_set(err, "%s: there is no thread '%s' in the trace", d->trace->path, d->thread);
}

static int show_events(const struct dump *d, int64_t thread, struct trace_stats *stats, struct err *err)
{
	struct trace_cursor *cursor = thread < 0 ? trace_cursor_open(d->trace)
						 : trace_cursor_open_thread(d->trace, (uint32_t)thread);
	struct trace_event e;
	uint64_t shown = 0;
	int got = 0;

	if (d->json && !d->stats)
		fputs(",\"events\":[", stdout);
	while (shown < d->limit && !ferror(stdout) && (got = trace_next(cursor, &e)) > 0) {
		stats_count(stats, &e);
		if (d->stats)
			continue;
		if (d->json) {
			fputs(shown ? ",\n" : "\n", stdout);
			describe_event_json(d->trace, &e, stdout);
		} else {
			describe_event(d->trace, &e, stdout);
			putchar('\n');
		}
		shown++;
	}
	if (d->json && !d->stats)
		fputs("]", stdout);
	if (got < 0)
		*err = *trace_cursor_error(cursor);
	trace_cursor_close(cursor);
	return got < 0 ? -1 : 0;
}

static int show(const struct dump *d, struct err *err)
{
	struct trace_stats stats;
	int64_t thread = -1;
	int failed = 0;

	if (d->thread) {
		thread = find_thread(d, err);
		if (thread < 0)
			return -1;
	}
	stats_init(&stats, d->trace);
	begin(d);
	if (d->sites)
		show_sites(d);
	else if (d->variables)
		show_variables(d);
	else
		failed = show_events(d, thread, &stats, err);
	if (d->json) {
		if (!d->sites && !d->variables) {
			fputs(",", stdout);
			stats_print_json(&stats, d->trace, stdout);
		}
		/* The document stays one that can be parsed, and says how far it got. */
		if (failed) {
			fputs(",\"error\":", stdout);
			text_json(stdout, err->text);
		}
		fputs("}\n", stdout);
	} else if (d->stats) {
		stats_print(&stats, d->trace, stdout);
	}
	stats_release(&stats);
	return failed;
}

static int dump_run(int argc, char **argv)
{
	struct dump d = {.limit = UINT64_MAX};
	const char *limit = NULL;
	struct err err;
	const struct cli_option options[] = {{"--json", NULL, &d.json},
					     {"--stats", NULL, &d.stats},
					     {"--sites", NULL, &d.sites},
					     {"--variables", NULL, &d.variables},
					     {"--thread", &d.thread, NULL},
					     {"--limit", &limit, NULL},
					     {NULL, NULL, NULL}};
	int first = cli_options_anywhere(&verb_dump, argc, argv, options);
	int failed;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (argc - first != 1)
		return cli_failf(&verb_dump, "needs one trace; usage: atomsan dump %s", verb_dump.synopsis);
	if (limit) {
		char *end;

		errno = 0;
		d.limit = strtoull(limit, &end, 10);
		if (errno || *end || *limit < '0' || *limit > '9')
			return cli_failf(&verb_dump, "--limit=%s is not a number", limit);
	}
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	d.trace = trace_open(argv[first], &err);
	if (!d.trace)
		return cli_fail(&verb_dump, &err);
	failed = show(&d, &err);
	trace_close(d.trace);
	errno = 0;
	if (fflush(stdout) || ferror(stdout))
		return cli_failf(&verb_dump, "cannot write the output: %s", strerror(errno ? errno : EIO));
	return failed ? cli_fail(&verb_dump, &err) : CLI_OK;
}

const struct verb verb_dump = {
	.name = "dump",
	.synopsis = "[--json] [--stats] [--sites] [--variables] [--thread=NAME] [--limit=N] FILE",
	.summary = "Show the events of a trace",
	.help = "  --json         one JSON document instead of lines\n"
		"  --stats        counts instead of events\n"
		"  --sites        the program places that events refer to, instead of events\n"
		"  --variables    the variables of the program and where they lie, instead of events\n"
		"  --thread=NAME  only this thread: T0 is the main thread, T1 its first child, T1.1\n"
		"                 the first child of that\n"
		"  --limit=N      stop after N events, places or variables\n",
	.run = dump_run,
};
