/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/watched.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- records to findings ---- */

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static struct finding_place place_of(struct finding_list *list, const struct finding_place *place)
{
	return (struct finding_place){.function = finding_text(list, known(place->function)),
				      .file = finding_text(list, known(place->file)),
				      .line = place->line,
				      .column = place->column};
}

/* A unit and an access for each access of the record. */
static void add_accesses(struct finding_list *list, struct finding *finding,
			 const struct watched_record *record, const char *why)
{
	for (uint32_t i = 0; i < record->access_count; i++) {
		const struct watched_access *a = &record->accesses[i];
		const char *variable = finding_text(list, known(a->variable));
		struct finding_access *access;

		if (known(a->place.function)) {
			struct finding_unit *unit = finding_add_unit(list, finding);

			unit->place = place_of(list, &a->place);
			unit->thread = finding_text(list, known(a->thread));
			unit->set = variable;
			unit->why = finding_text(list, why);
		}
		access = finding_add_access(list, finding);
		access->unit = known(a->place.function) ? finding->unit_count - 1 : FINDING_NO_UNIT;
		access->op = a->op;
		access->thread = finding_text(list, known(a->thread));
		access->variable = variable;
		access->place = place_of(list, &a->place);
		access->note = finding_text(list, known(a->note));
		/* The innermost function is the access's own, unless it is not marked. */
		finding_add_frame(list, access, access->place);
		for (uint32_t f = 0; f < a->depth; f++)
			if (f || !known(a->place.function) ||
			    strcmp(a->frames[f].function, a->place.function))
				finding_add_frame(list, access, place_of(list, &a->frames[f]));
		if (variable)
			finding_add_variable(list, finding, variable);
	}
}

/* Two names for the same bytes: what one access knows more exactly the other is told. */
static void agree(struct watched_access *a, struct watched_access *b)
{
	size_t length = strlen(b->variable);

	if (!length || (!strncmp(a->variable, b->variable, length) && strchr(".[", a->variable[length])))
		b->variable = a->variable;
}

static bool add_race(struct watched *watched, struct finding *finding, struct watched_record *record)
{
	struct watched_access *first = &record->accesses[0], *second = &record->accesses[1];
	struct finding_list *list = watched->list;
	const char *variable, *one, *other;

	if (record->access_count != 2)
		return false;
	agree(first, second);
	agree(second, first);
	variable = known(first->variable) ? first->variable : "memory without a name";
	one = known(first->place.function) ? first->place.function : "a function without a name";
	other = known(second->place.function);
	finding->kind = FINDING_RACE;
	finding->state = FINDING_OBSERVED;
	finding->confidence = 1;
	finding->pattern = finding_textf(list, "%c%c", first->op, second->op);
	if (!other)
		finding->title = finding_textf(list, "%s is changed during an access in %s", variable, one);
	else if (!strcmp(one, other))
		finding->title =
			finding_textf(list, "two threads access %s in %s at the same time", variable, one);
	else
		finding->title =
			finding_textf(list, "%s and %s access %s at the same time", one, other, variable);
	finding->advice = finding_textf(
		list, "Let every access to %s be made under one lock, or make it atomic.", variable);
	add_accesses(list, finding, record, "it accesses the variable");
	if (record->has_values)
		finding->accesses[0].note =
			finding_textf(list, "%s%sthe value was %#llx and became %#llx meanwhile",
				      finding->accesses[0].note ? finding->accesses[0].note : "",
				      finding->accesses[0].note ? ", " : "",
				      (unsigned long long)record->before, (unsigned long long)record->after);
	return true;
}

/* By kind of record: fills in the finding; false if the record cannot be what it says. */
static const struct {
	const char *kind;
	bool (*add)(struct watched *watched, struct finding *finding, struct watched_record *record);
} kinds[] = {
	{"race", add_race},
	{"section", watched_section},
};

/* ---- the file ---- */

struct reader {
	struct watched *watched;
	uint32_t line;
	struct watched_record record;
	bool open;
	/* Findings of this file, by kind and number. */
	struct entry {
		const char *kind;
		uint64_t number, times;
		uint32_t finding;
	} *entries;
	uint32_t entry_count;
};

