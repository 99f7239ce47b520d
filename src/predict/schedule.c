/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char first_word[] = "atomsan schedule";

struct schedule *schedule_new(void)
{
	struct schedule *schedule = mem_zalloc(1, sizeof *schedule);

	schedule->every = true;
	return schedule;
}

void schedule_clear(struct schedule *s)
{
	for (uint32_t i = 0; i < s->step_count; i++) {
		free(s->steps[i].thread);
		free(s->steps[i].note);
	}
	s->step_count = 0;
}

static void list_free(char ***list, uint32_t *count)
{
	for (uint32_t i = 0; i < *count; i++)
		free((*list)[i]);
	free(*list);
	*list = NULL;
	*count = 0;
}

static void list_add(char ***list, uint32_t *count, const char *text)
{
	*list = mem_resize(*list, *count + 1, sizeof **list);
	(*list)[(*count)++] = mem_text(text);
}

void schedule_free(struct schedule *s)
{
	if (!s)
		return;
	schedule_clear(s);
	free(s->steps);
	list_free(&s->arguments, &s->argument_count);
	list_free(&s->environment, &s->environment_count);
	free(s->program);
	free(s->build_id);
	free(s->strategy);
	free(s->verdict);
	free(s->first);
	free(s);
}

static char *text_or_null(const char *text)
{
	return text ? mem_text(text) : NULL;
}

struct schedule *schedule_copy(const struct schedule *from)
{
	struct schedule *s = schedule_new();

	s->program = text_or_null(from->program);
	for (uint32_t i = 0; i < from->argument_count; i++)
		list_add(&s->arguments, &s->argument_count, from->arguments[i]);
	for (uint32_t i = 0; i < from->environment_count; i++)
		list_add(&s->environment, &s->environment_count, from->environment[i]);
	s->build_id = text_or_null(from->build_id);
	s->seed = from->seed;
	s->strategy = text_or_null(from->strategy);
	s->verdict = text_or_null(from->verdict);
	s->every = from->every;
	s->end = from->end;
	s->strayed = from->strayed;
	s->sort = from->sort;
	s->weight = from->weight;
	s->moved = from->moved;
	s->first = text_or_null(from->first);
	for (uint32_t i = 0; i < from->step_count; i++)
		schedule_add(s, from->steps[i].thread, from->steps[i].events, from->steps[i].note);
	return s;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return (hash ^ 0x100) * 0x100000001b3ull;
}

uint64_t schedule_hash_step(uint64_t before, const char *thread, uint64_t events)
{
	return (hash_text(before, thread) ^ events) * 0x100000001b3ull;
}

uint64_t schedule_hash(const struct schedule *s)
{
	uint64_t hash = hash_text(0xcbf29ce484222325ull ^ s->every ^ (uint64_t)s->end << 1, s->first);

	for (uint32_t i = 0; i < s->step_count; i++)
		hash = schedule_hash_step(hash, s->steps[i].thread, s->steps[i].events);
	return hash;
}

void schedule_add(struct schedule *s, const char *thread, uint64_t events, const char *note)
{
	struct schedule_step *last = s->step_count ? &s->steps[s->step_count - 1] : NULL;

	if (last && !strcmp(last->thread, thread)) {
		if (events >= last->events) {
			last->events = events;
			free(last->note);
			last->note = text_or_null(note);
		}
		return;
	}
	if (s->step_count == s->step_room) {
		s->step_room = s->step_room ? s->step_room * 2 : 16;
		s->steps = mem_resize(s->steps, s->step_room, sizeof *s->steps);
	}
	s->steps[s->step_count++] = (struct schedule_step){mem_text(thread), events, text_or_null(note)};
}

void schedule_set_program(struct schedule *s, const char *program, char *const *arguments, uint32_t count)
{
	free(s->program);
	s->program = mem_text(program);
	list_free(&s->arguments, &s->argument_count);
	for (uint32_t i = 0; i < count; i++)
		list_add(&s->arguments, &s->argument_count, arguments[i]);
}

/* A whole environment may hold secrets, and most of it says nothing to a program; these do. */
static bool matters(const char *variable)
{
	static const char *const names[] = {
		"LANG=",   "LANGUAGE=",       "LC_", "TZ=", "LD_LIBRARY_PATH=", "OMP_", "GOMP_",
		"MALLOC_", "GLIBC_TUNABLES=", NULL};

	for (const char *const *name = names; *name; name++)
		if (!strncmp(variable, *name, strlen(*name)))
			return true;
	return false;
}

