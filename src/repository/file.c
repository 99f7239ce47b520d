/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The repository's file: read with the reader that everybody has, written so that it is whole or not there.
 */
#include "repository/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 256 << 20 };

/* ---- reading ---- */

static const char *text_of(struct repository *repository, struct atomicity_word word)
{
	char *text;

	if (!word.at)
		return NULL;
	text = repository_memory(repository, word.length + 1ul);
	atomicity_word_copy(word, text, word.length + 1);
	return text;
}

static struct repository_place place_of(struct repository *repository, const struct atomicity_place *place)
{
	return (struct repository_place){place->kind,
					 text_of(repository, place->variable),
					 text_of(repository, place->function),
					 text_of(repository, place->file),
					 place->line,
					 place->column,
					 place->ordinal,
					 place->count};
}

static void take_section(struct repository *repository, const struct atomicity_section *from)
{
	struct repository_end ends[ATOMICITY_ENDS];
	struct repository_from origins[ATOMICITY_FROMS];
	struct repository_section section = {
		.variable = text_of(repository, from->variable),
		.entry = place_of(repository, &from->entry),
		.ends = ends,
		.end_count = from->end_count,
		.unit = text_of(repository, from->unit),
		.unit_file = text_of(repository, from->unit_file),
		.any = from->any,
		.circular = from->circular,
		.recursive = from->recursive,
		.consecutive = from->consecutive,
		.from = origins,
		.from_count = from->from_count,
		.heal = from->heal,
	};

	atomicity_word_copy(from->id, section.id, sizeof(section.id));
	for (uint32_t i = 0; i < from->end_count; i++)
		ends[i] = (struct repository_end){place_of(repository, &from->ends[i].place),
						  from->ends[i].allow};
	for (uint32_t i = 0; i < from->from_count; i++)
		origins[i] = (struct repository_from){from->from[i].origin,
						      text_of(repository, from->from[i].what),
						      text_of(repository, from->from[i].state),
						      from->from[i].confidence,
						      from->from[i].runs,
						      from->from[i].times,
						      from->from[i].guarded};
	repository_add(repository, &section);
}

int repository_parse(struct repository *repository, const char *text, size_t length, const char *path,
		     struct err *err)
{
	struct atomicity_reader *reader = mem_zalloc(1, sizeof(*reader));
	int more;

	atomicity_begin(reader, text, length);
	while ((more = atomicity_next(reader)) > 0) {
		struct repository_place pair[2];

		switch (reader->item) {
		case ATOMICITY_SECTION:
			take_section(repository, &reader->section);
			break;
		case ATOMICITY_BROKEN:
			for (int i = 0; i < 2; i++)
				pair[i] = place_of(repository, &reader->broken[i]);
			repository_add_broken(repository, &pair[0], &pair[1]);
			break;
		case ATOMICITY_ORDER:
			repository_add_order(repository, text_of(repository, reader->order[0]),
					     text_of(repository, reader->order[1]));
			break;
		}
	}
	if (more < 0)
		err_set(err, "%s:%u: %s", path, reader->line, reader->sentence);
	repository->program = text_of(repository, reader->program);
	repository->build = text_of(repository, reader->build);
	free(reader);
	return more;
}

static char *read_all(int file, size_t length, size_t *got)
{
	char *text = mem_alloc(length + 1);

	*got = 0;
	while (*got < length) {
		ssize_t n = read(file, text + *got, length - *got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		*got += (size_t)n;
	}
	return text;
}

int repository_read(struct repository *repository, const char *path, struct err *err)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), result;
	struct stat status;
	size_t length;
	char *text;

	if (file < 0 && errno == ENOENT)
		return 0;
	if (file < 0)
		return err_set(err, "the atomicity repository '%s' cannot be read: %s", path,
			       strerror(errno));
	if (fstat(file, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > MOST_BYTES) {
		close(file);
		return err_set(err, "'%s' is no atomicity repository: it is no file of a bearable size",
			       path);
	}
	text = read_all(file, (size_t)status.st_size, &length);
	close(file);
	result = repository_parse(repository, text, length, path, err);
	free(text);
	return result;
}

/* ---- writing ---- */

static void put_word(FILE *out, const char *word)
{
	bool plain = *word && *word != '#';

	for (const char *p = word; *p; p++)
		plain &= (unsigned char)*p > ' ' && *p != '"' && *p != '\\' && *p != 127;
	if (plain) {
		fputs(word, out);
		return;
	}
	putc('"', out);
	for (const char *p = word; *p; p++) {
		if (*p == '"' || *p == '\\')
			putc('\\', out);
		if (*p == '\n')
			fputs("\\n", out);
		else
			putc(*p, out);
	}
	putc('"', out);
}

