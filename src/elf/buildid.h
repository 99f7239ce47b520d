/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The linker's mark of one build of an executable. */
#ifndef ATOMSAN_ELF_BUILDID_H
#define ATOMSAN_ELF_BUILDID_H

/* In hexadecimal, freed by the caller; NULL if the file has none, or is no ELF file. */
char *buildid_read(const char *path);

#endif
