/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/deaf.h"

#include <sys/stat.h>
#include <unistd.h>

const char *deaf_reason(const char *program)
{
	struct stat file;

	/* Who may run it with another's rights may not tell it which files to write. */
	if (!stat(program, &file) && ((file.st_mode & S_ISUID && file.st_uid != getuid()) ||
				      (file.st_mode & S_ISGID && file.st_gid != getgid())))
		return "it runs with other rights than yours (set-user-ID or set-group-ID), and then takes "
		       "no "
		       "options";
	return "was it built with 'atomsan cc'?";
}