void schedule_set_environment(struct schedule *s, char *const *variables)
{
	list_free(&s->environment, &s->environment_count);
	for (; *variables; variables++)
		if (matters(*variables))
			list_add(&s->environment, &s->environment_count, *variables);
}

void schedule_add_environment(struct schedule *s, const char *variable)
{
	list_add(&s->environment, &s->environment_count, variable);
}

/* ---- from a trace ---- */

/* Calls back for every text of a span of texts that end with NUL. */
static void each_text(struct trace_span span, void (*call)(struct schedule *, uint64_t, const char *),
		      struct schedule *s)
{
	uint64_t at = 0;

	for (uint64_t n = 0; at < span.length; n++) {
		const char *end = memchr(span.data + at, 0, span.length - at);

		if (!end)
			return;
		call(s, n, span.data + at);
		at = (uint64_t)(end - span.data) + 1;
	}
}

static void add_argument(struct schedule *s, uint64_t n, const char *text)
{
	if (n)
		list_add(&s->arguments, &s->argument_count, text);
}

static void add_variable(struct schedule *s, uint64_t n, const char *text)
{
	(void)n;
	if (matters(text))
		list_add(&s->environment, &s->environment_count, text);
}

struct schedule *schedule_of_trace(const struct trace *trace)
{
	struct schedule *s = schedule_new();
	const struct trace_module_table *module = NULL;

	s->program = mem_text(trace_program(trace));
	each_text(trace->argv, add_argument, s);
	each_text(trace->environ, add_variable, s);
	s->every = trace->header.flags & TRACE_UNFILTERED;
	s->seed = trace->header.seed;
	/* The executable registers first. */
	for (uint32_t i = 0; i < trace->module_count; i++)
		if (!module || trace->modules[i].number < module->number)
			module = &trace->modules[i];
	if (module && module->build_id_length) {
		s->build_id = mem_alloc(module->build_id_length * 2 + 1);
		for (uint32_t i = 0; i < module->build_id_length; i++)
			sprintf(s->build_id + 2 * i, "%02x", module->build_id[i]);
	}
	return s;
}

/* ---- writing ---- */

/* The rest of a line; what would end it, and the sign that stands for that, as %XX. */
static void put_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < 0x20 || c == '%' || c == 0x7f)
			fprintf(file, "%%%02X", c);
		else
			fputc(c, file);
	}
	fputc('\n', file);
}

static void put_line(FILE *file, const char *word, const char *text)
{
	if (!text)
		return;
	fprintf(file, "%s ", word);
	put_text(file, text);
}

void schedule_print(const struct schedule *s, FILE *file)
{
	fprintf(file, "%s %d\n", first_word, SCHEDULE_VERSION);
	put_line(file, "program", s->program);
	for (uint32_t i = 0; i < s->argument_count; i++)
		put_line(file, "argument", s->arguments[i]);
	for (uint32_t i = 0; i < s->environment_count; i++)
		put_line(file, "environment", s->environment[i]);
	put_line(file, "build-id", s->build_id);
	put_line(file, "strategy", s->strategy);
	if (s->seed)
		fprintf(file, "seed %" PRIu64 "\n", s->seed);
	put_line(file, "verdict", s->verdict);
	fprintf(file, "events %s\n", s->every ? "every" : "first");
	for (uint32_t i = 0; i < s->step_count; i++) {
		fprintf(file, "run %s %" PRIu64, s->steps[i].thread, s->steps[i].events);
		if (s->steps[i].note) {
			fputs(" # ", file);
			put_text(file, s->steps[i].note);
		} else {
			fputc('\n', file);
		}
	}
	fprintf(file, "then %s", s->end == SCHEDULE_FREE ? "free" : "serial");
	if (s->first && s->end == SCHEDULE_SERIAL)
		fprintf(file, " %s", s->first);
	fputc('\n', file);
}

int schedule_put(const struct schedule *s, const char *path, struct err *err)
{
	FILE *file = fopen(path, "we");
	int failed;

	if (!file)
		return err_set(err, "%s: cannot be written: %s", path, strerror(errno));
	schedule_print(s, file);
	failed = ferror(file);
	if (fclose(file) || failed)
		return err_set(err, "%s: cannot be written: %s", path, strerror(errno ? errno : EIO));
	return 0;
}

int schedule_write(const struct schedule *s, const char *path, struct err *err)
{
	char *name = mem_textf("%s.%d.new", path, (int)getpid());
	int failed = 0;

	if (schedule_put(s, name, NULL) < 0 || rename(name, path) < 0) {
		failed = err_set(err, "%s: cannot be written: %s", path, strerror(errno ? errno : EIO));
		unlink(name);
	}
	free(name);
	return failed;
}
