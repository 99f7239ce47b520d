/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/target.h"
#include "elf/buildid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *target_find(const char *program)
{
	const char *folders = getenv("PATH");

	if (strchr(program, '/'))
		return access(program, X_OK) ? NULL : mem_text(program);
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");
		char *path = mem_textf("%.*s/%s", (int)length, folders, program);
		struct stat file;

		if (!access(path, X_OK) && !stat(path, &file) && S_ISREG(file.st_mode))
			return path;
		free(path);
		folders += length + (folders[length] == ':');
	}
	return NULL;
}

static int read_output(struct target *t, struct err *err)
{
	int fd = open(t->expect_stdout, O_RDONLY | O_CLOEXEC);
	size_t room = 0;
	ssize_t got = 1;

	if (fd < 0)
		return err_set(err, "%s: cannot be read: %s", t->expect_stdout, strerror(errno));
	while (got > 0) {
		if (t->output_length == room) {
			room = room ? room * 2 : 4096;
			t->output = mem_resize(t->output, room, 1);
		}
		got = read(fd, t->output + t->output_length, room - t->output_length);
		t->output_length += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return got < 0 ? err_set(err, "%s: cannot be read: %s", t->expect_stdout, strerror(errno)) : 0;
}

int target_init(struct target *t, char **argv, struct err *err)
{
	char *end;
	double seconds = 10;
	long status = 0;

	t->argv = argv;
	if (t->timeout) {
		seconds = strtod(t->timeout, &end);
		if (end == t->timeout || *end || !(seconds > 0) || seconds > 1e6)
			return err_set(err, "--timeout=%s is no number of seconds", t->timeout);
	}
	t->timeout_ms = (uint32_t)(seconds * 1e3 + 0.5);
	if (!t->timeout_ms)
		t->timeout_ms = 1;
	if (t->expect_status) {
		status = strtol(t->expect_status, &end, 10);
		if (end == t->expect_status || *end || status < 0 || status > 255)
			return err_set(err, "--expect-status=%s is no exit status, which is 0 to 255",
				       t->expect_status);
	}
	t->status = (int)status;
	if (t->expect_stdout && read_output(t, err) < 0)
		return -1;
	t->path = target_find(argv[0]);
	if (!t->path)
		return err_set(err, "%s: there is no such program", argv[0]);
	t->build_id = buildid_read(t->path);
	return 0;
}

void target_release(struct target *t)
{
	free(t->path);
	free(t->build_id);
	free(t->output);
}

struct run_setup target_setup(const struct target *t)
{
	return (struct run_setup){.argv = t->argv,
				  .every = true,
				  .timeout_ms = t->timeout_ms,
				  .expected_status = t->status,
				  .expected_output = t->output,
				  .expected_length = t->output_length,
				  .check = t->check};
}

char *target_schedules(const struct target *t)
{
	const char *slash = strrchr(t->argv[0], '/');

	return mem_textf("%.*s.atomsan/schedules", slash ? (int)(slash - t->argv[0] + 1) : 0, t->argv[0]);
}

int target_make_folder(const char *path, struct err *err)
{
	char *copy = mem_text(path);
	int failed = 0;

	for (char *p = copy + 1; !failed; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			failed = err_set(err, "%s: cannot be made: %s", copy, strerror(errno));
		*p = c;
		if (!c)
			break;
	}
	free(copy);
	return failed;
}
