/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/effort.h"

#include <inttypes.h>
#include <time.h>

#include "finding/finding.h"
#include "lint/lint.h"

static const char *const titles[] = {
	[EFFORT_READING] = "reading",   [EFFORT_CFG] = "flow of control", [EFFORT_POINTERS] = "pointers",
	[EFFORT_CALLS] = "calls",       [EFFORT_THREADS] = "threads",     [EFFORT_LOCKS] = "locks",
	[EFFORT_ACCESSES] = "accesses", [EFFORT_CONTEXTS] = "contexts",   [EFFORT_VIEWS] = "views",
	[EFFORT_FLOWS] = "values",      [EFFORT_STALE] = "stale values",  [EFFORT_RACE] = "high-level races",
	[EFFORT_METHOD] = "methods",    [EFFORT_EXTRA] = "other rules",   [EFFORT_GROUPS] = "findings",
};
_Static_assert(sizeof(titles) / sizeof(*titles) == EFFORT_PARTS, "each part has a title");

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void effort_begin(struct effort *effort, enum effort_part part)
{
	double at = now();

	if (effort->now != EFFORT_PARTS && effort->now != EFFORT_READING)
		effort->seconds[effort->now] += at - effort->since;
	effort->now = part;
	effort->since = at;
}

const char *effort_title(enum effort_part part)
{
	return titles[part];
}

static const char *name_of(struct finding_list *list, const char *kind, enum effort_part part)
{
	const char *title = titles[part];
	char name[64];
	int used = 0;

	for (; *title; title++)
		name[used++] = *title == ' ' || *title == '-' ? '_' : *title;
	name[used] = 0;
	return finding_textf(list, "%s_%s", kind, name);
}

/* What is analysed at all: instructions of functions that some thread may run. */
static uint32_t reached(const struct lint *lint)
{
	const struct program *p = &lint->program;
	uint32_t count = 0;

	for (uint32_t i = 1; i < p->insts_count; i++)
		count += lint->threads.reach[program_function_of(p, i)] != 0;
	return count;
}

void effort_print(const struct lint *lint, FILE *out)
{
	double own = 0;

	fprintf(out, "%u instructions, %u of them reached by threads\n", lint->program.insts_count - 1,
		reached(lint));
	fprintf(out, "%-18s %10s %12s\n", "part", "CPU s", "steps");
	for (int i = 0; i < EFFORT_PARTS; i++) {
		fprintf(out, "%-18s %10.3f", titles[i], lint->effort->seconds[i]);
		if (i == EFFORT_READING) {
			fputs("\n", out);
			continue;
		}
		fprintf(out, " %12" PRIu64 "\n", lint->effort->steps[i]);
		own += lint->effort->seconds[i];
	}
	fprintf(out, "%-18s %10.3f\n\n", "without reading", own);
}

void effort_count(const struct lint *lint, struct finding_list *list)
{
	finding_add_count(list, "instructions_reached", reached(lint));
	finding_add_count(list, "accesses", lint->accesses.at.count - 1);
	for (int i = 0; i < EFFORT_PARTS; i++) {
		finding_add_count(list, name_of(list, "seconds", i), lint->effort->seconds[i]);
		if (i != EFFORT_READING)
			finding_add_count(list, name_of(list, "steps", i), (double)lint->effort->steps[i]);
	}
}
