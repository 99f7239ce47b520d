/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lines of the source that say "atomsan: ignore". Sources that are not found say nothing. */
#ifndef ATOMSAN_LINT_IGNORE_H
#define ATOMSAN_LINT_IGNORE_H

#include <stdbool.h>
#include <stdint.h>

struct ignore;

struct ignore *ignore_new(void);
void ignore_free(struct ignore *ignore);
bool ignore_line(struct ignore *ignore, const char *file, uint32_t line);

#endif
