/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Start and end of the runtime: before any constructor, after any destructor. */
#include "rt/brisk.h"
#include "rt/constants.h"
#include "rt/follow.h"
#include "rt/scheduler.h"
#include "rt/shadow.h"
#include "rt/sys.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <time.h>

void rt_real_init(void);

static const char *environment(char **envp, const char *name)
{
	for (; *envp; envp++) {
		unsigned i = 0;

		while (name[i] && (*envp)[i] == name[i])
			i++;
		if (!name[i] && (*envp)[i] == '=')
			return *envp + i + 1;
	}
	return NULL;
}

/* Registered first, so it runs last. */
static void at_exit(int status, void *unused)
{
	int end, watched = (status & 0xff) << 8;

	/* The last thread to leave has had its END. */
	if (rt_on())
		rt_op_value(TRACE_OP_EXIT_PROCESS, 0, NULL, (uint64_t)(status & 0xff), NULL);
	if (unlikely(rt_watching))
		watched = watch_finish(status & 0xff) << 8;
	if (rt_recording)
		rt_module_count_unseen();
	end = rt_record_finish((status & 0xff) << 8);
	if (end == (status & 0xff) << 8)
		end = watched;
	if (end == (status & 0xff) << 8)
		return;
	/* Whoever comes after us in exit() would have written what the streams still hold. */
	rt_self.inside++;
	fflush(NULL);
	sys1(exit_group, end >> 8);
}

/*
 * With more randomisation than Linux has by default two mappings may lie so
 * that the shadow cannot tell them apart. Starting over without it is the
 * only cure, and invisible to the program.
 */
static void start_over_without_randomisation(char **argv, char **envp)
{
	long before = sys1(personality, 0xffffffff);

	if (before < 0 || before & ADDR_NO_RANDOMIZE)
		return;
	if (sys_failed(sys1(personality, before | ADDR_NO_RANDOMIZE)))
		return;
	sys3(execve, "/proc/self/exe", argv, envp);
}

static void choose_seed(void)
{
	struct timespec t = {0, 0};

	if (rt_options.seed)
		return;
	sys2(clock_gettime, CLOCK_REALTIME, &t);
	rt_options.seed = ((uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec) ^ (uint64_t)sys0(getpid)
											       << 32;
}

/* A version script of the program's own may keep the linker from listing what is interposed. Then calls of
 * the program itself come to us, and those of libraries, as std::thread makes them, do not. */
static void say_if_hidden(void)
{
	if ((rt_recording || rt_watching) && dlsym(RTLD_DEFAULT, "pthread_create") != (void *)pthread_create)
		rt_say("the executable hides functions of the runtime from libraries (by a version script "
		       "with "
		       "'local: *'?), so threads that std::thread makes, and other calls of libraries, are "
		       "not "
		       "seen; link it without");
}

static void start(int argc, char **argv, char **envp)
{
	/* Who may start a program with somebody else's rights may not tell it which files to write, nor what
	 * to start as its checker. */
	const char *options = getauxval(AT_SECURE) ? NULL : environment(envp, "ATOMSAN_OPTIONS");

	if (options)
		rt_options_read(options);
	checker_keep_options(envp);
	choose_seed();
	rt_real_init();
	rt_module_executable();
	constants_find((const Elf64_Phdr *)getauxval(AT_PHDR), getauxval(AT_PHNUM));
	if (*rt_options.record || rt_options.check || *rt_options.sched) {
		bool shadow;

		if (!rt_record_regions_apart())
			start_over_without_randomisation(argv, envp);
		shadow = shadow_map();
		if (shadow && *rt_options.sched)
			sched_start();
		if (!shadow)
			rt_say("the shadow memory cannot be mapped (is the address space limited by ulimit "
			       "-v, or vm.overcommit_memory 2?); the program runs unrecorded");
		else if (rt_options.check)
			rt_record_for_checker(argc, argv, envp);
		else if (*rt_options.record)
			rt_record_open(rt_options.record, argc, argv, envp);
		else if (sched.mode != SCHED_OFF)
			rt_record_nowhere();
		if (sched.mode != SCHED_OFF)
			rt_signal_watch_crashes();
	}
	watch_start();
	brisk_begin();
	say_if_hidden();
	rt_thread_begin(rt_thread_number(), RT_NO_THREAD);
	on_exit(at_exit, NULL);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = start;

EXPORT void __atomsan_unit_begin(void)
{
	rt_op(TRACE_OP_UNIT_BEGIN, 0, NULL, rt_take_site());
}

EXPORT void __atomsan_unit_end(void)
{
	rt_op(TRACE_OP_UNIT_END, 0, NULL, rt_take_site());
}