static void put_place(FILE *out, const struct repository_place *place)
{
	char *position = mem_textf("%s:%u:%u", place->file, place->line, place->column);

	fputs(place->kind == ATOMICITY_WRITE ? " W " : " R ", out);
	put_word(out, place->variable);
	putc(' ', out);
	put_word(out, place->function);
	putc(' ', out);
	put_word(out, position);
	if (place->ordinal)
		fprintf(out, " #%u/%u", place->ordinal, place->count);
	free(position);
}

static void put_from(FILE *out, const struct repository_from *from)
{
	fputs("  from ", out);
	switch (from->origin) {
	case ATOMICITY_SPEC:
		fputs("spec ", out);
		put_word(out, from->what);
		break;
	case ATOMICITY_ANNOTATION:
		fputs("annotation", out);
		break;
	case ATOMICITY_FINDING:
		fputs("finding ", out);
		put_word(out, from->what);
		putc(' ', out);
		put_word(out, from->state);
		break;
	case ATOMICITY_LINT:
		fputs("lint ", out);
		put_word(out, from->what);
		fprintf(out, " %u", from->confidence);
		break;
	case ATOMICITY_LEARNED:
		fprintf(out, "learned %llu runs %llu times%s", (unsigned long long)from->runs,
			(unsigned long long)from->times, from->guarded ? " guarded" : "");
		break;
	}
	putc('\n', out);
}

static void put_end(FILE *out, const struct repository_section *section, const struct repository_end *end)
{
	static const char *const kinds[] = {"none", "R", "W", "RW"};

	fputs("  end", out);
	put_place(out, &end->place);
	if (end->allow != atomicity_serializable(section->entry.kind, end->place.kind))
		fprintf(out, " allow %s", kinds[end->allow & 3]);
	putc('\n', out);
}

static void put_section(FILE *out, const struct repository_section *section)
{
	static const char *const ways[] = {"", "lock", "schedule", "off"};

	fprintf(out, "section %s ", section->id);
	put_word(out, section->variable);
	fputs("\n  entry", out);
	put_place(out, &section->entry);
	putc('\n', out);
	for (uint32_t i = 0; i < section->end_count; i++)
		put_end(out, section, &section->ends[i]);
	if (section->unit) {
		fputs("  unit ", out);
		put_word(out, section->unit);
		putc(' ', out);
		put_word(out, section->unit_file ? section->unit_file : section->entry.file);
		putc('\n', out);
	}
	if (section->any)
		fputs("  instance any\n", out);
	if (section->circular)
		fputs("  circular\n", out);
	if (section->recursive)
		fputs("  recursive\n", out);
	if (section->consecutive)
		fputs("  consecutive\n", out);
	for (uint32_t i = 0; i < section->from_count; i++)
		put_from(out, &section->from[i]);
	if (section->heal != ATOMICITY_HEAL_DEFAULT)
		fprintf(out, "  heal %s\n", ways[section->heal]);
}

void repository_print(const struct repository *repository, FILE *out)
{
	fprintf(out, "atomicity %d\n", ATOMICITY_VERSION);
	if (repository->program) {
		fputs("program ", out);
		put_word(out, repository->program);
		putc('\n', out);
	}
	if (repository->build) {
		fputs("build ", out);
		put_word(out, repository->build);
		putc('\n', out);
	}
	for (uint32_t i = 0; i < repository->order_count; i++) {
		fputs("order ", out);
		put_word(out, repository->orders[i][0]);
		putc(' ', out);
		put_word(out, repository->orders[i][1]);
		putc('\n', out);
	}
	for (uint32_t i = 0; i < repository->section_count; i++)
		put_section(out, &repository->sections[i]);
	for (uint32_t i = 0; i < repository->broken_count; i++) {
		fputs("broken", out);
		put_place(out, &repository->broken[i][0]);
		put_place(out, &repository->broken[i][1]);
		putc('\n', out);
	}
}

int repository_write(const struct repository *repository, const char *path, struct err *err)
{
	char *temporary = mem_textf("%s.%d.new", path, (int)getpid());
	FILE *out = fopen(temporary, "we");
	bool good = out != NULL;

	if (good) {
		repository_print(repository, out);
		good = !fflush(out) && !ferror(out) && !fsync(fileno(out));
		good &= !fclose(out);
		good = good && !rename(temporary, path);
	}
	if (!good) {
		err_set(err, "the atomicity repository '%s' cannot be written: %s", path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
	return good ? 0 : -1;
}
