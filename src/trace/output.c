/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Streams forget why a write failed, so the writes are made here. */
static ssize_t write_all(void *cookie, const char *data, size_t size)
{
	struct output *output = cookie;
	size_t done = 0;

	while (done < size && !output->failed) {
		ssize_t n = write(output->fd, data + done, size - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR)
			output->failed = errno;
	}
	return output->failed ? 0 : (ssize_t)size;
}

static int seek(void *cookie, off64_t *offset, int whence)
{
	struct output *output = cookie;
	off64_t at = lseek64(output->fd, *offset, whence);

	if (at < 0)
		return -1;
	*offset = at;
	return 0;
}

static int close_file(void *cookie)
{
	struct output *output = cookie;

	if (close(output->fd) && !output->failed)
		output->failed = errno;
	return 0;
}

int output_open(struct output *output, const char *path, struct err *err)
{
	struct stat st;

	*output = (struct output){0};
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(err, "%s: this is %s and cannot be replaced", path,
			       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	/* Through a symbolic link the file itself is replaced, not the link. */
	output->path = realpath(path, NULL);
	if (!output->path)
		output->path = mem_text(path);
	output->temporary = mem_textf("%s.%ld.tmp", output->path, (long)getpid());
	output->fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (output->fd < 0) {
		err_set(err, "%s: cannot create the file: %s", path, strerror(errno));
		free(output->path);
		free(output->temporary);
		return -1;
	}
	output->file = fopencookie(
		output, "w", (cookie_io_functions_t){.write = write_all, .seek = seek, .close = close_file});
	BUG_ON(!output->file);
	setvbuf(output->file, NULL, _IOFBF, 1 << 18);
	return 0;
}

static void release(struct output *output)
{
	free(output->path);
	free(output->temporary);
	*output = (struct output){0};
}

int output_commit(struct output *output, struct err *err)
{
	int failed;

	fclose(output->file);
	if (!output->failed && rename(output->temporary, output->path))
		output->failed = errno;
	failed = output->failed;
	if (failed) {
		err_set(err, "%s: cannot write the file: %s", output->path, strerror(failed));
		unlink(output->temporary);
	}
	release(output);
	return failed ? -1 : 0;
}

void output_abandon(struct output *output)
{
	if (!output->file)
		return;
	fclose(output->file);
	unlink(output->temporary);
	release(output);
}
