/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lists of findings and the memory that they live in. */
#include "finding/finding.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory is handed out from chunks and given back all at once. */
#define CHUNK_SIZE 65536

struct finding_memory {
	struct finding_memory *next;
	size_t used, size;
	_Alignas(16) char data[];
};

struct finding_list *finding_list_new(const char *verb)
{
	struct finding_list *list = mem_zalloc(1, sizeof(*list));

	list->verb = finding_text(list, verb);
	return list;
}

void finding_list_free(struct finding_list *list)
{
	if (!list)
		return;
	while (list->memory) {
		struct finding_memory *next = list->memory->next;

		free(list->memory);
		list->memory = next;
	}
	free(list->findings);
	free(list);
}

void *finding_memory(struct finding_list *list, size_t count, size_t size)
{
	struct finding_memory *chunk = list->memory;
	size_t length;

	BUG_ON(__builtin_mul_overflow(count, size, &length));
	length = (length + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < length) {
		size_t room = length > CHUNK_SIZE ? length : CHUNK_SIZE;

		chunk = mem_alloc(sizeof(*chunk) + room);
		chunk->next = list->memory;
		chunk->used = 0;
		chunk->size = room;
		list->memory = chunk;
	}
	void *block = memset(chunk->data + chunk->used, 0, length);
	chunk->used += length;
	return block;
}

const char *finding_text(struct finding_list *list, const char *text)
{
	if (!text)
		return NULL;
	size_t length = strlen(text) + 1;

	return memcpy(finding_memory(list, length, 1), text, length);
}

const char *finding_textf(struct finding_list *list, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	BUG_ON(length < 0);

	char *text = finding_memory(list, (size_t)length + 1, 1);
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

/* An array of `count` elements with room for one more: its room is the next
 * power of two, so it moves when the count is one. */
static void *room(struct finding_list *list, void *array, uint32_t count, size_t size)
{
	if (count && (count & (count - 1)))
		return array;
	void *larger = finding_memory(list, count ? 2 * (size_t)count : 1, size);

	if (count)
		memcpy(larger, array, count * size);
	return larger;
}

struct finding *finding_add(struct finding_list *list)
{
	/* Findings themselves may be many, and are not kept twice. */
	uint32_t count = list->finding_count;

	if (!(count & (count - 1)))
		list->findings =
			mem_resize(list->findings, count ? 2 * (size_t)count : 1, sizeof(*list->findings));
	struct finding *finding = &list->findings[list->finding_count++];

	memset(finding, 0, sizeof(*finding));
	finding->verb = list->verb;
	finding->seen = 1;
	return finding;
}

struct finding_unit *finding_add_unit(struct finding_list *list, struct finding *finding)
{
	finding->units = room(list, finding->units, finding->unit_count, sizeof(*finding->units));
	return &finding->units[finding->unit_count++];
}

struct finding_access *finding_add_access(struct finding_list *list, struct finding *finding)
{
	finding->accesses = room(list, finding->accesses, finding->access_count, sizeof(*finding->accesses));
	struct finding_access *access = &finding->accesses[finding->access_count++];

	memset(access, 0, sizeof(*access));
	access->unit = FINDING_NO_UNIT;
	return access;
}

void finding_add_edge(struct finding_list *list, struct finding *finding, struct finding_edge edge)
{
	finding->edges = room(list, finding->edges, finding->edge_count, sizeof(*finding->edges));
	finding->edges[finding->edge_count++] = edge;
}

static void add_name(struct finding_list *list, const char ***names, uint32_t *count, const char *name)
{
	*names = room(list, *names, *count, sizeof(**names));
	(*names)[(*count)++] = finding_text(list, name);
}

void finding_add_variable(struct finding_list *list, struct finding *finding, const char *name)
{
	for (uint32_t i = 0; i < finding->variable_count; i++)
		if (!strcmp(finding->variables[i], name))
			return;
	add_name(list, &finding->variables, &finding->variable_count, name);
}

void finding_add_lock(struct finding_list *list, struct finding_access *access, const char *name)
{
	add_name(list, &access->locks, &access->lock_count, name);
}

void finding_add_frame(struct finding_list *list, struct finding_access *access, struct finding_place place)
{
	access->stack = room(list, access->stack, access->depth, sizeof(*access->stack));
	access->stack[access->depth++] = place;
}

void finding_add_blind_spot(struct finding_list *list, const char *sentence)
{
	add_name(list, &list->blind_spots, &list->blind_spot_count, sentence);
}

void finding_add_count(struct finding_list *list, const char *name, double value)
{
	list->counts = room(list, list->counts, list->count_count, sizeof(*list->counts));
	list->counts[list->count_count++] =
		(struct finding_count){.name = finding_text(list, name), .value = value};
}

void finding_add_argument(struct finding_list *list, const char *argument)
{
	add_name(list, &list->arguments, &list->argument_count, argument);
}

void finding_add_trial(struct finding_list *list, const struct finding_trial *trial)
{
	list->trials = room(list, list->trials, list->trial_count, sizeof(*list->trials));
	struct finding_trial *copy = &list->trials[list->trial_count++];

	*copy = *trial;
	copy->schedule = finding_text(list, trial->schedule);
	copy->strategy = finding_text(list, trial->strategy);
	copy->verdict = finding_text(list, trial->verdict);
	copy->finding = finding_text(list, trial->finding);
}

void finding_add_run(struct finding_list *list, const struct finding_run *run)
{
	list->runs = room(list, list->runs, list->run_count, sizeof(*list->runs));
	struct finding_run *copy = &list->runs[list->run_count++];

	*copy = *run;
	copy->time = finding_text(list, run->time);
	copy->verb = finding_text(list, run->verb);
	copy->program = finding_text(list, run->program);
	copy->arguments = finding_text(list, run->arguments);
	copy->build_id = finding_text(list, run->build_id);
	copy->verdict = finding_text(list, run->verdict);
}

void finding_add_event(struct finding_list *list, struct finding *finding, const struct finding_event *event)
{
	finding->history = room(list, finding->history, finding->history_count, sizeof(*finding->history));
	finding->history[finding->history_count++] = (struct finding_event){
		.time = finding_text(list, event->time),
		.what = finding_text(list, event->what),
		.from = finding_text(list, event->from),
		.to = finding_text(list, event->to),
		.reason = finding_text(list, event->reason),
	};
}

static const char *const kinds[] = {
#define X(name, text) [FINDING_##name] = text,
	FINDING_KINDS(X)
#undef X
};

static const char *const states[] = {
#define X(name, text) [FINDING_##name] = text,
	FINDING_STATES(X)
#undef X
};

static const char *const reviews[] = {
#define X(name, text) [FINDING_##name] = text,
	FINDING_REVIEWS(X)
#undef X
};

const char *finding_kind_text(enum finding_kind kind)
{
	return kinds[kind];
}

const char *finding_state_text(enum finding_state state)
{
	return states[state];
}

const char *finding_review_text(enum finding_review review)
{
	return reviews[review];
}

static int look_up(const char *text, const char *const *texts, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(text, texts[i]))
			return i;
	return -1;
}

