/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of memory in the trace and in the shadow; see block.c. */
#ifndef ATOMSAN_RT_BLOCK_H
#define ATOMSAN_RT_BLOCK_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

/* To be called after it was got. */
void block_allocated(void *block, uint64_t size, const struct atomsan_site *site);
/* Before it is given back. */
void block_freed(void *block, const struct atomsan_site *site);

#pragma GCC visibility pop

#endif
