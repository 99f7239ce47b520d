/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/source.h"

#include "base/err.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 16 << 20 };

struct source_file {
	char *path;
	char *data;
	const char **lines;
	uint32_t count;
	time_t written;
};

struct source_files {
	const char *root;
	struct source_file *files; /* in the order of their paths */
	uint32_t count;
};

struct source_files *source_files_new(const char *root)
{
	struct source_files *files = mem_zalloc(1, sizeof(*files));

	files->root = root;
	return files;
}

void source_files_free(struct source_files *files)
{
	for (uint32_t i = 0; i < files->count; i++) {
		free(files->files[i].path);
		free(files->files[i].data);
		free(files->files[i].lines);
	}
	free(files->files);
	free(files);
}

/* The whole file with a NUL behind it, or NULL. A path that is a pipe must not make us wait. */
static char *read_file(const char *path, size_t *size, time_t *written)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat status;
	char *data = NULL;

	*size = 0;
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= LARGEST) {
		ssize_t got;

		data = mem_alloc((size_t)status.st_size + 1);
		while (*size < (size_t)status.st_size &&
		       (got = read(fd, data + *size, (size_t)status.st_size - *size)) > 0)
			*size += (size_t)got;
		data[*size] = 0;
		*written = status.st_mtime;
	}
	close(fd);
	return data;
}

/* Names come from traces and documents that may come from anywhere, and what they name ends up in a report
 * that is passed on. So it must at least look like a source. */
static bool is_source(const char *path)
{
	static const char *const endings[] = {"c",   "h",   "cc",  "cpp", "cxx", "c++", "hh",
					      "hpp", "hxx", "inc", "inl", "ipp", "tcc", "tpp",
					      "def", "y",   "l",   "m",   "mm",  "rs"};
	const char *dot = strrchr(path, '.');

	for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	return false;
}

static char *read_under(const char *folder, int length, const char *path, size_t *size, time_t *written)
{
	char *longer = mem_textf("%.*s/%s", length, folder, path);
	char *data = read_file(longer, size, written);

	free(longer);
	return data;
}

/*
 * Compilers name a file from the folder they ran in, or from one that it has
 * in common with the source. Who reads the report may be in either, in a
 * folder below, or in the project's while the build was in another one. So a
 * relative path is tried here, in the given root, and in every folder above;
 * and all of this again without the "../" in front.
 */
static char *look_for(const char *root, const char *path, size_t *size, time_t *written)
{
	char *data = read_file(path, size, written);
	char *here = NULL;

	if (data || *path == '/')
		return data;
	if (root)
		data = read_under(root, (int)strlen(root), path, size, written);
	if (!data)
		here = getcwd(NULL, 0);
	for (char *end = here ? strrchr(here, '/') : NULL; end && !data; end = strrchr(here, '/')) {
		data = read_under(here, (int)(end - here), path, size, written);
		*end = 0;
	}
	free(here);
	while (!data && !strncmp(path, "../", 3))
		data = look_for(root, path += 3, size, written);
	return data;
}

static void split(struct source_file *file, size_t size)
{
	char *at = file->data, *end = file->data + size;

	while (at < end) {
		char *newline = memchr(at, '\n', (size_t)(end - at));
		char *stop = newline ? newline : end;

		if (!(file->count & (file->count - 1)))
			file->lines = mem_resize(file->lines, file->count ? 2 * (size_t)file->count : 1,
						 sizeof(*file->lines));
		file->lines[file->count++] = at;
		*stop = 0;
		if (stop > at && stop[-1] == '\r')
			stop[-1] = 0;
		at = stop + 1;
	}
}

static struct source_file *find(struct source_files *files, const char *path)
{
	uint32_t low = 0, high = files->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(files->files[middle].path, path);

		if (!order)
			return &files->files[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	files->files = mem_resize(files->files, files->count + 1, sizeof(*files->files));
	memmove(&files->files[low + 1], &files->files[low], (files->count - low) * sizeof(*files->files));
	files->count++;
	struct source_file *file = &files->files[low];
	size_t size = 0;

	*file = (struct source_file){.path = mem_text(path)};
	if (is_source(path))
		file->data = look_for(files->root, path, &size, &file->written);
	if (file->data)
		split(file, size);
	return file;
}

const char *source_line(struct source_files *files, const char *path, uint32_t line)
{
	if (!path || !line)
		return NULL;
	const struct source_file *file = find(files, path);

	return line <= file->count ? file->lines[line - 1] : NULL;
}

time_t source_written(struct source_files *files, const char *path)
{
	return path ? find(files, path)->written : 0;
}

uint32_t source_line_count(struct source_files *files, const char *path)
{
	return path ? find(files, path)->count : 0;
}
