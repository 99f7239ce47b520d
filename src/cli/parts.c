/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds the other parts of atomsan from where this executable lies. */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cli_self(struct err *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0) {
		err_set(err, "cannot find out where atomsan lies: /proc/self/exe is not readable");
		return NULL;
	}
	path[n] = 0;
	return mem_text(path);
}

/* The first of the two that exists, seen from the executable's folder. */
static char *part(const char *in_build, const char *installed, struct err *err)
{
	char *self = cli_self(err);
	char *found = NULL;

	if (!self)
		return NULL;
	*strrchr(self, '/') = 0;
	for (int i = 0; i < 2 && !found; i++) {
		char *path = mem_textf("%s/%s", self, i ? installed : in_build);

		found = realpath(path, NULL);
		free(path);
	}
	if (!found)
		err_set(err, "%s/%s is missing: build atomsan with 'make', or install it again", self,
			in_build);
	free(self);
	return found;
}

char *cli_part_plugin(struct err *err)
{
	return part("src/pass/" ATOMSAN_PLUGIN, "../" ATOMSAN_LIBDIR "/" ATOMSAN_PLUGIN, err);
}

char *cli_part_runtime(struct err *err)
{
	return part("src/rt/atomsan_rt.o", "../" ATOMSAN_LIBDIR "/atomsan_rt.o", err);
}

char *cli_part_heal(struct err *err)
{
	return part("src/rt/libatomsan_heal.a", "../" ATOMSAN_LIBDIR "/libatomsan_heal.a", err);
}

char *cli_part_dynamic_list(struct err *err)
{
	return part("src/rt/atomsan.syms", "../" ATOMSAN_LIBDIR "/atomsan.syms", err);
}

char *cli_part_lower(struct err *err)
{
	return part("src/lower/atomsan-lower", "../" ATOMSAN_LIBDIR "/atomsan-lower", err);
}

char *cli_part_include(struct err *err)
{
	return part("include", "../include", err);
}
