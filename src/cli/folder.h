/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where the runtime of a program leaves things to the verb that started it. */
#ifndef ATOMSAN_CLI_FOLDER_H
#define ATOMSAN_CLI_FOLDER_H

#include "base/err.h"

/* In TMPDIR, or /tmp where that is not set or has a colon, which ATOMSAN_OPTIONS could not carry. The caller
 * frees the name; NULL with err set. */
char *folder_make(const char *verb, struct err *err);
/* The files in it are gone then, and with folder_remove() so is the folder. */
void folder_empty(const char *path);
void folder_remove(const char *path);

/* Makes room for a new file where an older one may be. Anything but a file stays, a device above all: what a
 * user names may be /dev/full. `name` is how the user spelled it. 0, or -1 with err set. */
int folder_make_room(const char *path, const char *name, struct err *err);

#endif
