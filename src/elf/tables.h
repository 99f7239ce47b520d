/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of sites that the pass left in an executable or shared object, read
 * from the file. Entries lie as far from their strings as they do in the
 * running program, so what reads tables in memory reads these, too; every
 * distance has been checked.
 */
#ifndef ATOMSAN_ELF_TABLES_H
#define ATOMSAN_ELF_TABLES_H

#include "abi/hooks.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct tables {
	unsigned char *memory;
	const struct atomsan_site *sites;
	uint64_t count; /* 0: the file was not built with atomsan */
};

/* -1 with err set. Release it after success. */
int tables_read(struct tables *tables, const char *path, struct err *err);
void tables_release(struct tables *tables);

/* Is it an executable or object with something in a section of this name? */
bool tables_has_section(const char *path, const char *name);

#endif
