/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan heal`: run a program so that what is known to break it does not happen. */
#include "base/deaf.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/folder.h"
#include "cli/healing.h"
#include "finding/store.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *healing_options(const struct healing *h)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	char *absolute = realpath(h->path, NULL);
	char *options = mem_textf("heal=1:repository=%s:results=%s%s%s%s%s%s", absolute ? absolute : h->path,
				  h->folder, h->wait ? ":heal_timeout=" : "", h->wait ? h->wait : "",
				  h->verbose ? ":verbosity=1" : "", old && *old ? ":" : "", old ? old : "");

	free(absolute);
	return options;
}

/* ---- what came of it ---- */

/* A line of a process's file: "section ID" and the counters. */
static void read_line(struct healing *h, char *line)
{
	char *rest = line, *word = strsep(&rest, " ");
	struct repository_section *section;

	if (strcmp(word, "section") || !rest)
		return;
	section = repository_find(&h->repository, strsep(&rest, " "));
	for (int i = 0; section && rest && i < ATOMSAN_HEAL_COUNTERS; i++)
		h->counters[section - h->repository.sections][i] += strtoull(strsep(&rest, " "), NULL, 10);
}

static void read_results(struct healing *h)
{
	DIR *directory = opendir(h->folder);
	struct dirent *entry;

	h->counters = mem_zalloc(h->repository.section_count + 1, sizeof *h->counters);
	while (directory && (entry = readdir(directory))) {
		char *path = mem_textf("%s/%s", h->folder, entry->d_name), *line = NULL;
		FILE *file = strncmp(entry->d_name, "heal.", 5) ? NULL : fopen(path, "re");
		size_t room = 0;
		bool any = false;

		h->processes += file != NULL;
		while (file && getline(&line, &room, file) > 0) {
			line[strcspn(line, "\n")] = 0;
			read_line(h, line);
			any = true;
		}
		h->lost |= file && !any;
		free(line);
		if (file)
			fclose(file);
		free(path);
	}
	if (directory)
		closedir(directory);
}

/* By number: a counter without a name does not compile. */
static const char *const counter_names[] = {
	[ATOMSAN_HEAL_ENTERED] = "entered",     [ATOMSAN_HEAL_HEALED] = "healed",
	[ATOMSAN_HEAL_SCHEDULED] = "scheduled", [ATOMSAN_HEAL_TIMEOUTS] = "timeouts",
	[ATOMSAN_HEAL_GIVEN_UP] = "given_up",   [ATOMSAN_HEAL_WAITED] = "waited_ns",
	[ATOMSAN_HEAL_GATED] = "gated",         [ATOMSAN_HEAL_CUT_SHORT] = "cut_short",
};
_Static_assert(sizeof counter_names / sizeof *counter_names == ATOMSAN_HEAL_COUNTERS, "each has a name");

static void print_json(const struct healing *h, int status)
{
	fputs("{\"version\":1,\"program\":", stdout);
	text_json(stdout, h->target.argv[0]);
	printf(",\"status\":%d,\"repository\":", status);
	text_json(stdout, h->path);
	fputs(",\"sections\":[", stdout);
	for (uint32_t i = 0; i < h->repository.section_count; i++) {
		const struct repository_section *s = &h->repository.sections[i];

		printf("%s\n{\"id\":", i ? "," : "");
		text_json(stdout, s->id);
		fputs(",\"variable\":", stdout);
		text_json(stdout, s->variable);
		fputs(",\"unit\":", stdout);
		text_json(stdout, s->unit ? s->unit : s->entry.function);
		for (int k = 0; k < ATOMSAN_HEAL_COUNTERS; k++)
			printf(",\"%s\":%" PRIu64, counter_names[k], h->counters[i][k]);
		putchar('}');
	}
	puts("]}");
}

/* To standard error: standard output is the program's. */
static void print_text(const struct healing *h)
{
	bool head = false;

	for (uint32_t i = 0; i < h->repository.section_count; i++) {
		const struct repository_section *s = &h->repository.sections[i];
		const uint64_t *n = h->counters[i];

		if (!n[ATOMSAN_HEAL_ENTERED])
			continue;
		if (!head)
			fprintf(stderr, "%-20s %10s %8s %9s %8s %9s %8s %10s  %s\n", "section", "entered",
				"healed", "scheduled", "too late", "cut short", "given up", "waited ms",
				"what");
		head = true;
		fprintf(stderr,
			"%-20s %10" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64
			" %10.1f  ",
			s->id, n[ATOMSAN_HEAL_ENTERED], n[ATOMSAN_HEAL_HEALED], n[ATOMSAN_HEAL_SCHEDULED],
			n[ATOMSAN_HEAL_TIMEOUTS], n[ATOMSAN_HEAL_CUT_SHORT], n[ATOMSAN_HEAL_GIVEN_UP],
			(double)n[ATOMSAN_HEAL_WAITED] / 1e6);
		text_put(stderr, s->variable);
		fputs(" in ", stderr);
		text_put(stderr, s->unit ? s->unit : s->entry.function);
		putc('\n', stderr);
	}
	if (!head)
		fputs("atomsan heal: no section of the repository was entered\n", stderr);
}

/* How often somebody had to wait for a section of this finding. */
static uint64_t times_waited(const void *user, const struct finding *finding)
{
	const struct healing *h = user;
	uint64_t times = 0;

	for (uint32_t s = 0; s < h->repository.section_count; s++)
		for (uint32_t f = 0; f < h->repository.sections[s].from_count; f++) {
			const struct repository_from *from = &h->repository.sections[s].from[f];

			if (from->origin == ATOMICITY_FINDING && !strcmp(from->what, finding->id))
				times += h->counters[s][ATOMSAN_HEAL_HEALED];
		}
	return times;
}

void healing_keep(const struct healing *h, uint64_t (*times)(const void *user, const struct finding *finding),
		  void (*tell)(const void *user, struct finding_list *list), const void *user)
{
	struct store_query query = STORE_QUERY_ALL;
	char *db = healing_db(h);
	struct finding_list *list = NULL;
	struct store *store = NULL;
	uint32_t kept = 0;
	struct err err;

	if (!h->publish.no_store && !access(db, F_OK))
		store = store_open(db, STORE_WRITE, &err);
	if (store)
		list = store_load(store, &query, &err);
	for (uint32_t i = 0; list && i < list->finding_count; i++) {
		struct finding *finding = &list->findings[i];
		uint64_t healed = times(user, finding);

		if (!healed)
			continue;
		finding->state = FINDING_HEALED;
		finding->verb = "heal";
		finding->seen = healed;
		list->findings[kept++] = *finding;
	}
	if (kept) {
		/* A run of its own: what others tried, counted and did not see is in the store already. */
		list->trial_count = list->count_count = list->blind_spot_count = 0;
		list->finding_count = kept;
		list->verb = "heal";
		list->program = h->target.path;
		for (char **argument = h->target.argv; *argument; argument++)
			finding_add_argument(list, *argument);
		if (tell)
			tell(user, list);
		finding_add_count(list, "healed", kept);
		if (store_add(store, list, &err) < 0)
			cli_fail(&verb_heal, &err);
	}
	finding_list_free(list);
	store_close(store);
	free(db);
}

/* ---- the program ---- */

static int run_program(struct healing *h, char **argv)
{
	char *options = healing_options(h);
	struct child child = {.argv = argv, .options = options};
	int status = 0, failed = 0;
	struct err err;

	failed = child_start(&child, &err) < 0 || child_wait(0, &status, &err) < 0;
	free(options);
	if (failed)
		return cli_fail(&verb_heal, &err);
	read_results(h);
	if (!h->repository.section_count && !h->damaged)
		cli_failf(&verb_heal, "the repository has no section, so nothing was healed");
	if (!h->processes && WIFEXITED(status) && h->repository.section_count)
		failed = cli_failf(&verb_heal, "%s was not healed: %s", argv[0], deaf_reason(argv[0]));
	else if (h->lost)
		cli_failf(&verb_heal, "%s has no room for what came of it", h->folder);
	else if (h->publish.json)
		print_json(h, WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	else if (!h->quiet && h->processes && h->repository.section_count)
		print_text(h);
	else if (!h->quiet && h->repository.section_count)
		cli_failf(&verb_heal,
			  "%s was ended by signal %d, and what was healed until then is not known", argv[0],
			  WTERMSIG(status));
	healing_keep(h, times_waited, NULL, h);
	h->ended = status;
	return failed;
}

static bool is_number(const char *text)
{
	return !text || (*text && strspn(text, "0123456789") == strlen(text));
}

static int heal(struct healing *h, char **argv)
{
	struct err err;
	int status;

	if (!h->verify)
		child_expect_signals();
	h->folder = folder_make("heal", &err);
	if (!h->folder)
		return cli_fail(&verb_heal, &err);
	if (target_init(&h->target, argv, &err) < 0 || healing_repository(h, &err) < 0 ||
	    noise_apply(&h->noise, argv[0], h->publish.db, &err) < 0)
		status = cli_fail(&verb_heal, &err);
	else if (strchr(h->path, ':'))
		status = cli_failf(&verb_heal, "the repository's name may not have a colon: %s", h->path);
	else
		status = h->verify ? healing_verify(h) : run_program(h, argv);
	folder_remove(h->folder);
	/* Not before: it may be by a signal. */
	if (!h->verify && status == CLI_OK)
		status = child_end(h->ended);
	target_release(&h->target);
	repository_release(&h->repository);
	free(h->counters);
	free(h->folder);
	free(h->path);
	return status;
}

static int run(int argc, char **argv)
{
	struct healing h = {0};
	const struct cli_option options[] = {
		{"--repository", &h.given, NULL}, {"--from-findings", NULL, &h.from_findings},
		{"--wait", &h.wait, NULL},        NOISE_OPTIONS(h.noise),
		NOISE_SEED_OPTION(h.noise),       {"--verify", NULL, &h.verify},
		{"--times", &h.times, NULL},      {"--json", NULL, &h.publish.json},
		{"--quiet", NULL, &h.quiet},      {"--verbose", NULL, &h.verbose},
		{"--db", &h.publish.db, NULL},    {"--no-store", NULL, &h.publish.no_store},
		TARGET_OPTIONS(h.target),         {NULL, NULL, NULL},
	};
	int first = cli_options(&verb_heal, argc, argv, options);

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	/* Which finding to verify stands before the program. */
	if (first < argc && h.verify && !strncmp(argv[first], "F-", 2) && strcmp(argv[first - 1], "--")) {
		h.finding = argv[first++];
		if (first < argc && !strcmp(argv[first], "--"))
			first++;
	}
	if (first >= argc)
		return cli_failf(&verb_heal, "which program? usage: atomsan heal %s", verb_heal.synopsis);
	if (!is_number(h.wait) || !is_number(h.times) || (h.times && !strtoull(h.times, NULL, 10)))
		return cli_failf(&verb_heal, "--wait takes milliseconds, and --times a number of runs");
	return heal(&h, argv + first);
}

const struct verb verb_heal = {
	.name = "heal",
	.synopsis = "[OPTION]... [FINDING] -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program so that what is known to break it does not happen",
	.help = "  --repository=FILE      what to heal; PROGRAM.atomicity beside the program, or, where "
		"that\n"
		"                         is not there, what the findings kept beside the program say\n"
		"  --from-findings        add what the findings say to the repository, and heal with it\n"
		"  --wait=MS              how long a thread waits for another one's section at most; 100\n"
		"  --verify               run the schedules that failed, of FINDING or of all, with and\n"
		"                         without healing, and say what came of it\n"
		"  --times=N              --verify: each schedule N times\n"
		"  --json                 one JSON document instead of text\n"
		"  --quiet                say nothing about sections\n"
		"  --verbose              say what the runtime does\n"
		"  --db=FILE              where findings are kept; .atomsan/findings.db beside the program\n"
		"  --no-store             do not note in the store what was healed\n" TARGET_HELP
			NOISE_HELP NOISE_SEED_HELP "\n"
		"The exit status is the program's own; with --verify 66 if a schedule still fails.\n",
	.run = run,
};
