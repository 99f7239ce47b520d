/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/tables.h"

#include "elf/image.h"

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Tables and strings lie in one file, so they cannot be farther apart than this. */
#define MOST_BYTES (1ull << 31)

struct part {
	uint64_t address, size;
	const unsigned char *bytes;
};

static int find(Elf *elf, const struct image *image, const char *wanted, struct part *part)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return -1;
	*part = (struct part){0};
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || !(name = elf_strptr(elf, names, header.sh_name)))
			return -1;
		if (strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS)
			continue;
		if (header.sh_offset > image->size || header.sh_size > image->size - header.sh_offset ||
		    header.sh_addr > UINT64_MAX - header.sh_size)
			return -1;
		*part = (struct part){header.sh_addr, header.sh_size, image->bytes + header.sh_offset};
		return 0;
	}
	return 0;
}

/* The string must begin and end inside the strings. */
static bool is_text(const struct part *strings, uint64_t field, int32_t distance)
{
	uint64_t at = field + (uint64_t)(int64_t)distance - strings->address;

	return !distance || (at < strings->size && memchr(strings->bytes + at, 0, strings->size - at));
}

static bool checked(const struct part *sites, const struct part *strings)
{
	for (uint64_t i = 0; i < sites->size / sizeof(struct atomsan_site); i++) {
		struct atomsan_site site;
		uint64_t at = sites->address + i * sizeof(site);

		memcpy(&site, sites->bytes + i * sizeof(site), sizeof(site));
		if (!is_text(strings, at + offsetof(struct atomsan_site, function), site.function) ||
		    !is_text(strings, at + offsetof(struct atomsan_site, file), site.file) ||
		    !is_text(strings, at + offsetof(struct atomsan_site, type), site.type) ||
		    !is_text(strings, at + offsetof(struct atomsan_site, member), site.member) ||
		    !is_text(strings, at + offsetof(struct atomsan_site, base), site.base))
			return false;
	}
	return true;
}

static int lay_out(struct tables *tables, const struct part *sites, const struct part *strings)
{
	uint64_t low = sites->address, high = sites->address + sites->size;

	if (!sites->size)
		return 0;
	if (strings->size && strings->address < low)
		low = strings->address;
	if (strings->size && strings->address + strings->size > high)
		high = strings->address + strings->size;
	low &= ~7ull;
	if (high - low > MOST_BYTES || sites->address % 8 || sites->size % sizeof(struct atomsan_site) ||
	    !checked(sites, strings))
		return -1;
	tables->memory = mem_zalloc(1, high - low);
	if (strings->size)
		memcpy(tables->memory + (strings->address - low), strings->bytes, strings->size);
	memcpy(tables->memory + (sites->address - low), sites->bytes, sites->size);
	tables->sites = (const struct atomsan_site *)(tables->memory + (sites->address - low));
	tables->count = sites->size / sizeof(struct atomsan_site);
	return 0;
}

int tables_read(struct tables *tables, const char *path, struct err *err)
{
	struct part sites, strings;
	struct image image;
	int result = 0;
	Elf *elf;

	*tables = (struct tables){0};
	if (image_open(&image, path, err) < 0)
		return -1;
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image.bytes, image.size);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		result = err_set(err, "'%s' is no executable", path);
	else if (find(elf, &image, "atomsan_sites", &sites) < 0 ||
		 find(elf, &image, "atomsan_str", &strings) < 0 || lay_out(tables, &sites, &strings) < 0)
		result = err_set(err, "'%s' is damaged: its table of accesses cannot be read", path);
	elf_end(elf);
	image_release(&image);
	return result;
}

void tables_release(struct tables *tables)
{
	free(tables->memory);
	*tables = (struct tables){0};
}

bool tables_has_section(const char *path, const char *name)
{
	struct image image;
	struct part part = {0};
	struct err err;
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE || image_open(&image, path, &err) < 0)
		return false;
	elf = image_kind(image.bytes, image.size) == IMAGE_ELF ? elf_memory((char *)image.bytes, image.size)
							       : NULL;
	if (!elf || find(elf, &image, name, &part) < 0)
		part.size = 0;
	elf_end(elf);
	image_release(&image);
	return part.size != 0;
}
