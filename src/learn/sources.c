/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sections from what is known already: findings, and the user's word. */
#include "learn/learn.h"

#include <stdlib.h>
#include <string.h>

/* ---- findings ---- */

static const char *text_at(const int32_t *field)
{
	return *field ? (const char *)field + *field : "";
}

static unsigned kind_of(char op, bool first)
{
	switch (op) {
	case 'R':
		return ATOMICITY_READ;
	case 'W':
		return ATOMICITY_WRITE;
	case 'U': /* begins with its read and ends with its write */
		return first ? ATOMICITY_READ : ATOMICITY_WRITE;
	default:
		return 0;
	}
}

/* "table+24" is a byte in the middle of the variable. */
static char *variable_of(const struct finding_access *access)
{
	char *name = mem_text(access->variable), *plus = strrchr(name, '+');

	if (plus && plus != name && strspn(plus + 1, "0123456789") == strlen(plus + 1))
		*plus = 0;
	return name;
}

static bool is_usable(const struct finding_access *access, uint32_t unit)
{
	return access->unit == unit && kind_of(access->op, true) && access->variable &&
	       access->place.function && access->place.file && access->place.line;
}

static struct repository_place place_at(const struct finding_place *at, const char *variable, unsigned kind)
{
	return (struct repository_place){kind, variable, at->function, at->file, at->line, at->column, 0, 0};
}

static struct atomicity_word word(const char *text)
{
	return (struct atomicity_word){.at = text, .length = (uint32_t)strlen(text)};
}

static bool is_there(const struct repository_place *place, const struct atomicity_table *table)
{
	struct atomicity_place at = {place->kind,
				     word(place->variable),
				     word(place->function),
				     word(place->file),
				     place->line,
				     place->column,
				     0,
				     0};

	return atomicity_match(&at, table, true, &at.line, &at.column);
}

/* What the program calls what is accessed there; NULL: nothing. */
static const char *name_at(struct repository *repository, const struct atomicity_table *table,
			   const struct finding_place *at, unsigned kind)
{
	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];
		const char *type = text_at(&site->type), *member = text_at(&site->member);
		char *name;

		if (site->line != at->line || site->column != at->column ||
		    !(atomicity_site_kinds(site) & kind) ||
		    !atomicity_site_function(site, word(at->function), word(at->file)))
			continue;
		if (*type && *member)
			name = mem_textf("%s.%s", type, member);
		else if (site->base_kind == ATOMSAN_BASE_GLOBAL && *text_at(&site->base))
			name = mem_text(text_at(&site->base));
		else
			continue;
		const char *kept = repository_text(repository, name);

		free(name);
		return kept;
	}
	return NULL;
}

/*
 * The access among the program's places. A finding of the static side may show
 * where a function was inlined, and with its innermost frame where the access
 * stands; and who goes by addresses names a byte of the whole variable where the
 * program names a member.
 */
static struct repository_place place_of(struct repository *repository, const struct atomicity_table *table,
					const struct finding_access *access, const char *variable, bool first)
{
	unsigned kind = kind_of(access->op, first);
	struct repository_place named = place_at(&access->place, variable, kind);
	const struct finding_place *places[] = {&access->place, access->depth ? access->stack : NULL};

	for (int by_name = 1; by_name >= 0; by_name--)
		for (unsigned i = 0; i < 2 && places[i]; i++) {
			struct repository_place place = place_at(places[i], variable, kind);

			if (!place.function || !place.file)
				continue;
			if (!by_name)
				place.variable = name_at(repository, table, places[i], kind);
			if (place.variable && is_there(&place, table))
				return place;
		}
	return named;
}

/* The other half of an update of which one access is shown: who came in between this time may be the one that
 * is broken next time. Not if that was under a lock, for then the whole update most likely is, and to keep
 * whole what is whole is in the way of others. */
