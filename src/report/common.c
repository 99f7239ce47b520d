/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The questions that every report asks. */
#include "report/report.h"

#include "base/err.h"
#include "base/text.h"
#include "report/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void report_options_init(struct report_options *options, FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(out);
	struct winsize size;

	*options = (struct report_options){.width = 100};
	if (fd < 0 || !isatty(fd))
		return;
	options->color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 40)
		options->width = size.ws_col;
}

static char *lane_name(const struct finding *finding, const struct finding_access *access)
{
	if (access->thread)
		return mem_text(access->thread);
	if (access->unit < finding->unit_count) {
		if (finding->units[access->unit].thread)
			return mem_text(finding->units[access->unit].thread);
		return mem_textf("unit %u", access->unit + 1);
	}
	return mem_text("some thread");
}

void report_lanes_init(struct report_lanes *lanes, const struct finding *finding)
{
	uint32_t steps = finding->access_count;

	lanes->count = 0;
	lanes->names = mem_zalloc(steps + 1, sizeof(*lanes->names));
	lanes->of_step = mem_zalloc(steps + 1, sizeof(*lanes->of_step));
	for (uint32_t i = 0; i < steps; i++) {
		char *name = lane_name(finding, &finding->accesses[i]);
		uint32_t lane = 0;

		while (lane < lanes->count && strcmp(lanes->names[lane], name) != 0)
			lane++;
		if (lane == lanes->count)
			lanes->names[lanes->count++] = name;
		else
			free(name);
		lanes->of_step[i] = lane;
	}
}

void report_lanes_release(struct report_lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		free(lanes->names[i]);
	free(lanes->names);
	free(lanes->of_step);
	*lanes = (struct report_lanes){0};
}

static bool reads(const struct finding_access *access)
{
	return access->op == 'R' || access->op == 'U';
}

static bool writes(const struct finding_access *access)
{
	return access->op == 'W' || access->op == 'U';
}

/* Whether the unit accesses something after this step. */
static bool goes_on(const struct finding *finding, uint32_t unit, uint32_t step)
{
	for (uint32_t i = step + 1; i < finding->access_count; i++)
		if (finding->accesses[i].unit == unit &&
		    (reads(&finding->accesses[i]) || writes(&finding->accesses[i])))
			return true;
	return false;
}

uint32_t report_stale_at(const struct finding *finding, uint32_t step)
{
	const struct finding_access *access = &finding->accesses[step];

	if (!reads(access) || access->unit >= finding->unit_count)
		return FINDING_NO_ACCESS;
	for (uint32_t i = 0; i < finding->edge_count; i++) {
		const struct finding_edge *edge = &finding->edges[i];

		if (edge->source == step && edge->target < finding->access_count && edge->target > step &&
		    finding->accesses[edge->target].unit != access->unit &&
		    writes(&finding->accesses[edge->target]) && goes_on(finding, access->unit, edge->target))
			return edge->target;
	}
	return FINDING_NO_ACCESS;
}

const char *report_op_text(char op)
{
	switch (op) {
	case 'W':
		return "writes";
	case 'U':
		return "updates";
	case 'L':
		return "locks";
	case 'A':
		return "unlocks";
	case 'B':
		return "waits for";
	default:
		return "reads";
	}
}

bool report_op_is_lock(char op)
{
	return op == 'L' || op == 'A' || op == 'B';
}

const char *report_path(const struct report_options *options, const char *path)
{
	if (!path)
		return "";
	if (options->strip_path_prefix && *options->strip_path_prefix) {
		const char *found = strstr(path, options->strip_path_prefix);

		if (found) {
			found += strlen(options->strip_path_prefix);
			return *found == '/' && found[1] ? found + 1 : found;
		}
	}
	return path;
}

static bool told_before(const struct finding *finding, uint32_t access)
{
	for (uint32_t i = 0; i < access; i++)
		if (finding->accesses[i].place.file &&
		    !strcmp(finding->accesses[i].place.file, finding->accesses[access].place.file))
			return true;
	return false;
}

const char *report_changed(struct source_files *files, const struct finding *finding, uint32_t *from)
{
	struct tm parts = {0};

	if (!finding->last_seen || !strptime(finding->last_seen, "%Y-%m-%dT%H:%M:%SZ", &parts))
		return NULL;
	time_t seen = timegm(&parts);

	while (*from < finding->access_count) {
		uint32_t i = (*from)++;
		const char *file = finding->accesses[i].place.file;

		if (file && !told_before(finding, i) && source_written(files, file) > seen)
			return file;
	}
	return NULL;
}

/* Behind "--", the program and its arguments. The store has the words of a run as one line, which is quoted
 * already. */
static void put_command(FILE *out, const struct finding_list *list, const struct finding *finding)
{
	const char *line = finding->command;

	if (!line && !list->argument_count && list->run_count)
		line = list->runs[0].arguments;
	if (line && *line) {
		fprintf(out, " -- %s", line);
	} else if (list->argument_count) {
		fputs(" --", out);
		for (uint32_t i = 0; i < list->argument_count; i++) {
			putc(' ', out);
			text_shell(out, list->arguments[i]);
		}
	} else if (list->program) {
		fputs(" -- ", out);
		text_shell(out, list->program);
	}
}

char *report_replay(const struct finding_list *list, const struct finding *finding)
{
	bool race = finding->kind == FINDING_RACE && finding->runs;
	char *command = NULL;
	size_t size;

	/* No schedule makes two accesses happen at the same time; pauses where the store has findings do. */
	if (!finding->schedule && !race)
		return NULL;
	FILE *out = open_memstream(&command, &size);

	BUG_ON(!out);
	if (finding->schedule) {
		fputs("atomsan replay ", out);
		text_shell(out, finding->schedule);
	} else {
		fputs("atomsan race --noise=findings:300", out);
	}
	put_command(out, list, finding);
	fclose(out);
	return command;
}

char *report_sum(const struct finding_list *list, const struct report_options *options)
{
	uint32_t by_state[FINDING_STATE_COUNT] = {0};
	const char *separator = " (";
	char *sum = NULL;
	size_t size;
	FILE *out = open_memstream(&sum, &size);

	BUG_ON(!out);
	for (uint32_t i = 0; i < list->finding_count; i++)
		by_state[list->findings[i].state]++;
	if (list->finding_count)
		fprintf(out, "%u finding%s", list->finding_count, list->finding_count == 1 ? "" : "s");
	else
		fputs("no findings", out);
	/* What is most certain comes first. */
	for (int s = FINDING_STATE_COUNT - 1; s >= 0; s--) {
		if (!by_state[s])
			continue;
		fprintf(out, "%s%u %s", separator, by_state[s], finding_state_text((enum finding_state)s));
		separator = ", ";
	}
	if (options->suppressed) {
		fprintf(out, "%s%llu suppressed", separator, (unsigned long long)options->suppressed);
		separator = ", ";
	}
	if (options->known) {
		fprintf(out, "%s%llu known", separator, (unsigned long long)options->known);
		separator = ", ";
	}
	if (separator[0] == ',')
		putc(')', out);
	if (list->program)
		fprintf(out, " in %s", list->program);
	fclose(out);
	return sum;
}
