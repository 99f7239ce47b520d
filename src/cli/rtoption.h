/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's options (ATOMSAN_OPTIONS), for verbs that work for the runtime. */
#ifndef ATOMSAN_CLI_RTOPTION_H
#define ATOMSAN_CLI_RTOPTION_H

#include <stdbool.h>
#include <stdint.h>

/* The value as the environment has it, else the default; the caller frees it. */
char *rtoption_text(const char *name);
/* The same of a number or a switch; what is no number counts as the default. */
uint64_t rtoption_number(const char *name);

#endif