int finding_kind_of(const char *text)
{
	return look_up(text, kinds, FINDING_KIND_COUNT);
}

int finding_state_of(const char *text)
{
	return look_up(text, states, FINDING_STATE_COUNT);
}

int finding_review_of(const char *text)
{
	return look_up(text, reviews, FINDING_REVIEW_COUNT);
}

char *finding_forced_text(const struct finding *finding)
{
	const struct finding_forced *f = &finding->forced;
	uint64_t harmless = f->schedules - f->infeasible - f->failed;
	char failed[64] = "", infeasible[64] = "", passed[64] = "";

	if (!f->schedules)
		return NULL;
	if (f->failed)
		snprintf(failed, sizeof failed, ", %" PRIu64 " failed", f->failed);
	if (f->infeasible)
		snprintf(infeasible, sizeof infeasible, ", %" PRIu64 " not feasible", f->infeasible);
	if (harmless)
		snprintf(passed, sizeof passed, ", %" PRIu64 " harmless", harmless);
	return mem_textf("%" PRIu64 " schedule%s tried%s%s%s", f->schedules, f->schedules == 1 ? "" : "s",
			 failed, infeasible, passed);
}

const char *finding_kind_title(enum finding_kind kind)
{
	switch (kind) {
	case FINDING_ATOMICITY:
		return "Atomicity violation";
	case FINDING_RACE:
		return "Data race";
	case FINDING_HIGH_LEVEL_RACE:
		return "High-level data race";
	case FINDING_STALE_VALUE:
		return "Stale value";
	case FINDING_DEADLOCK:
		return "Deadlock";
	case FINDING_KIND_COUNT:
		break;
	}
	return "Finding";
}

char *finding_title(const struct finding *finding)
{
	const struct finding_unit *unit = finding->unit_count ? &finding->units[0] : NULL;
	bool of_unit = finding->kind != FINDING_RACE && finding->kind != FINDING_DEADLOCK;

	if (finding->title)
		return mem_text(finding->title);
	if (of_unit && unit && unit->place.function)
		return mem_textf("%s is not atomic%s%s", unit->place.function, unit->set ? " over " : "",
				 unit->set ? unit->set : "");
	if (finding->variable_count)
		return mem_textf("%s on %s", finding_kind_title(finding->kind), finding->variables[0]);
	return mem_text(finding_kind_title(finding->kind));
}