static bool other_half(const struct atomicity_table *table, const struct repository_place *shown,
		       struct repository_place *other)
{
	unsigned wanted = shown->kind == ATOMICITY_WRITE ? ATOMICITY_READ : ATOMICITY_WRITE;
	struct atomicity_word variable = {.at = shown->variable, .length = (uint32_t)strlen(shown->variable)};
	const struct atomsan_site *best = NULL;

	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];

		if (!(atomicity_site_kinds(site) & wanted) || atomicity_site_variable(site, variable) <= 0 ||
		    strcmp(text_at(&site->function), shown->function) != 0 ||
		    strcmp(text_at(&site->file), shown->file) != 0)
			continue;
		if (!best || site->line < best->line ||
		    (site->line == best->line && site->column < best->column))
			best = site;
	}
	if (!best)
		return false;
	*other = *shown;
	other->kind = wanted;
	other->line = best->line;
	other->column = best->column;
	return true;
}

static bool learn_pair(struct repository *repository, const struct atomicity_table *table,
		       const struct finding *finding, const struct finding_access *first,
		       const struct finding_access *last, const struct finding_place *around)
{
	struct repository_from from = {.origin = ATOMICITY_FINDING,
				       .what = finding->id,
				       .state = finding_state_text(finding->state)};
	struct repository_section section = {.end_count = 1, .from = &from, .from_count = 1};
	char *entered = variable_of(first), *ended = variable_of(last);
	struct repository_end end;
	bool added = false;

	section.entry = place_of(repository, table, first, entered, true);
	end.place = place_of(repository, table, last, ended, false);
	if (first == last && first->op != 'U' &&
	    !other_half(table, &end.place, first->op == 'W' ? &section.entry : &end.place))
		goto out;
	section.variable = section.entry.variable;
	end.allow = atomicity_serializable(section.entry.kind, end.place.kind);
	section.ends = &end;
	section.any = strcmp(section.variable, end.place.variable) != 0;
	section.circular = first != last && section.entry.kind == end.place.kind &&
			   section.entry.line == end.place.line && section.entry.column == end.place.column;
	if (around && around->function && around->file) {
		section.unit = around->function;
		section.unit_file = around->file;
	}
	added = !repository_settle_section(&section, table);
	if (added)
		repository_add(repository, &section);
out:
	free(entered);
	free(ended);
	return added;
}

static bool learn_unit(struct repository *repository, const struct atomicity_table *table,
		       const struct finding *finding, uint32_t unit, bool halves)
{
	const struct finding_access *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < finding->access_count; i++)
		if (is_usable(&finding->accesses[i], unit)) {
			first = first ? first : &finding->accesses[i];
			last = &finding->accesses[i];
		}
	if (!first || (first == last && first->op != 'U' && (!halves || first->lock_count)))
		return false;
	return learn_pair(repository, table, finding, first, last, &finding->units[unit].place);
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Did another thread come in between in a way that the two do not allow? */
static bool is_broken(const struct finding *finding, uint32_t first, uint32_t last)
{
	const struct finding_access *a = &finding->accesses[first], *b = &finding->accesses[last];
	unsigned allow = atomicity_serializable(kind_of(a->op, true), kind_of(b->op, false));

	for (uint32_t i = first + 1; i < last; i++) {
		const struct finding_access *other = &finding->accesses[i];

		if (other->thread && strcmp(other->thread, a->thread) != 0 &&
		    same(other->variable, a->variable) &&
		    (kind_of(other->op, true) | kind_of(other->op, false)) & ~allow)
			return true;
	}
	return false;
}

/* In one call of a function, unless it is in a loop. */
static bool comes_later(const struct finding_place *a, const struct finding_place *b)
{
	return same(a->function, b->function) && same(a->file, b->file) &&
	       (b->line > a->line || (b->line == a->line && b->column > a->column));
}

/*
 * A run that failed, of which nobody knows the units: what is shown is where
 * threads changed places. One that was stopped between two accesses to the same
 * variable in one function, and others broke them: that is most likely the bug.
 */
static uint32_t learn_failure(struct repository *repository, const struct atomicity_table *table,
			      const struct finding *finding)
{
	uint32_t added = 0;

	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *a = &finding->accesses[i];

		if (!is_usable(a, FINDING_NO_UNIT) || !a->thread)
			continue;
		for (uint32_t k = i + 1; k < finding->access_count; k++) {
			const struct finding_access *b = &finding->accesses[k];

			if (!is_usable(b, FINDING_NO_UNIT) || !same(a->thread, b->thread) ||
			    !same(a->variable, b->variable))
				continue;
			if (comes_later(&a->place, &b->place) && is_broken(finding, i, k))
				added += learn_pair(repository, table, finding, a, b, &a->place);
			break;
		}
	}
	return added;
}

