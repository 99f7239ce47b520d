/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/ignore.h"

#include <stdio.h>
#include <string.h>

#include "lint/vec.h"

static const char words[] = "atomsan: ignore";

struct file {
	char *name;
	struct vec_u32 lines;
};

struct ignore {
	VEC(struct file) files;
	uint32_t last;
};

struct ignore *ignore_new(void)
{
	return mem_zalloc(1, sizeof(struct ignore));
}

void ignore_free(struct ignore *ignore)
{
	for (uint32_t i = 0; i < ignore->files.count; i++) {
		free(ignore->files.at[i].name);
		vec_free(&ignore->files.at[i].lines);
	}
	vec_free(&ignore->files);
	free(ignore);
}

static void read_file(struct file *file)
{
	FILE *in = fopen(file->name, "re");
	char *line = NULL;
	size_t room = 0;

	for (uint32_t n = 1; in && getline(&line, &room, in) >= 0; n++)
		if (strstr(line, words))
			vec_push(&file->lines, n);
	free(line);
	if (in)
		fclose(in);
}

bool ignore_line(struct ignore *ignore, const char *name, uint32_t line)
{
	uint32_t at = ignore->last;

	if (!*name || !line)
		return false;
	/* Accesses of one file come together. */
	if (at >= ignore->files.count || strcmp(ignore->files.at[at].name, name)) {
		for (at = 0; at < ignore->files.count; at++)
			if (!strcmp(ignore->files.at[at].name, name))
				break;
		if (at == ignore->files.count) {
			struct file file = {.name = mem_text(name)};

			read_file(&file);
			vec_push(&ignore->files, file);
		}
		ignore->last = at;
	}
	return vec_has(&ignore->files.at[at].lines, line);
}
