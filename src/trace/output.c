/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(struct output *output, const char *path, struct err *err)
{
	struct stat st;
	int fd;

	*output = (struct output){0};
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return err_set(err, "%s: this is %s and cannot be replaced", path,
			       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	/* Through a symbolic link the file itself is replaced, not the link. */
	output->path = realpath(path, NULL);
	if (!output->path)
		output->path = mem_text(path);
	output->temporary = mem_textf("%s.%ld.tmp", output->path, (long)getpid());
	fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		err_set(err, "%s: cannot create the file: %s", path, strerror(errno));
		free(output->path);
		free(output->temporary);
		return -1;
	}
	output->file = fdopen(fd, "w");
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

void output_failed(struct output *output)
{
	if (!output->failed)
		output->failed = errno ? errno : EIO;
}

int output_commit(struct output *output, struct err *err)
{
	int failed;

	/* A write that failed earlier left the stream marked; what is still in its
	 * buffer fails again now and tells the reason. */
	errno = 0;
	if (fflush(output->file) || ferror(output->file))
		output_failed(output);
	errno = 0;
	if (fclose(output->file))
		output_failed(output);
	if (!output->failed && rename(output->temporary, output->path))
		output_failed(output);
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