uint32_t learn_finding(struct repository *repository, const struct atomicity_table *table,
		       const struct finding *finding, bool halves)
{
	uint32_t added = 0;

	for (uint32_t unit = 0; unit < finding->unit_count; unit++)
		added += learn_unit(repository, table, finding, unit, halves);
	if (!finding->unit_count && finding->kind == FINDING_ATOMICITY && halves)
		added += learn_failure(repository, table, finding);
	return added;
}

/* ---- the user's word ---- */

static bool file_fits(const char *word, const char *file)
{
	size_t n = strlen(word), m = strlen(file);

	return m >= n && !strcmp(file + m - n, word) && (m == n || file[m - n - 1] == '/');
}

/* The place of an access of this kind to the variable on the line, the first one or the last. */
static bool find(const struct atomicity_table *table, const char *position, const char *variable,
		 unsigned kind, bool last, struct repository_place *place)
{
	struct atomicity_word word = {.at = variable, .length = (uint32_t)strlen(variable)};
	char *file = mem_text(position), *colon = strrchr(file, ':');
	uint32_t line = (uint32_t)strtoul(colon + 1, NULL, 10);
	const struct atomsan_site *best = NULL;

	*colon = 0;
	for (uint64_t i = 0; i < table->count; i++) {
		const struct atomsan_site *site = &table->sites[i];

		if (site->line != line || !(atomicity_site_kinds(site) & kind) ||
		    !atomicity_site_variable(site, word) || !file_fits(file, text_at(&site->file)))
			continue;
		if (!best || (last ? site->column > best->column : site->column < best->column))
			best = site;
	}
	free(file);
	if (best)
		*place = (struct repository_place){kind,
						   variable,
						   text_at(&best->function),
						   text_at(&best->file),
						   best->line,
						   best->column,
						   0,
						   0};
	return best != NULL;
}

static int missing(const struct spec_section *section, const char *position, struct err *err)
{
	return err_set(err, "%s:%u: the program has no access to %s at %s", section->where, section->line,
		       section->variable, position);
}

static int learn_statement(struct repository *repository, const struct atomicity_table *table,
			   const struct spec_section *from, struct err *err)
{
	char *where = mem_textf("%s:%u", from->where, from->line);
	struct repository_from origin = {.origin = ATOMICITY_SPEC, .what = where};
	struct repository_section section = {.variable = from->variable, .from = &origin, .from_count = 1};
	struct repository_end *ends = mem_zalloc(from->end_count, sizeof(*ends));
	int result = 0;

	/* What begins with reading ends with writing, on the same line, too. */
	if (!find(table, from->entry, from->variable, ATOMICITY_READ, false, &section.entry) &&
	    !find(table, from->entry, from->variable, ATOMICITY_WRITE, false, &section.entry))
		result = missing(from, from->entry, err);
	for (uint32_t i = 0; i < from->end_count && !result; i++) {
		if (!find(table, from->ends[i], from->variable, ATOMICITY_WRITE, true, &ends[i].place) &&
		    !find(table, from->ends[i], from->variable, ATOMICITY_READ, true, &ends[i].place))
			result = missing(from, from->ends[i], err);
		else
			ends[i].allow = from->allow[i] == ~0u ? atomicity_serializable(section.entry.kind,
										       ends[i].place.kind)
							      : from->allow[i];
	}
	section.ends = ends;
	section.end_count = from->end_count;
	if (!result) {
		section.unit = from->unit;
		section.unit_file = from->unit ? section.entry.file : NULL;
		section.circular = from->end_count == 1 && section.entry.kind == ends[0].place.kind &&
				   section.entry.line == ends[0].place.line &&
				   section.entry.column == ends[0].place.column;
		repository_settle_section(&section, table);
		repository_add(repository, &section);
	}
	free(ends);
	free(where);
	return result;
}

int learn_spec(struct repository *repository, const struct atomicity_table *table, const struct spec *spec,
	       uint32_t *added, struct err *err)
{
	uint32_t count;
	const struct spec_section *sections = spec_sections(spec, &count);

	for (uint32_t i = 0; i < count; i++, ++*added)
		if (learn_statement(repository, table, &sections[i], err) < 0)
			return -1;
	return 0;
}
