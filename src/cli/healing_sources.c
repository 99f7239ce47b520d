/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What to heal: the atomicity repository beside the program, or, where there is
 * none, what the store's findings say. A finding has units, and the accesses of
 * each in the order of the interleaving: between a unit's first and its last
 * somebody else came, so that is the section, and the unit is what must be whole.
 */
#include "cli/healing.h"
#include "elf/tables.h"
#include "finding/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "vector.item[]" is the member as a whole. */
static const char *variable_of(struct repository *repository, const struct finding_access *access)
{
	size_t length = access->variable ? strlen(access->variable) : 0;
	char *text;
	const char *kept;

	if (length < 3 || strcmp(access->variable + length - 2, "[]"))
		return access->variable ? access->variable : "?";
	text = mem_textf("%.*s", (int)length - 2, access->variable);
	kept = repository_text(repository, text);
	free(text);
	return kept;
}

static struct repository_place place_of(struct repository *repository, const struct finding_access *access,
					unsigned kind)
{
	const char *slash = strrchr(access->place.file, '/');

	return (struct repository_place){.kind = kind,
					 .variable = variable_of(repository, access),
					 .function = access->place.function,
					 .file = slash ? slash + 1 : access->place.file,
					 .line = access->place.line,
					 .column = access->place.column};
}

static bool is_access(const struct finding_access *access, uint32_t unit)
{
	return access->unit == unit && strchr("RWU", access->op) && access->place.function &&
	       access->place.file && access->place.line;
}

/* The section that one unit of a finding is; false if it is none. */
static bool add_unit(struct repository *repository, const struct finding *finding, uint32_t unit,
		     const struct atomicity_table *table)
{
	const struct finding_access *first = NULL, *last = NULL;
	const struct finding_unit *u = &finding->units[unit];
	struct repository_section section = {0};
	struct repository_end end = {0};
	struct repository_from from = {.origin = ATOMICITY_FINDING,
				       .what = finding->id,
				       .state = finding_state_text(finding->state)};

	for (uint32_t i = 0; i < finding->access_count; i++)
		if (is_access(&finding->accesses[i], unit)) {
			first = first ? first : &finding->accesses[i];
			last = &finding->accesses[i];
		}
	/* One access is no section, but for an update, which is two. */
	if (!first || (first == last && first->op != 'U') || !u->place.function || !u->place.file)
		return false;
	section.entry = place_of(repository, first, first->op == 'W' ? ATOMICITY_WRITE : ATOMICITY_READ);
	section.variable = section.entry.variable;
	end.place = place_of(repository, last, last->op == 'R' ? ATOMICITY_READ : ATOMICITY_WRITE);
	section.any = strcmp(end.place.variable, section.variable) != 0;
	end.allow = section.any ? 0 : atomicity_serializable(section.entry.kind, end.place.kind);
	section.ends = &end;
	section.end_count = 1;
	section.unit = u->place.function;
	section.unit_file = strrchr(u->place.file, '/') ? strrchr(u->place.file, '/') + 1 : u->place.file;
	section.circular = first->place.line == last->place.line && section.entry.kind == end.place.kind;
	section.from = &from;
	section.from_count = 1;
	if (repository_settle_section(&section, table))
		return false;
	repository_add(repository, &section);
	return true;
}

uint32_t healing_add_findings(struct repository *repository, const struct finding_list *list,
			      const struct atomicity_table *table)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *finding = &list->findings[i];

		if (finding->kind == FINDING_DEADLOCK || finding->review == FINDING_FALSE_ALARM ||
		    finding->review == FINDING_INTENDED || finding->review == FINDING_FIXED)
			continue;
		for (uint32_t unit = 0; unit < finding->unit_count; unit++)
			count += add_unit(repository, finding, unit, table);
	}
	return count;
}

char *healing_db(const struct healing *healing)
{
	return healing->publish.db ? mem_text(healing->publish.db) : store_default_path(healing->target.path);
}

static int add_from_store(struct healing *healing, struct err *err)
{
	struct store_query query = STORE_QUERY_ALL;
	char *db = healing_db(healing);
	struct store *store = NULL;
	struct finding_list *list = NULL;
	struct tables tables = {0};
	struct atomicity_table table;
	int failed = 0;

	if (access(db, F_OK)) {
		failed = err_set(
			err,
			"there is nothing to heal: %s is not there, and neither is %s; let 'atomsan test' "
			"find something, or 'atomsan learn' write a repository",
			healing->path, db);
		goto out;
	}
	query.id = healing->finding;
	store = store_open(db, STORE_READ, err);
	list = store ? store_load(store, &query, err) : NULL;
	if (!list || tables_read(&tables, healing->target.path, err) < 0) {
		failed = -1;
		goto out;
	}
	if (!tables.count) {
		failed = err_set(err, "%s has no sites: was it built with 'atomsan cc'?",
				 healing->target.path);
		goto out;
	}
	table = (struct atomicity_table){.sites = tables.sites, .count = tables.count};
	if (!healing_add_findings(&healing->repository, list, &table))
		failed = err_set(err, "there is nothing to heal: no finding in %s is about a section of %s",
				 db, healing->target.path);
out:
	tables_release(&tables);
	finding_list_free(list);
	store_close(store);
	free(db);
	return failed;
}

int healing_repository(struct healing *healing, struct err *err)
{
	char *beside = mem_textf("%s.atomicity", healing->target.path);
	bool there;

	free(healing->path);
	healing->path = healing->given ? mem_text(healing->given) : beside;
	if (healing->given)
		free(beside);
	there = !access(healing->path, F_OK);
	if (!there && healing->given && !healing->from_findings)
		return err_set(err, "%s: cannot be read: %s", healing->path, strerror(errno));
	if (there && repository_read(&healing->repository, healing->path, err) < 0)
		return -1;
	if (there && !healing->from_findings)
		return 0;
	if (add_from_store(healing, err) < 0)
		return -1;
	healing->repository.build = repository_text(&healing->repository, healing->target.build_id);
	/* What was not asked for is not left lying about. */
	if (!healing->from_findings) {
		free(healing->path);
		healing->path = mem_textf("%s/program.atomicity", healing->folder);
	}
	return repository_write(&healing->repository, healing->path, err);
}
