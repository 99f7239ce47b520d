/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "finding/baseline.h"

#include "base/text.h"
#include "finding/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "# findings that are known, one a line; written by atomsan diff --update\n";

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct baseline_entry *)a)->id, ((const struct baseline_entry *)b)->id);
}

static void add(struct baseline *baseline, const char *id, const char *words)
{
	baseline->entries = mem_resize(baseline->entries, baseline->count + 1, sizeof(*baseline->entries));
	struct baseline_entry *entry = &baseline->entries[baseline->count++];

	snprintf(entry->id, sizeof entry->id, "%s", id);
	entry->words = mem_text(words);
}

static void add_list(struct baseline *baseline, const struct finding_list *list)
{
	for (uint32_t i = 0; i < list->finding_count; i++) {
		char *title = finding_title(&list->findings[i]);

		add(baseline, list->findings[i].id, title);
		free(title);
	}
}

static int read_lines(struct baseline *baseline, FILE *in, const char *path, struct err *err)
{
	char *line = NULL;
	size_t room = 0;
	unsigned number = 0;
	int failed = 0;

	while (!failed && getline(&line, &room, in) > 0) {
		char *words = line + strcspn(line, " \t\r\n");

		number++;
		if (*words) {
			*words++ = 0;
			words[strcspn(words, "\r\n")] = 0;
		}
		if (!*line || *line == '#')
			continue;
		if (finding_id_is_valid(line))
			add(baseline, line, words);
		else
			failed = err_set(err, "%s:%u: a line of a baseline begins with the id of a finding",
					 path, number);
	}
	if (!failed && ferror(in))
		failed = err_set(err, "cannot read the baseline %s: %s", path, strerror(errno));
	free(line);
	return failed;
}

int baseline_read(struct baseline *baseline, const char *path, struct err *err)
{
	FILE *in = fopen(path, "re");
	int failed = 0;

	*baseline = (struct baseline){0};
	if (!in)
		return err_set(err, "cannot read the baseline %s: %s", path, strerror(errno));
	int first = getc(in);

	ungetc(first, in);
	if (first == '{') {
		struct finding_list *list = finding_list_read(path, err);

		if (list)
			add_list(baseline, list);
		else
			failed = -1;
		finding_list_free(list);
	} else {
		failed = read_lines(baseline, in, path, err);
	}
	fclose(in);
	if (baseline->count)
		qsort(baseline->entries, baseline->count, sizeof(*baseline->entries), compare);
	if (failed)
		baseline_release(baseline);
	return failed;
}

void baseline_release(struct baseline *baseline)
{
	for (uint32_t i = 0; i < baseline->count; i++)
		free(baseline->entries[i].words);
	free(baseline->entries);
	*baseline = (struct baseline){0};
}

bool baseline_has(const struct baseline *baseline, const char *id)
{
	struct baseline_entry key;

	snprintf(key.id, sizeof key.id, "%s", id);
	return baseline->count &&
	       bsearch(&key, baseline->entries, baseline->count, sizeof(*baseline->entries), compare);
}

int baseline_write(const struct finding_list *list, const char *path, struct err *err)
{
	struct baseline sorted = {0};
	char *beside = mem_textf("%s.new", path);
	FILE *out = fopen(beside, "we");
	int failed = 0;

	add_list(&sorted, list);
	if (sorted.count)
		qsort(sorted.entries, sorted.count, sizeof(*sorted.entries), compare);
	if (out)
		fputs(head, out);
	for (uint32_t i = 0; out && i < sorted.count; i++) {
		if (i && !strcmp(sorted.entries[i].id, sorted.entries[i - 1].id))
			continue;
		fprintf(out, "%s ", sorted.entries[i].id);
		text_put(out, sorted.entries[i].words);
		putc('\n', out);
	}
	/* The old file is there until the new one is whole. */
	if (!out || fflush(out) || fsync(fileno(out)) || ferror(out) || rename(beside, path))
		failed = err_set(err, "cannot write the baseline %s: %s", path, strerror(errno));
	if (out)
		fclose(out);
	if (failed)
		unlink(beside);
	baseline_release(&sorted);
	free(beside);
	return failed;
}