/* The fields of a line, ended and without escapes, in place. Returns how many there are. */
static uint32_t split(char *line, char **fields, uint32_t room)
{
	uint32_t count = 0;
	char *to = line;

	fields[count++] = line;
	for (char *p = line; *p; p++) {
		if (*p == '\t') {
			*to++ = 0;
			if (count == room)
				return room + 1;
			fields[count++] = to;
		} else if (*p == '\\' && p[1]) {
			p++;
			*to++ = *p == 't' ? '\t' : *p == 'n' ? '\n' : *p;
		} else {
			*to++ = *p;
		}
	}
	*to = 0;
	return count;
}

static bool number(const char *text, int base, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, base);
	return *text && *text != '-' && *text != '+' && *text != ' ' && !*end && !errno;
}

static bool take_access(struct watched_record *record, char **f)
{
	struct watched_access *a = &record->accesses[record->access_count];
	uint64_t line, column;

	if (record->access_count == WATCHED_ACCESSES || strlen(f[1]) != 1 || !strchr("RWU", f[1][0]) ||
	    !number(f[4], 10, &a->length) || !number(f[7], 10, &line) || !number(f[8], 10, &column) ||
	    line > UINT32_MAX || column > UINT32_MAX)
		return false;
	a->op = f[1][0];
	a->thread = f[2];
	a->variable = f[3];
	a->place = (struct finding_place){f[5], f[6], (uint32_t)line, (uint32_t)column};
	a->note = f[9];
	a->depth = 0;
	record->access_count++;
	return true;
}

static bool take_frame(struct watched_record *record, char **f)
{
	struct watched_access *a = record->access_count ? &record->accesses[record->access_count - 1] : NULL;
	uint64_t line;

	if (!a || a->depth == sizeof a->frames / sizeof *a->frames || !number(f[3], 10, &line) ||
	    line > UINT32_MAX)
		return false;
	a->frames[a->depth++] = (struct finding_place){f[1], f[2], (uint32_t)line, 0};
	return true;
}

static bool take_fact(struct watched_record *record, char **f)
{
	if (record->fact_count == WATCHED_FACTS)
		return false;
	record->facts[record->fact_count].name = f[1];
	record->facts[record->fact_count++].text = f[2];
	return true;
}

/* The record is whole. A kind that nobody knows is from a newer runtime. */
static bool end_record(struct reader *r)
{
	struct finding_list *list = r->watched->list;

	r->open = false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct finding *finding;

		if (strcmp(kinds[i].kind, r->record.kind) != 0)
			continue;
		finding = finding_add(list);
		finding->verb = finding_text(list, r->watched->verb);
		finding->seen = 1;
		r->entries = mem_resize(r->entries, r->entry_count + 1ull, sizeof *r->entries);
		r->entries[r->entry_count++] =
			(struct entry){kinds[i].kind, r->record.number, 1, list->finding_count - 1};
		return kinds[i].add(r->watched, finding, &r->record);
	}
	return false;
}

static bool take_seen(struct reader *r, char **f)
{
	uint64_t n, times;

	if (!number(f[2], 10, &n) || !number(f[3], 10, &times))
		return false;
	for (uint32_t i = 0; i < r->entry_count; i++)
		if (r->entries[i].number == n && !strcmp(r->entries[i].kind, f[1]) &&
		    times > r->entries[i].times)
			r->entries[i].times = times;
	return true;
}

static bool take_count(struct watched *watched, char **f)
{
	uint64_t value;

	if (!number(f[2], 10, &value))
		return false;
	for (uint32_t i = 0; i < watched->count_count; i++) {
		if (!strcmp(watched->counts[i].name, f[1])) {
			watched->counts[i].value += (double)value;
			return true;
		}
	}
	watched->counts = mem_resize(watched->counts, watched->count_count + 1ull, sizeof *watched->counts);
	watched->counts[watched->count_count++] =
		(struct watched_count){finding_text(watched->list, f[1]), (double)value};
	return true;
}

