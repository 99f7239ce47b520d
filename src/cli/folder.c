/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *folder_make(const char *verb, struct err *err)
{
	const char *given = getenv("TMPDIR");
	const char *above = given && *given == '/' && !strchr(given, ':') ? given : "/tmp";
	char *path = mem_textf("%s/atomsan-%s-XXXXXX", above, verb);

	if (mkdtemp(path))
		return path;
	err_set(err, "a temporary folder cannot be made in %s: %s", above, strerror(errno));
	free(path);
	return NULL;
}

void folder_empty(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *file = mem_textf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.')
			unlink(file);
		free(file);
	}
	if (directory)
		closedir(directory);
}

void folder_remove(const char *path)
{
	folder_empty(path);
	rmdir(path);
}

int folder_make_room(const char *path, const char *name, struct err *err)
{
	struct stat there;

	/* A folder the kernel refuses by itself, and says so. */
	if (!stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
		return err_set(err, "%s: cannot be replaced: it is not a regular file", name);
	if (unlink(path) < 0 && errno != ENOENT)
		return err_set(err, "%s: cannot be replaced: %s", name, strerror(errno));
	return 0;
}
