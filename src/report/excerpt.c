/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/excerpt.h"

#include "base/err.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 12 << 20, LONGEST_LINE = 2000 };

struct wish {
	const char *file; /* the finding's */
	uint32_t from, to;
};

struct excerpt_list {
	const struct report_options *options;
	struct wish *wishes;
	uint32_t count, room;
};

struct excerpt_list *excerpt_list_new(const struct report_options *options)
{
	struct excerpt_list *list = mem_zalloc(1, sizeof(*list));

	list->options = options;
	return list;
}

void excerpt_list_free(struct excerpt_list *list)
{
	free(list->wishes);
	free(list);
}

void excerpt_want(struct excerpt_list *list, const char *file, uint32_t from, uint32_t to, uint32_t around)
{
	if (!file || !from)
		return;
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->wishes = mem_resize(list->wishes, list->room, sizeof(*list->wishes));
	}
	list->wishes[list->count++] = (struct wish){
		.file = file,
		.from = from > around ? from - around : 1,
		.to = to < UINT32_MAX - around ? to + around : UINT32_MAX,
	};
}

static int compare(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : x->from < y->from ? -1 : x->from > y->from;
}

static json_t *lines_of(struct source_files *files, const char *file, uint32_t from, uint32_t to,
			size_t *bytes)
{
	json_t *lines = json_array();

	for (uint32_t n = from; n <= to && *bytes < MOST_BYTES; n++) {
		const char *line = source_line(files, file, n);

		if (!line)
			break;
		char *part = mem_textf("%.*s", LONGEST_LINE, line), *clean = text_utf8(part);

		*bytes += strlen(clean) + 4;
		json_array_append_new(lines, json_string(clean));
		free(clean);
		free(part);
	}
	return lines;
}

/* All excerpts of the file that the wish at `first` names; returns the index of the next file's. */
static uint32_t add_file(struct excerpt_list *list, uint32_t first, struct source_files *files,
			 json_t *object, size_t *bytes)
{
	const char *file = list->wishes[first].file;
	json_t *excerpts = json_array();
	uint32_t i = first;

	while (i < list->count && !strcmp(list->wishes[i].file, file)) {
		uint32_t from = list->wishes[i].from, to = list->wishes[i].to;

		while (++i < list->count && !strcmp(list->wishes[i].file, file) &&
		       list->wishes[i].from <= (uint64_t)to + 1)
			if (list->wishes[i].to > to)
				to = list->wishes[i].to;
		json_t *lines = lines_of(files, file, from, to, bytes);

		if (json_array_size(lines))
			json_array_append_new(excerpts, json_pack("[Io]", (json_int_t)from, lines));
		else
			json_decref(lines);
	}
	if (json_array_size(excerpts)) {
		char *name = text_utf8(report_path(list->options, file));

		json_object_set(object, name, excerpts);
		free(name);
	}
	json_decref(excerpts);
	return i;
}

json_t *excerpt_list_json(struct excerpt_list *list, struct source_files *files)
{
	json_t *object = json_object();
	size_t bytes = 0;

	if (list->count)
		qsort(list->wishes, list->count, sizeof(*list->wishes), compare);
	for (uint32_t i = 0; i < list->count && bytes < MOST_BYTES;)
		i = add_file(list, i, files, object, &bytes);
	return object;
}
