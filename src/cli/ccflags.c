/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/ccflags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static void add(struct ccflags *flags, char *word)
{
	BUG_ON(flags->count == CCFLAGS_MAX);
	flags->words[flags->count++] = word;
}

void ccflags_quietly(struct ccflags *flags, int begin)
{
	add(flags, mem_text(begin ? "--start-no-unused-arguments" : "--end-no-unused-arguments"));
}

int ccflags_compile(struct ccflags *flags, int heal, struct err *err)
{
	char *plugin = cli_part_plugin(err);

	if (!plugin)
		return -1;
	add(flags, mem_textf("-fpass-plugin=%s", plugin));
	add(flags, mem_text("-g"));
	if (heal) {
		free(plugin);
		return 0;
	}
	/* The members of classes that other modules describe (std::string) are named here, too. */
	add(flags, mem_text("-fstandalone-debug"));
	add(flags, mem_text("-D__ATOMSAN__=1"));
	free(plugin);
	return 0;
}

/* Not -isystem: if the folder is one that clang searches anyway, that would
 * move it before the C++ library's, which relies on the order. */
int ccflags_include(struct ccflags *flags, struct err *err)
{
	char *folder = cli_part_include(err);

	if (!folder)
		return -1;
	add(flags, mem_textf("-idirafter%s", folder));
	free(folder);
	return 0;
}

/* One word for the linker: -Wl splits at commas, so a path with one needs -Xlinker. */
static void to_linker(struct ccflags *flags, const char *option, const char *path)
{
	if (!strchr(path, ',')) {
		add(flags, mem_textf("-Wl,%s%s", option, path));
		return;
	}
	add(flags, mem_text("-Xlinker"));
	add(flags, mem_textf("%s%s", option, path));
}

/* Listed, so that shared objects find the hooks and the interposed functions in
 * the executable. The runtime goes through -Wl because an input would be taken
 * for a source after the user's -x. */
int ccflags_link(struct ccflags *flags, struct err *err)
{
	char *runtime = cli_part_runtime(err);
	char *list = runtime ? cli_part_dynamic_list(err) : NULL;

	if (list) {
		to_linker(flags, "", runtime);
		to_linker(flags, "--dynamic-list=", list);
	}
	free(runtime);
	free(list);
	return list ? 0 : -1;
}

int ccflags_link_heal(struct ccflags *flags, struct err *err)
{
	char *archive = cli_part_heal(err);

	if (archive)
		to_linker(flags, "", archive);
	free(archive);
	return archive ? 0 : -1;
}

/* The hooks stay undefined in a shared object until the executable brings
 * them. The same as -z undefs, which gold does not know. */
void ccflags_shared(struct ccflags *flags)
{
	add(flags, mem_text("-Wl,--unresolved-symbols=ignore-in-object-files"));
}

void ccflags_release(struct ccflags *flags)
{
	for (int i = 0; i < flags->count; i++)
		free(flags->words[i]);
	flags->count = 0;
}

/* The plugin's name carries the version of the clang that can load it. */
static int major(void)
{
	int n = 0;

	BUG_ON(sscanf(ATOMSAN_PLUGIN, "atomsan-pass-%d", &n) != 1);
	return n;
}

const char *ccflags_compiler_name(int cxx)
{
	static char name[32];

	snprintf(name, sizeof name, cxx ? "clang++-%d" : "clang-%d", major());
	return name;
}

char *ccflags_compiler(int cxx, struct err *err)
{
	const char *name = ccflags_compiler_name(cxx);
	const char *folders = getenv("PATH");
	char *copy = mem_text(folders ? folders : "/usr/local/bin:/usr/bin:/bin");
	char *rest = copy, *folder, *path = NULL;

	while (!path && (folder = strsep(&rest, ":"))) {
		path = mem_textf("%s/%s", *folder ? folder : ".", name);
		if (access(path, X_OK)) {
			free(path);
			path = NULL;
		}
	}
	free(copy);
	if (path)
		return path;
	path = mem_textf("/usr/lib/llvm-%d/bin/%s", major(), cxx ? "clang++" : "clang");
	if (!access(path, X_OK))
		return path;
	free(path);
	err_set(err,
		"%s is neither in PATH nor in /usr/lib/llvm-%d/bin: 'apt-get install clang-%d' brings it",
		name, major(), major());
	return NULL;
}
