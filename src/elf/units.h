/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The translation units inside executables, shared objects, object files and
 * archives: the pristine bitcode that the pass leaves in section atomsan_bc
 * (struct atomsan_bitcode in abi/hooks.h). Everything is checked before a unit
 * is handed out, so a damaged file gives a sentence and no units.
 */
#ifndef ATOMSAN_ELF_UNITS_H
#define ATOMSAN_ELF_UNITS_H

#include "elf/image.h"

struct unit {
	const char *file;           /* where it was found; "lib.a(member.o)" in an archive */
	char *source;               /* name of the source file; NULL if not known */
	const unsigned char *bytes; /* bitcode, as long as the struct units lives */
	size_t size;
};

struct units {
	struct unit *at;
	int count;
	struct image *images;
	int image_count;
	char **names;
	int name_count;
};

/* Adds what the file holds; that may be nothing. Returns -1 with err set. */
int units_read(struct units *units, const char *path, struct err *err);
void units_release(struct units *units);

#endif
