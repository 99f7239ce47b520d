/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ATOMSAN_ELF_SOURCENAME_H
#define ATOMSAN_ELF_SOURCENAME_H

#include <stddef.h>

/* The name of the source file that LLVM wrote into the bitcode, for the caller
 * to free; NULL if there is none to be found, whatever the bytes are. */
char *sourcename(const unsigned char *bytes, size_t size);

#endif
