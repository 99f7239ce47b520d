/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the repository share. */
#ifndef ATOMSAN_REPOSITORY_INSIDE_H
#define ATOMSAN_REPOSITORY_INSIDE_H

#include "repository/repository.h"

/* Zeroed, and freed with the repository. */
void *repository_memory(struct repository *repository, size_t size);
/* Ids, and keys of broken pairs, have changed. */
void repository_index(struct repository *repository);
void repository_remove(struct repository *repository, bool (*unwanted)(struct repository_section *, void *),
		       void *arg);

#endif
