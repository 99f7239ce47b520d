/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "elf/needed.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "elf/image.h"

#define DEFAULT_FOLDERS "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib"

/* A program or library under way, and what led to it. */
struct object {
	const struct object *parent;
	const char *path;
	char *rpath, *runpath; /* $ORIGIN replaced; NULL if none */
	char **names;          /* DT_NEEDED */
	int count;
};

struct search {
	struct needed *needed;
	char *cache; /* what ldconfig prints; NULL: not asked yet */
};

static char **append(char **list, int *count, char *text)
{
	list = mem_resize(list, *count + 1, sizeof *list);
	list[(*count)++] = text;
	return list;
}

static char *replace_origin(const char *list, const char *path)
{
	static const char *const spellings[] = {"$ORIGIN", "${ORIGIN}"};
	char *real = realpath(path, NULL);
	char *text = mem_text(list), *at;

	if (real)
		*strrchr(real, '/') = 0;
	for (int i = 0; i < 2; i++)
		while (real && (at = strstr(text, spellings[i]))) {
			char *longer = mem_textf("%.*s%s%s", (int)(at - text), text, real,
						 at + strlen(spellings[i]));

			free(text);
			text = longer;
			/* A folder's own name may look like this; then it stays as it is. */
			if (strstr(real, spellings[i]))
				break;
		}
	free(real);
	return text;
}

static void read_dynamic(struct object *object, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		const char *text;

		if (dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_RPATH && dyn.d_tag != DT_RUNPATH)
			continue;
		text = elf_strptr(elf, header->sh_link, dyn.d_un.d_val);
		if (!text)
			continue;
		if (dyn.d_tag == DT_NEEDED)
			object->names = append(object->names, &object->count, mem_text(text));
		else if (dyn.d_tag == DT_RPATH && !object->rpath)
			object->rpath = replace_origin(text, object->path);
		else if (dyn.d_tag == DT_RUNPATH && !object->runpath)
			object->runpath = replace_origin(text, object->path);
	}
}

static int read_object(struct object *object, struct err *err)
{
	struct image image;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf *elf;

	if (image_open(&image, object->path, err))
		return -1;
	elf_version(EV_CURRENT);
	elf = image_kind(image.bytes, image.size) == IMAGE_ELF ? elf_memory((char *)image.bytes, image.size)
							       : NULL;
	while (elf && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			read_dynamic(object, elf, section, &header);
	elf_end(elf);
	image_release(&image);
	return 0;
}

static void release_object(struct object *object)
{
	for (int i = 0; i < object->count; i++)
		free(object->names[i]);
	free(object->names);
	free(object->rpath);
	free(object->runpath);
}

/* An ELF file for this machine, as opposed to a linker script or a library for another. */
static int is_loadable(const char *path)
{
	unsigned char head[20];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(head, 1, sizeof head, file) : 0;

	if (file)
		fclose(file);
	return n == sizeof head && image_kind(head, n) == IMAGE_ELF && head[EI_CLASS] == ELFCLASS64 &&
	       head[18] == EM_X86_64;
}

static char *in_folders(const char *folders, const char *name)
{
	char *copy = mem_text(folders ? folders : ""), *rest = copy, *folder, *found = NULL;

	while (!found && folders && *folders && (folder = strsep(&rest, ":;"))) {
		found = mem_textf("%s/%s", *folder ? folder : ".", name);
		if (!is_loadable(found)) {
			free(found);
			found = NULL;
		}
	}
	free(copy);
	return found;
}

static char *read_cache(void)
{
	FILE *pipe = popen("/sbin/ldconfig -p 2>/dev/null", "re");
	char *text = mem_text("");
	char *line = NULL;
	size_t room = 0;

	while (pipe && getline(&line, &room, pipe) > 0) {
		char *longer = mem_textf("%s%s", text, line);

		free(text);
		text = longer;
	}
	free(line);
	if (pipe)
		pclose(pipe);
	return text;
}

/* Lines such as "\tlibc.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libc.so.6". */
static char *in_cache(struct search *search, const char *name)
{
	char *start = mem_textf("\n\t%s (", name), *at, *found = NULL;

	if (!search->cache)
		search->cache = read_cache();
	for (at = search->cache; !found && (at = strstr(at, start)); at++) {
		const char *arrow = strstr(at + 1, " => ");

		if (!arrow)
			break;
		found = mem_textf("%.*s", (int)strcspn(arrow + 4, "\n"), arrow + 4);
		if (!is_loadable(found)) {
			free(found);
			found = NULL;
		}
	}
	free(start);
	return found;
}

static char *find(struct search *search, const struct object *object, const char *name)
{
	char *found = NULL;

	if (strchr(name, '/'))
		return is_loadable(name) ? mem_text(name) : NULL;
	if (!object->runpath)
		for (const struct object *o = object; o && !found; o = o->parent)
			found = in_folders(o->rpath, name);
	if (!found)
		found = in_folders(getenv("LD_LIBRARY_PATH"), name);
	if (!found)
		found = in_folders(object->runpath, name);
	if (!found)
		found = in_cache(search, name);
	return found ? found : in_folders(DEFAULT_FOLDERS, name);
}

static int is_known(const struct needed *needed, const char *path)
{
	struct stat this, other;

	if (stat(path, &this))
		return 0;
	for (int i = 0; i < needed->count; i++)
		if (!stat(needed->paths[i], &other) && this.st_dev == other.st_dev &&
		    this.st_ino == other.st_ino)
			return 1;
	return 0;
}

static int visit(struct search *search, const struct object *parent, const char *path, struct err *err)
{
	struct object object = {.parent = parent, .path = path};
	int status = read_object(&object, err);

	for (int i = 0; i < object.count && !status; i++) {
		struct needed *needed = search->needed;
		char *found = find(search, &object, object.names[i]);

		if (!found) {
			char *text = mem_textf("%s needed by %s", object.names[i], path);

			needed->missing = append(needed->missing, &needed->missing_count, text);
		} else if (is_known(needed, found)) {
			free(found);
		} else {
			needed->paths = append(needed->paths, &needed->count, found);
			status = visit(search, &object, found, err);
		}
	}
	release_object(&object);
	return status;
}

int needed_read(struct needed *needed, const char *program, struct err *err)
{
	struct search search = {.needed = needed};
	int status;

	*needed = (struct needed){0};
	status = visit(&search, NULL, program, err);
	free(search.cache);
	return status;
}

void needed_release(struct needed *needed)
{
	for (int i = 0; i < needed->count; i++)
		free(needed->paths[i]);
	for (int i = 0; i < needed->missing_count; i++)
		free(needed->missing[i]);
	free(needed->paths);
	free(needed->missing);
	*needed = (struct needed){0};
}
