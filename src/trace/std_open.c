/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace, or a text trace that is made one on the way. */
#include "trace/std.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does the file begin with a line of STD text? */
static bool is_text(const char *text, size_t size)
{
	const char *end = memchr(text, '\n', size < 65536 ? size : 65536);
	struct std_line line;

	return !std_parse(text, end ? (size_t)(end - text) : size, &line);
}

static struct trace *import(const char *text, size_t size, const char *path, struct err *err)
{
	const char *folder = getenv("TMPDIR");
	char *name = mem_textf("%s/atomsan-XXXXXX", folder && *folder ? folder : "/tmp");
	struct trace *trace = NULL;
	int fd = mkstemp(name);

	if (fd < 0) {
		err_set(err, "%s: cannot make a temporary file: %s", name, strerror(errno));
		free(name);
		return NULL;
	}
	close(fd);
	if (std_import(text, size, path, name, err) >= 0)
		trace = trace_open(name, err);
	if (trace) {
		free(trace->path);
		trace->path = mem_text(path);
	}
	unlink(name);
	free(name);
	return trace;
}

struct trace *std_open(const char *path, struct err *err)
{
	struct trace *trace = NULL;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
		size_t size = (size_t)status.st_size;
		char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (text != MAP_FAILED) {
			bool import_it = !trace_is_one(text, size) && is_text(text, size);

			if (import_it)
				trace = import(text, size, path, err);
			munmap(text, size);
			if (import_it) {
				close(fd);
				return trace;
			}
		}
	}
	if (fd >= 0)
		close(fd);
	return trace_open(path, err);
}
