/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/archive.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC = 8, HEADER = 60, NAME = 16, SIZE_AT = 48, SIZE_LENGTH = 10 };

void archive_begin(struct archive *archive, const struct image *image)
{
	*archive = (struct archive){.image = image, .at = MAGIC, .is_thin = image->bytes[2] == 't'};
}

static int damaged(const struct archive *archive, struct err *err, const char *why)
{
	return err_set(err, "'%s' is a damaged archive: %s at offset %zu", archive->image->path, why,
		       archive->at);
}

/* Decimal, then blanks. Returns -1 if there is anything else. */
static int number(const char *text, size_t length, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
		*value = 10 * *value + (text[i] - '0');
	if (!i)
		return -1;
	for (; i < length; i++)
		if (text[i] != ' ')
			return -1;
	return 0;
}

static char *copy(const char *text, size_t length)
{
	char *name = mem_alloc(length + 1);

	memcpy(name, text, length);
	name[length] = 0;
	return name;
}

/* A member of a thin archive is named relative to the archive's folder. */
static char *beside(const struct archive *archive, char *name)
{
	const char *slash = strrchr(archive->image->path, '/');
	char *path;

	if (*name == '/' || !slash)
		return name;
	path = mem_textf("%.*s/%s", (int)(slash - archive->image->path), archive->image->path, name);
	free(name);
	return path;
}

static char *long_name(const struct archive *archive, const char *field, struct err *err)
{
	uint64_t offset;
	const char *start, *end;

	if (number(field + 1, NAME - 1, &offset) || offset >= archive->names_size) {
		damaged(archive, err, "a name that is not in the table of names");
		return NULL;
	}
	start = archive->names + offset;
	end = memchr(start, '\n', archive->names_size - offset);
	if (!end || end == start) {
		damaged(archive, err, "a name without an end");
		return NULL;
	}
	return copy(start, end - start - (end[-1] == '/'));
}

static char *short_name(const char *field)
{
	size_t length = NAME;

	while (length && field[length - 1] == ' ')
		length--;
	if (length > 1 && field[length - 1] == '/')
		length--;
	return copy(field, length);
}

/* The name is the beginning of the contents, padded with zeros. */
static char *bsd_name(const struct archive *archive, const char *field, struct archive_member *member,
		      struct err *err)
{
	uint64_t length;
	char *name;

	if (number(field + 3, NAME - 3, &length) || length > member->size) {
		damaged(archive, err, "a name longer than its member");
		return NULL;
	}
	name = copy((char *)member->bytes, length);
	member->bytes += length;
	member->size -= length;
	return name;
}

static int is_table(const char *name)
{
	return !strncmp(name, "/               ", NAME) || !strncmp(name, "//              ", NAME) ||
	       !strncmp(name, "/SYM64/", 7) || !strncmp(name, "__.SYMDEF", 9);
}

static char *member_name(const struct archive *archive, const char *field, struct archive_member *member,
			 struct err *err)
{
	if (field[0] == '/')
		return long_name(archive, field, err);
	if (!strncmp(field, "#1/", 3) && !archive->is_thin)
		return bsd_name(archive, field, member, err);
	return short_name(field);
}

int archive_next(struct archive *archive, struct archive_member *member, struct err *err)
{
	const struct image *image = archive->image;

	while (archive->at < image->size) {
		const char *header = (const char *)image->bytes + archive->at;
		size_t left = image->size - archive->at;
		uint64_t size;
		int inside;

		if (left < HEADER)
			return damaged(archive, err, "a header that is cut off");
		if (memcmp(header + HEADER - 2, "`\n", 2) || number(header + SIZE_AT, SIZE_LENGTH, &size))
			return damaged(archive, err, "no header");
		inside = !archive->is_thin || is_table(header);
		if (inside && size > left - HEADER)
			return damaged(archive, err, "a member that is cut off");
		*member = (struct archive_member){
			.bytes = inside ? image->bytes + archive->at + HEADER : NULL,
			.size = size,
		};
		if (!strncmp(header, "//", 2)) {
			archive->names = header + HEADER;
			archive->names_size = size;
		} else if (!is_table(header)) {
			member->name = member_name(archive, header, member, err);
			if (!member->name)
				return -1;
			if (!inside)
				member->name = beside(archive, member->name);
		}
		archive->at += HEADER + (inside ? size + (size & 1) : 0);
		/* BSD's symbol table can have a long name as well. */
		if (member->name && strncmp(member->name, "__.SYMDEF", 9))
			return 1;
		free(member->name);
		member->name = NULL;
	}
	return 0;
}
