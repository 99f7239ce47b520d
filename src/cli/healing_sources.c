/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What to heal: the atomicity repository beside the program, or, where there is
 * none, what the store's findings say.
 */
#include "cli/healing.h"
#include "elf/tables.h"
#include "finding/store.h"
#include "learn/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *text_at(const int32_t *field)
{
	return *field ? (const char *)field + *field : "";
}

/*
 * A unit is one for a set, which may be more than what the interleaving shows:
 * that of a stack has its nodes, and its depth, which tells how many there are.
 * Ends on each member of the set's struct make the section one over all.
 */
static bool add_set(struct repository *repository, const struct atomicity_table *table,
		    const struct repository_section *given, const char *set)
{
	enum { MOST = 32 };
	struct repository_section section = *given;
	struct repository_end ends[MOST + 1];

	if (given->end_count != 1 || !strncmp(given->variable, set, strlen(set)))
		return false;
	ends[0] = given->ends[0];
	for (uint64_t i = 0; i < table->count && section.end_count < MOST; i++) {
		const struct atomsan_site *site = &table->sites[i];
		unsigned kinds = atomicity_site_kinds(site);
		char *variable;
		bool known = false;

		if (!kinds || !site->member || strcmp(text_at(&site->type), set))
			continue;
		variable = mem_textf("%s.%s", set, text_at(&site->member));
		for (uint32_t k = 0; k < section.end_count; k++)
			known |= !strcmp(ends[k].place.variable, variable);
		if (!known)
			ends[section.end_count++] = (struct repository_end){
				.place = {.kind = kinds & ATOMICITY_READ ? ATOMICITY_READ : ATOMICITY_WRITE,
					  .variable = repository_text(repository, variable),
					  .function = text_at(&site->function),
					  .file = text_at(&site->file),
					  .line = site->line,
					  .column = site->column}};
		free(variable);
	}
	if (section.end_count == 1)
		return false;
	section.any = true;
	section.circular = false;
	section.ends = ends;
	if (repository_settle_section(&section, table))
		return false;
	repository_add(repository, &section);
	return true;
}

static uint32_t add_sets(struct repository *repository, const struct atomicity_table *table,
			 const struct finding *finding, uint32_t first)
{
	uint32_t count = repository->section_count, added = 0;

	for (uint32_t i = first; i < count; i++)
		for (uint32_t u = 0; u < finding->unit_count; u++) {
			const struct finding_unit *unit = &finding->units[u];
			const struct repository_section *section = &repository->sections[i];

			if (unit->set && unit->place.function && section->unit &&
			    !strcmp(section->unit, unit->place.function))
				added += add_set(repository, table, section, unit->set);
		}
	return added;
}

static uint32_t add_findings(struct repository *repository, const struct finding_list *list,
			     const struct atomicity_table *table)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *finding = &list->findings[i];

		if (finding->kind != FINDING_DEADLOCK && finding->review != FINDING_FALSE_ALARM &&
		    finding->review != FINDING_INTENDED && finding->review != FINDING_FIXED) {
			uint32_t first = repository->section_count;

			count += learn_finding(repository, table, finding, true);
			add_sets(repository, table, finding, first);
		}
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
	if (!add_findings(&healing->repository, list, &table))
		failed = err_set(err, "there is nothing to heal: no finding in %s is about a section of %s",
				 db, healing->target.path);
out:
	tables_release(&tables);
	finding_list_free(list);
	store_close(store);
	free(db);
	return failed;
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* Heal with what could be read, and say so. */
static int use_rest(struct healing *healing, struct err *err)
{
	if (healing->repository.section_count)
		cli_failf(&verb_heal, "%s; the %u sections before it are healed", err->text,
			  healing->repository.section_count);
	else
		cli_failf(&verb_heal, "%s; nothing is healed", err->text);
	healing->damaged = true;
	free(healing->path);
	healing->path = mem_textf("%s/program.atomicity", healing->folder);
	return repository_write(&healing->repository, healing->path, err);
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
	if (there && repository_read(&healing->repository, healing->path, err) < 0) {
		/* What is damaged is not written over. Else the program is to run, healed as far as can be.
		 */
		if (healing->from_findings || !is_file(healing->path))
			return -1;
		return use_rest(healing, err);
	}
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