static bool take_line(struct reader *r, char *line)
{
	static const struct {
		const char *word;
		uint32_t fields;
		bool inside;
	} words[] = {{"report", 3, false}, {"access", 10, true}, {"frame", 4, true}, {"values", 3, true},
		     {"fact", 3, true},    {"end", 1, true},     {"seen", 4, false}, {"count", 3, false}};
	struct watched_record *record = &r->record;
	uint32_t count, w = 0;
	char *f[10];

	count = split(line, f, 10);
	while (w < sizeof words / sizeof *words && strcmp(words[w].word, f[0]) != 0)
		w++;
	if (w == sizeof words / sizeof *words || count != words[w].fields || words[w].inside != r->open)
		return false;
	switch (w) {
	case 0:
		*record = (struct watched_record){.kind = f[1]};
		r->open = true;
		return number(f[2], 10, &record->number);
	case 1:
		return take_access(record, f);
	case 2:
		return take_frame(record, f);
	case 3:
		record->has_values = true;
		return number(f[1], 16, &record->before) && number(f[2], 16, &record->after);
	case 4:
		return take_fact(record, f);
	case 5:
		return end_record(r);
	case 6:
		return take_seen(r, f);
	default:
		return take_count(r->watched, f);
	}
}

/* How often what this file tells of was seen, and on how many variables. */
static void sum_up(struct reader *r)
{
	struct watched *watched = r->watched;
	struct finding_list *list = watched->list;
	uint32_t first = list->finding_count - r->entry_count;

	for (uint32_t i = 0; i < r->entry_count; i++) {
		struct finding *finding = &list->findings[r->entries[i].finding];
		bool again = false;

		finding->seen = r->entries[i].times;
		watched->times += finding->seen;
		watched->findings++;
		for (uint32_t k = first; k < first + i && !again; k++)
			again = list->findings[k].variable_count && finding->variable_count &&
				!strcmp(list->findings[k].variables[0], finding->variables[0]);
		watched->variables += !again;
	}
}

int watched_parse(struct watched *watched, char *text, struct err *err)
{
	struct reader r = {.watched = watched};
	uint32_t before = watched->list->finding_count;
	bool good = true;

	for (char *line = text, *end; good && *line; line = end) {
		end = strchr(line, '\n');
		/* The last line may have been cut off when the process was killed. */
		if (!end)
			break;
		*end++ = 0;
		r.line++;
		good = r.line == 1 ? !strcmp(line, "watched\t1") : take_line(&r, line);
	}
	if (good)
		sum_up(&r);
	else
		watched->list->finding_count = before;
	free(r.entries);
	watched->processes++;
	return good ? 0 : err_set(err, "line %u of what the runtime saw is damaged", r.line);
}

static char *read_file(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	size_t room = 65536, length = 0, n;
	char *text = file ? mem_alloc(room) : NULL;

	while (file && (n = fread(text + length, 1, room - length - 1, file))) {
		length += n;
		if (length + 1 == room)
			text = mem_resize(text, room *= 2, 1);
	}
	if (!file || ferror(file)) {
		err_set(err, "%s: cannot be read: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else {
		text[length] = 0;
	}
	if (file)
		fclose(file);
	return text;
}

int watched_read(struct watched *watched, const char *folder, struct err *err)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	int failed = directory ? 0 : err_set(err, "%s: cannot be read: %s", folder, strerror(errno));

	watched->times = 0;
	watched->variables = watched->findings = 0;
	while (directory && !failed && (entry = readdir(directory))) {
		char *path, *text;

		if (strncmp(entry->d_name, "watched.", 8) != 0)
			continue;
		path = mem_textf("%s/%s", folder, entry->d_name);
		text = read_file(path, err);
		if (text && !*text)
			failed = err_set(err, "%s has no room for what the runtime saw", folder);
		else
			failed = !text || watched_parse(watched, text, err) < 0 ? -1 : 0;
		free(text);
		free(path);
	}
	if (directory)
		closedir(directory);
	return failed;
}

double watched_count(const struct watched *watched, const char *name)
{
	for (uint32_t i = 0; i < watched->count_count; i++)
		if (!strcmp(watched->counts[i].name, name))
			return watched->counts[i].value;
	return 0;
}

void watched_release(struct watched *watched)
{
	free(watched->counts);
	watched->counts = NULL;
	watched->count_count = 0;
}
