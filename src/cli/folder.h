/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A temporary folder for what the runtime of a program leaves to the verb that started it. */
#ifndef ATOMSAN_CLI_FOLDER_H
#define ATOMSAN_CLI_FOLDER_H

#include "base/err.h"

/* In TMPDIR, or /tmp where that is not set or has a colon, which ATOMSAN_OPTIONS could not carry. The caller
 * frees the name; NULL with err set. */
char *folder_make(const char *verb, struct err *err);
/* The files in it are gone then, and with folder_remove() so is the folder. */
void folder_empty(const char *path);
void folder_remove(const char *path);

#endif
