/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Sections that were broken while the runtime watched (rt/sections_report.c), as
 * findings: one unit is the section's, the other one that of whoever came in
 * between, so that the finding has the id that checkers give it.
 */
#include "cli/watched.h"

#include <stdio.h>
#include <string.h>

static const char *fact(const struct watched_record *record, const char *name)
{
	for (uint32_t i = 0; i < record->fact_count; i++)
		if (!strcmp(record->facts[i].name, name))
			return record->facts[i].text;
	return "";
}

/* Whoever means it is believed; what was only seen or read off the code a little less. */
static double confidence_of(const char *from)
{
	return !strncmp(from, "learned", 7) ? 0.8 : !strncmp(from, "lint", 4) ? 0.9 : 1;
}

/* "FUNCTION FILE" */
static struct finding_place unit_place(struct finding_list *list, const char *text,
				       const struct watched_access *access)
{
	const char *blank = strchr(text, ' ');

	return (struct finding_place){.function =
					      blank ? finding_textf(list, "%.*s", (int)(blank - text), text)
						    : finding_text(list, access->place.function),
				      .file = finding_text(list, blank ? blank + 1 : access->place.file),
				      .line = access->place.line};
}

static void add_units(struct finding_list *list, struct finding *finding, const struct watched_record *record)
{
	const struct watched_access *entry = &record->accesses[0], *other = &record->accesses[1];
	const char *set = finding_text(list, fact(record, "set"));
	struct finding_unit *u = finding_add_unit(list, finding);

	u->place = unit_place(list, fact(record, "unit"), entry);
	u->thread = finding_text(list, entry->thread);
	u->set = set;
	u->why = finding_textf(list, "section %s of the atomicity repository lies in it (%s)",
			       fact(record, "section"), fact(record, "from"));
	u = finding_add_unit(list, finding);
	u->place = unit_place(list, fact(record, "other"), other);
	u->thread = finding_text(list, other->thread);
	u->set = set;
	u->why = finding_text(list, "it accesses the variable meanwhile");
}

static void add_access(struct finding_list *list, struct finding *finding, const struct watched_access *from,
		       uint32_t unit)
{
	struct finding_access *to = finding_add_access(list, finding);

	to->unit = unit;
	to->op = from->op;
	to->thread = finding_text(list, from->thread);
	to->variable = finding_text(list, from->variable);
	to->place = (struct finding_place){finding_text(list, from->place.function),
					   finding_text(list, from->place.file), from->place.line,
					   from->place.column};
	to->note = finding_text(list, from->note);
	finding_add_frame(list, to, to->place);
	for (uint32_t i = 0; i < from->depth; i++)
		if (i || strcmp(from->frames[i].function, from->place.function) != 0)
			finding_add_frame(list, to,
					  (struct finding_place){finding_text(list, from->frames[i].function),
								 finding_text(list, from->frames[i].file),
								 from->frames[i].line, 0});
	finding_add_variable(list, finding, to->variable);
}

bool watched_section(struct watched *watched, struct finding *finding, struct watched_record *record)
{
	struct finding_list *list = watched->list;
	uint32_t last = record->access_count - 1;

	if (record->access_count < 3 || !*fact(record, "section"))
		return false;
	finding->kind = FINDING_ATOMICITY;
	finding->state = FINDING_OBSERVED;
	finding->confidence = confidence_of(fact(record, "from"));
	/* What came from a finding is the same again, whoever came in between this time. */
	if (!strncmp(fact(record, "from"), "finding ", 8) && finding_id_is_valid(fact(record, "from") + 8))
		snprintf(finding->id, sizeof(finding->id), "%s", fact(record, "from") + 8);
	finding->pattern = finding_text(list, fact(record, "pattern"));
	add_units(list, finding, record);
	for (uint32_t i = 0; i <= last; i++)
		add_access(list, finding, &record->accesses[i], i && i < last);
	finding_add_edge(list, finding, (struct finding_edge){0, 1, 0, 1});
	finding_add_edge(list, finding, (struct finding_edge){1, 0, last - 1, last});
	if (record->has_values && record->before != record->after)
		finding->accesses[last].note =
			finding_textf(list, "%s; the value was %#llx at the beginning and is %#llx now",
				      record->accesses[last].note, (unsigned long long)record->before,
				      (unsigned long long)record->after);
	finding->title = finding_textf(list, "%s is not atomic over %s", finding->units[0].place.function,
				       *finding->units[0].set ? finding->units[0].set : "what it accesses");
	finding->advice = finding_textf(
		list, "Hold one lock from line %u to line %u of %s, and wherever else %s is accessed.",
		record->accesses[0].place.line, record->accesses[last].place.line,
		record->accesses[0].place.file, record->accesses[0].variable);
	return true;
}
