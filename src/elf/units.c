/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/units.h"

#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/hooks.h"
#include "elf/archive.h"
#include "elf/sourcename.h"

#define SECTION "atomsan_bc"
enum { ENTRY_ALIGNMENT = 16 };

static void *grow(void *array, int count, size_t size)
{
	return count & (count - 1) ? array : mem_resize(array, count ? 2 * count : 1, size);
}

static int is_zero(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return 0;
	return 1;
}

static int damaged(struct err *err, const char *file, size_t at, const char *why)
{
	return err_set(err, "'%s' is damaged: %s at offset %zu of section " SECTION, file, why, at);
}

static int read_section(struct units *units, const char *file, const unsigned char *bytes, size_t size,
			struct err *err)
{
	size_t at = 0;

	while (at < size) {
		size_t left = size - at, step = left < ENTRY_ALIGNMENT ? left : ENTRY_ALIGNMENT;
		struct atomsan_bitcode entry;
		struct unit *unit;

		if (is_zero(bytes + at, step)) { /* the linker pads */
			at += step;
			continue;
		}
		if (left < sizeof entry)
			return damaged(err, file, at, "an entry that is cut off");
		memcpy(&entry, bytes + at, sizeof entry);
		if (memcmp(entry.magic, ATOMSAN_BITCODE_MAGIC, sizeof entry.magic))
			return damaged(err, file, at, "no entry of a version that this atomsan reads");
		if (entry.length > left - sizeof entry)
			return damaged(err, file, at, "an entry longer than the section");
		if (image_kind(bytes + at + sizeof entry, entry.length) != IMAGE_BITCODE)
			return damaged(err, file, at, "an entry that is not bitcode");
		units->at = grow(units->at, units->count, sizeof *units->at);
		unit = &units->at[units->count++];
		unit->file = file;
		unit->bytes = bytes + at + sizeof entry;
		unit->size = entry.length;
		unit->source = sourcename(unit->bytes, unit->size);
		at += sizeof entry + entry.length;
		at = (at + ENTRY_ALIGNMENT - 1) / ENTRY_ALIGNMENT * ENTRY_ALIGNMENT;
	}
	return 0;
}

/* Object files have one section of that name per COMDAT group, so look at all of them. */
static int read_sections(struct units *units, const char *file, Elf *elf, size_t size, struct err *err)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return err_set(err, "'%s' is damaged: %s", file, elf_errmsg(-1));
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || !(name = elf_strptr(elf, names, header.sh_name)))
			return err_set(err, "'%s' is damaged: %s", file, elf_errmsg(-1));
		if (strcmp(name, SECTION))
			continue;
		if (header.sh_type == SHT_NOBITS)
			return err_set(err, "'%s' holds debug information alone: give the file that runs",
				       file);
		if (header.sh_offset > size || header.sh_size > size - header.sh_offset)
			return err_set(err,
				       "'%s' is damaged: section " SECTION " ends behind the end of the file",
				       file);
		data = elf_rawdata(section, NULL);
		if (!data || data->d_size != header.sh_size)
			return err_set(err, "'%s' is damaged: %s", file, elf_errmsg(-1));
		if (data->d_size && read_section(units, file, data->d_buf, data->d_size, err))
			return -1;
	}
	return elf_errno() ? err_set(err, "'%s' is damaged: its section table cannot be read", file) : 0;
}

/* Where libelf hands out memory of its own, what it said would be gone with elf_end. */
static int in_place(const struct units *units, int from, const unsigned char *bytes, size_t size)
{
	for (; from < units->count; from++)
		if (units->at[from].bytes < bytes || units->at[from].bytes >= bytes + size)
			return 0;
	return 1;
}

static int read_elf(struct units *units, const char *file, unsigned char *bytes, size_t size, struct err *err)
{
	int first = units->count, status;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf_errno();
	elf = elf_memory((char *)bytes, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		status = err_set(err, "'%s' is damaged: %s", file, elf ? "no ELF header" : elf_errmsg(-1));
	else
		status = read_sections(units, file, elf, size, err);
	BUG_ON(!in_place(units, first, bytes, size));
	elf_end(elf);
	return status;
}

/* The name lives as long as the units. */
static const char *keep(struct units *units, char *name)
{
	units->names = grow(units->names, units->name_count, sizeof *units->names);
	return units->names[units->name_count++] = name;
}

static int read_object(struct units *units, const char *file, unsigned char *bytes, size_t size,
		       struct err *err)
{
	switch (image_kind(bytes, size)) {
	case IMAGE_ELF:
		return read_elf(units, file, bytes, size, err);
	case IMAGE_BITCODE:
		return err_set(err, "'%s' is bitcode itself, as -flto makes it: give what it was linked into",
			       file);
	case IMAGE_ARCHIVE:
		return err_set(err, "'%s' is an archive inside an archive, which linkers do not read either",
			       file);
	case IMAGE_OTHER:
		break;
	}
	return err_set(err, "'%s' is neither an ELF file nor an archive of such", file);
}

static struct image *open_image(struct units *units, const char *path, struct err *err)
{
	struct image image;

	if (image_open(&image, path, err))
		return NULL;
	units->images = grow(units->images, units->image_count, sizeof image);
	units->images[units->image_count] = image;
	return &units->images[units->image_count++];
}

/* A copy of the image's description: the array may move while members are opened. */
static int read_archive(struct units *units, struct image image, struct err *err)
{
	struct archive archive;
	struct archive_member member;
	int status;

	archive_begin(&archive, &image);
	while ((status = archive_next(&archive, &member, err)) > 0) {
		const char *name = keep(units, mem_textf("%s(%s)", image.path, member.name));
		struct image *file = member.bytes ? NULL : open_image(units, member.name, err);

		free(member.name);
		if (!member.bytes && !file)
			return -1;
		if (file)
			status = read_object(units, name, file->bytes, file->size, err);
		else
			status = read_object(units, name, member.bytes, member.size, err);
		if (status)
			return -1;
	}
	return status;
}

int units_read(struct units *units, const char *path, struct err *err)
{
	struct image *image = open_image(units, path, err);

	if (!image)
		return -1;
	if (image_kind(image->bytes, image->size) == IMAGE_ARCHIVE)
		return read_archive(units, *image, err);
	return read_object(units, keep(units, mem_text(path)), image->bytes, image->size, err);
}

void units_release(struct units *units)
{
	for (int i = 0; i < units->count; i++)
		free(units->at[i].source);
	for (int i = 0; i < units->image_count; i++)
		image_release(&units->images[i]);
	for (int i = 0; i < units->name_count; i++)
		free(units->names[i]);
	free(units->at);
	free(units->images);
	free(units->names);
	*units = (struct units){0};
}
