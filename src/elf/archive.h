/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Static archives, member by member. libelf knows no thin archives, hence this.
 *
 *   offset 0   "!<arch>\n" or, thin, "!<thin>\n"
 *   then       members, each at an even offset: a header of 60 characters, then
 *              its bytes; a thin archive has none, its members are files beside it
 *
 *   header     name 16, date 12, owner 6, group 6, mode 8, size 10 (decimal), "`\n"
 *   name       "NAME/"    GNU, short
 *              "/NUMBER"  GNU, long: the name begins there in the table "//", ends with "/\n"
 *              "#1/SIZE"  BSD, long: the first SIZE bytes of the contents are the name
 *              "/", "/SYM64/", "__.SYMDEF..." are symbol tables, no members
 */
#ifndef ATOMSAN_ELF_ARCHIVE_H
#define ATOMSAN_ELF_ARCHIVE_H

#include <stddef.h>

#include "elf/image.h"

struct archive {
	const struct image *image; /* not owned */
	size_t at;
	const char *names; /* the table of long names, or NULL */
	size_t names_size;
	int is_thin;
};

struct archive_member {
	char *name;           /* owned; of a thin archive, the path of the file */
	unsigned char *bytes; /* inside the archive's image; NULL if thin */
	size_t size;
};

void archive_begin(struct archive *archive, const struct image *image);
/* 1 and a member (the caller frees its name), 0 at the end, -1 with err set if damaged. */
int archive_next(struct archive *archive, struct archive_member *member, struct err *err);

#endif
