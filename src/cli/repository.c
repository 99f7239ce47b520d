/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/repository.h"

#include "elf/buildid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell_lost(const struct repository_section *section, const struct repository_place *place,
		      void *arg)
{
	struct program_repository *r = arg;

	if (r->lost++ < 5)
		fprintf(stderr, "section %s over %s is gone: the program has no %s of %s in %s any more\n",
			section->id, section->variable, place->kind == ATOMICITY_WRITE ? "write" : "read",
			place->variable, place->function);
}

int repository_open_given(struct repository *repository, const char *path, struct err *err)
{
	if (access(path, F_OK) < 0)
		return err_set(err, "%s: cannot be read: %s", path, strerror(errno));
	return repository_read(repository, path, err);
}

int program_repository_open(struct program_repository *r, const char *program, const char *path,
			    struct err *err)
{
	const char *slash = strrchr(program, '/');
	char *build;

	*r = (struct program_repository){0};
	if (tables_read(&r->tables, program, err) < 0)
		return -1;
	if (!r->tables.count)
		return err_set(err, "%s: has no table of accesses: was it built with 'atomsan cc'?", program);
	r->index = mem_zalloc(atomicity_index_room(r->tables.count), sizeof(*r->index));
	r->table = (struct atomicity_table){r->tables.sites, r->tables.count, NULL};
	atomicity_index(&r->table, r->index);
	r->path = path ? mem_text(path) : mem_textf("%s.atomicity", program);
	if (repository_read(&r->repository, r->path, err) < 0)
		return -1;
	r->before = r->repository.section_count;
	build = buildid_read(program);
	repository_settle(&r->repository, &r->table, build, tell_lost, r);
	free(build);
	if (r->lost)
		fprintf(stderr, "%u of %u sections match the program\n", r->before - r->lost, r->before);
	r->repository.program = repository_text(&r->repository, slash ? slash + 1 : program);
	return 0;
}

int program_repository_save(struct program_repository *r, struct err *err)
{
	return repository_write(&r->repository, r->path, err);
}

void program_repository_release(struct program_repository *r)
{
	repository_release(&r->repository);
	tables_release(&r->tables);
	free(r->index);
	free(r->path);
}
