/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/exploration.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int exploration_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value,
		       struct err *err)
{
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || *value < least || *value > most)
		return err_set(err, "--%s=%s is no number from %" PRIu64 " to %" PRIu64, name, text, least,
			       most);
	return 0;
}

int exploration_budget(const char *text, uint64_t *runs, double *seconds, struct err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value > 0) || value > 1e9 || (*end && strcmp(end, "s")))
		return err_set(err, "--budget=%s is neither a number of runs (200) nor of seconds (60s)",
			       text);
	if (*end)
		*seconds = value;
	else
		*runs = (uint64_t)value;
	if (!*end && value < 1)
		return err_set(err, "--budget=%s is less than one run", text);
	return 0;
}

static int read_strategies(struct exploration *x, const char *text, struct err *err)
{
	/* What breaks at all mostly breaks under pos; what it does not break, one of the others does. */
	static const char usual[] = "pos,pct,pos,random,pct,surw";
	static const char *const known[] = {"random", "pct", "pos", "surw", "serial", NULL};

	if (!text)
		text = usual;
	while (*text) {
		size_t length = strcspn(text, ",");
		char *name = mem_textf("%.*s", (int)length, text);
		int found = 0;

		for (const char *const *k = known; *k; k++)
			found |= !strcmp(*k, name);
		if (!found || x->setup.strategy_count == sizeof x->names / sizeof *x->names) {
			const char *near = cli_nearest(name, known);

			err_set(err, "there is no strategy '%s'%s%s%s", name, near ? "; did you mean '" : "",
				near ? near : "", near ? "'?" : ": random, pct, pos, surw and serial are");
			free(name);
			return -1;
		}
		x->names[x->setup.strategy_count++] = name;
		text += length + (text[length] == ',');
	}
	x->setup.strategies = x->names;
	return 0;
}

int exploration_options(struct exploration *x, struct err *err)
{
	struct explore_setup *setup = &x->setup;
	uint64_t jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), depth = 0;
	struct timespec t;

	if (cost_read(&x->cost, err) < 0)
		return -1;
	if (jobs < 1)
		jobs = 1;
	clock_gettime(CLOCK_REALTIME, &t);
	setup->seed = ((uint64_t)t.tv_sec * 1000000007ull ^ (uint64_t)t.tv_nsec) % 1000000000;
	if (exploration_budget(x->budget ? x->budget : "200", &setup->runs, &setup->seconds, err) < 0 ||
	    exploration_number("jobs", x->jobs, 1, 1024, &jobs, err) < 0 ||
	    exploration_number("seed", x->seed, 0, UINT64_MAX / 2, &setup->seed, err) < 0 ||
	    exploration_number("depth", x->depth, 1, 64, &depth, err) < 0 ||
	    read_strategies(x, x->strategies, err) < 0)
		return -1;
	if (x->events && strcmp(x->events, "every") && strcmp(x->events, "first"))
		return err_set(err, "--events=%s is neither every nor first", x->events);
	setup->jobs = (uint32_t)jobs;
	setup->stop_at_first = x->stop_at_first;
	setup->minimise_runs = x->keep_long ? 0 : 400;
	setup->run = target_setup(&x->target);
	setup->run.depth = (uint32_t)depth;
	setup->run.every = !x->events || *x->events == 'e';
	/* 0 is the runtime's word for a seed of its own choice. */
	if (!setup->seed)
		setup->seed = 1;
	return 0;
}

/* ---- schedules that are given ---- */

void exploration_try(struct exploration *x, struct schedule *s)
{
	struct explore_setup *setup = &x->setup;

	setup->schedules = mem_resize(setup->schedules, setup->schedule_count + 1, sizeof *setup->schedules);
	setup->schedules[setup->schedule_count++] = s;
}

static int add_given(struct exploration *x, const char *path, struct err *err)
{
	struct schedule *s = schedule_read(path, err);

	if (!s)
		return -1;
	if (s->build_id && x->target.build_id && strcmp(s->build_id, x->target.build_id)) {
		schedule_free(s);
		return err_set(err, "%s: was made for another build of the program", path);
	}
	exploration_try(x, s);
	return 0;
}

static int is_schedule(const struct dirent *entry)
{
	static const char ending[] = ".schedule";
	size_t length = strlen(entry->d_name);

	return length >= sizeof ending && !strcmp(entry->d_name + length - (sizeof ending - 1), ending);
}

/* A file, or all that a folder has, in the order of their names. */
int exploration_given(struct exploration *x, struct err *err)
{
	struct dirent **entries;
	struct stat file;
	int count, failed = 0;

	if (!x->given)
		return 0;
	if (stat(x->given, &file) < 0)
		return err_set(err, "%s: cannot be read: %s", x->given, strerror(errno));
	if (!S_ISDIR(file.st_mode))
		return add_given(x, x->given, err);
	count = scandir(x->given, &entries, is_schedule, versionsort);
	if (count < 0)
		return err_set(err, "%s: cannot be read: %s", x->given, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *path = mem_textf("%s/%s", x->given, entries[i]->d_name);

		if (!failed)
			failed = add_given(x, path, err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

void exploration_release(struct exploration *x)
{
	target_release(&x->target);
	hints_release(&x->hints);
	schedule_free(x->header);
	finding_list_free(x->predicted);
	free(x->predicted_by_schedule);
	queue_release(&x->queue);
	map_release(&x->known);
	for (uint32_t i = 0; i < x->setup.schedule_count; i++)
		schedule_free(x->setup.schedules[i]);
	free(x->setup.schedules);
	for (uint32_t i = 0; i < x->setup.strategy_count; i++)
		free(x->names[i]);
}
