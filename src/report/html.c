/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/html.h"

#include "finding/json.h"
#include "report/block.h"
#include "report/excerpt.h"
#include "report/value.h"
#include "report/viewer.h"

#include <stdlib.h>
#include <string.h>

/* The viewer shows a unit from its first line to the last that is known of it. */
enum { LONGEST_UNIT = 400, AROUND_STEP = 4, AROUND_FRAME = 3 };

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static uint32_t last_line_of_unit(struct source_files *files, const struct finding *finding, uint32_t number)
{
	const struct finding_place *unit = &finding->units[number].place;
	uint32_t last = unit->file && unit->line ? block_end(files, unit->file, unit->line) : 0;

	if (last < unit->line)
		last = unit->line;

	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *access = &finding->accesses[i];

		if (access->unit != number)
			continue;
		if (same(access->place.file, unit->file) && access->place.line > last)
			last = access->place.line;
		for (uint32_t f = 0; f < access->depth; f++)
			if (same(access->stack[f].function, unit->function) &&
			    same(access->stack[f].file, unit->file) && access->stack[f].line > last)
				last = access->stack[f].line;
	}
	return last - unit->line > LONGEST_UNIT ? unit->line + LONGEST_UNIT : last;
}

/* Units are told where they end. */
static void want_sources(struct excerpt_list *excerpts, struct source_files *files,
			 const struct finding *finding, json_t *object)
{
	for (uint32_t i = 0; i < finding->unit_count; i++) {
		const struct finding_place *place = &finding->units[i].place;
		uint32_t last = last_line_of_unit(files, finding, i);

		json_object_set_new(json_array_get(json_object_get(object, "units"), i), "end",
				    json_integer(last));
		excerpt_want(excerpts, place->file, place->line, last, AROUND_STEP);
	}
	for (uint32_t i = 0; i < finding->access_count; i++) {
		const struct finding_access *access = &finding->accesses[i];

		excerpt_want(excerpts, access->place.file, access->place.line, access->place.line,
			     AROUND_STEP);
		for (uint32_t f = 0; f < access->depth; f++)
			excerpt_want(excerpts, access->stack[f].file, access->stack[f].line,
				     access->stack[f].line, AROUND_FRAME);
	}
}

static json_t *changed_sources(struct source_files *files, const struct finding *finding,
			       const struct report_options *options)
{
	json_t *array = json_array();
	const char *file;
	uint32_t from = 0;

	while ((file = report_changed(files, finding, &from)))
		json_array_append_new(array, value_text(report_path(options, file)));
	return array;
}

/* Every "file" as it shall be shown. */
static void shorten(json_t *value, const struct report_options *options)
{
	const char *key;
	json_t *part;
	size_t i;

	if (json_is_array(value)) {
		json_array_foreach(value, i, part) shorten(part, options);
	} else if (json_is_object(value)) {
		json_object_foreach(value, key, part)
		{
			if (!strcmp(key, "file") && json_is_string(part))
				json_string_set(part, report_path(options, json_string_value(part)));
			else
				shorten(part, options);
		}
	}
}

static json_t *document(const struct finding_list *list, const struct report_options *options)
{
	json_t *root = finding_list_to_json(list), *findings = json_object_get(root, "findings");
	struct excerpt_list *excerpts = excerpt_list_new(options);
	struct source_files *files = source_files_new(options->source_root);

	if (options->strip_path_prefix)
		shorten(findings, options);
	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *finding = &list->findings[i];
		json_t *object = json_array_get(findings, i);
		char *title = finding_title(finding), *replay = report_replay(list, finding);

		json_object_set_new(object, "name", value_take(title));
		json_object_set_new(object, "replay", value_text(replay));
		free(replay);
		json_object_set_new(object, "changed", changed_sources(files, finding, options));
		want_sources(excerpts, files, finding, object);
	}
	json_object_set_new(root, "suppressed", json_integer((json_int_t)options->suppressed));
	json_object_set_new(root, "sources", excerpt_list_json(excerpts, files));
	excerpt_list_free(excerpts);
	source_files_free(files);
	return root;
}

/* Inside a script element nothing must look like the end of it. All is ASCII already, and "<" stands in
 * strings alone. */
static int put(const char *buffer, size_t size, void *user)
{
	FILE *out = user;

	for (size_t i = 0; i < size; i++) {
		if (buffer[i] == '<')
			fputs("\\u003c", out);
		else
			putc_unlocked(buffer[i], out);
	}
	return 0;
}

void report_html(FILE *out, const struct finding_list *list, const struct report_options *options)
{
	json_t *root = document(list, options);

	fwrite(viewer_head, 1, sizeof viewer_head, out);
	json_dump_callback(root, put, out, JSON_COMPACT | JSON_ENSURE_ASCII);
	fwrite(viewer_tail, 1, sizeof viewer_tail, out);
	json_decref(root);
}
