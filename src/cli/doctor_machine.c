/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kernel and the limits, as far as the runtime and the commands depend on
 * them: the shadow is a large, mostly untouched mapping at a fixed place.
 */
#include "cli/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

/* Megabytes. The runtime stops recording below the first (option keep_free). */
enum { NO_ROOM = 256, LITTLE_ROOM = 2048 };
/* With more, mappings reach addresses that share a shadow cell with others. */
enum { MOST_RANDOM_BITS = 28 };

/* The first line; 0 if the file is not there. */
static int read_setting(const char *name, char *text, int size)
{
	char path[128];
	FILE *file;
	int there;

	snprintf(path, sizeof path, "/proc/sys/%s", name);
	file = fopen(path, "re");
	there = file && fgets(text, size, file);
	if (file)
		fclose(file);
	if (there)
		text[strcspn(text, "\n")] = 0;
	return there;
}

static void overcommit(struct doctor *doctor)
{
	char text[32];

	if (!read_setting("vm/overcommit_memory", text, sizeof text))
		doctor_say(doctor, DOCTOR_WARNING, mem_text("vm.overcommit_memory cannot be read"), NULL);
	else if (atoi(text) == 2)
		doctor_say(doctor, DOCTOR_BROKEN,
			   mem_text("vm.overcommit_memory is 2, which leaves no room for the shadow of the "
				    "memory"),
			   mem_text("sysctl vm.overcommit_memory=0"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_textf("vm.overcommit_memory is %s", text), NULL);
}

static void randomness(struct doctor *doctor)
{
	char text[32];

	if (!read_setting("vm/mmap_rnd_bits", text, sizeof text))
		return; /* only root may read it on some kernels */
	if (atoi(text) > MOST_RANDOM_BITS)
		doctor_say(
			doctor, DOCTOR_WARNING,
			mem_textf("vm.mmap_rnd_bits is %s: variables may share their shadow by chance", text),
			mem_textf("sysctl vm.mmap_rnd_bits=%d", MOST_RANDOM_BITS));
	else
		doctor_say(doctor, DOCTOR_OK, mem_textf("vm.mmap_rnd_bits is %s", text), NULL);
}

static void debugging(struct doctor *doctor)
{
	char text[256];

	if (read_setting("kernel/yama/ptrace_scope", text, sizeof text) && atoi(text) > 1)
		doctor_say(doctor, DOCTOR_WARNING,
			   mem_textf("kernel.yama.ptrace_scope is %s: gdb cannot be used by ordinary users",
				     text),
			   mem_text("sysctl kernel.yama.ptrace_scope=1"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("gdb may trace its own children"), NULL);
	if (read_setting("kernel/perf_event_paranoid", text, sizeof text) && atoi(text) > 2)
		doctor_say(doctor, DOCTOR_WARNING,
			   mem_textf("kernel.perf_event_paranoid is %s: perf cannot measure programs", text),
			   mem_text("sysctl kernel.perf_event_paranoid=2"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("perf may measure programs"), NULL);
}

static void cores(struct doctor *doctor)
{
	char pattern[256];
	struct rlimit limit;

	if (read_setting("kernel/core_pattern", pattern, sizeof pattern) && pattern[0] == '|')
		doctor_say(doctor, DOCTOR_WARNING,
			   mem_textf("core files go to the program %.*s", (int)strcspn(pattern + 1, " "),
				     pattern + 1),
			   mem_text("sysctl kernel.core_pattern=core"));
	if (!getrlimit(RLIMIT_CORE, &limit) && !limit.rlim_cur)
		doctor_say(doctor, DOCTOR_WARNING, mem_text("a program that crashes leaves no core file"),
			   mem_text("ulimit -c unlimited"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("core files are not limited to nothing"), NULL);
}

static void address_space(struct doctor *doctor)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		doctor_say(
			doctor, DOCTOR_BROKEN,
			mem_textf("the address space is limited to %llu MB, and the shadow needs all of it",
				  (unsigned long long)limit.rlim_cur >> 20),
			mem_text("ulimit -v unlimited"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("the address space is not limited"), NULL);
}

/* Replaying wants the same addresses again. Tried in a child, since it sticks. */
static void personality_can_be_set(struct doctor *doctor)
{
	int status = 1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		_exit(personality(ADDR_NO_RANDOMIZE) == -1);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		doctor_say(doctor, DOCTOR_WARNING,
			   mem_text("address-space randomisation cannot be turned off for a program"),
			   mem_text("let the container's seccomp profile allow personality(2)"));
	else
		doctor_say(doctor, DOCTOR_OK, mem_text("address-space randomisation can be turned off"),
			   NULL);
}

static void room(struct doctor *doctor, const char *what, const char *folder)
{
	struct statvfs status;
	unsigned long long megabytes;

	if (statvfs(folder, &status)) {
		doctor_say(doctor, DOCTOR_BROKEN, mem_textf("%s, %s, cannot be looked at", what, folder),
			   mem_text("export TMPDIR=/tmp"));
		return;
	}
	megabytes = (unsigned long long)status.f_bavail * status.f_frsize >> 20;
	if (access(folder, W_OK))
		doctor_say(doctor, DOCTOR_WARNING, mem_textf("%s, %s, cannot be written to", what, folder),
			   mem_text("change to a folder of your own"));
	else if (megabytes < LITTLE_ROOM)
		doctor_say(doctor, megabytes < NO_ROOM ? DOCTOR_BROKEN : DOCTOR_WARNING,
			   mem_textf("%s, %s, has %llu MB left; recording stops at %d MB", what, folder,
				     megabytes, NO_ROOM),
			   mem_textf("make room on the file system of %s", folder));
	else
		doctor_say(doctor, DOCTOR_OK, mem_textf("%s, %s, has %llu MB left", what, folder, megabytes),
			   NULL);
}

static void optional(struct doctor *doctor, const char *program, const char *for_what)
{
	const char *folders = getenv("PATH");
	char *copy = mem_text(folders ? folders : "/usr/bin:/bin"), *rest = copy, *folder;
	int found = 0;

	while (!found && (folder = strsep(&rest, ":"))) {
		char *path = mem_textf("%s/%s", *folder ? folder : ".", program);

		found = !access(path, X_OK);
		free(path);
	}
	free(copy);
	if (found)
		doctor_say(doctor, DOCTOR_OK, mem_textf("%s is there, %s", program, for_what), NULL);
	else
		doctor_say(doctor, DOCTOR_WARNING,
			   mem_textf("%s is not there; it is optional, %s", program, for_what),
			   mem_textf("apt-get install %s", program));
}

void doctor_machine(struct doctor *doctor)
{
	const char *temporary = getenv("TMPDIR");
	char *folder = getcwd(NULL, 0);

	overcommit(doctor);
	randomness(doctor);
	address_space(doctor);
	personality_can_be_set(doctor);
	debugging(doctor);
	cores(doctor);
	room(doctor, "the working folder", folder ? folder : ".");
	room(doctor, "the folder for temporary files", temporary && *temporary ? temporary : "/tmp");
	optional(doctor, "gdb", "for replaying in a debugger");
	optional(doctor, "chromium", "for looking at HTML reports");
	free(folder);
}
