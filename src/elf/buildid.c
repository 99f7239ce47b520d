/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/buildid.h"

#include "base/err.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *in_notes(Elf_Data *data)
{
	GElf_Nhdr note;
	size_t at = 0, name, bytes;

	while (data && (at = gelf_getnote(data, at, &note, &name, &bytes))) {
		const unsigned char *id = (const unsigned char *)data->d_buf + bytes;
		char *text;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((const char *)data->d_buf + name, "GNU", 4) || note.n_descsz > 64)
			continue;
		text = mem_alloc(note.n_descsz * 2 + 1);
		text[0] = 0;
		for (unsigned i = 0; i < note.n_descsz; i++)
			sprintf(text + 2 * i, "%02x", id[i]);
		return text;
	}
	return NULL;
}

char *buildid_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *found = NULL;
	size_t count = 0;
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &count))
		for (size_t i = 0; i < count && !found; i++) {
			GElf_Phdr header;

			if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE)
				found = in_notes(elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
								      header.p_filesz, ELF_T_NHDR));
		}
	elf_end(elf);
	close(fd);
	return found;
}
