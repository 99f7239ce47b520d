/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who is to open a window next, when no noise says so. A thread that runs in a
 * loop of its own calls nobody, so somebody else must tell it: a thread of the
 * runtime's, begun with the program's second thread. It has no thread-local
 * storage of its own and so calls nothing of libc; all signals are the
 * program's. It chooses one thread at a time, for whoever waits in a window
 * cannot run into another's.
 */
#include "rt/noise.h"
#include "rt/race.h"
#include "rt/sys.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { THREADS = 4096, STACK = 32768, INTERVAL_NANOSECONDS = 400000 };
static struct atomsan_thread *members[THREADS];
static uint32_t member_count; /* also a futex: the sampler sleeps while there are fewer than two */
static uint32_t lock;
static uint32_t running;

static void enter(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sys0(sched_yield);
}

static void leave(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

uint32_t sampler_threads(void)
{
	return __atomic_load_n(&member_count, __ATOMIC_RELAXED);
}

void sampler_add(void)
{
	enter();
	if (member_count < THREADS) {
		members[member_count] = &__atomsan_thread;
		__atomic_store_n(&member_count, member_count + 1, __ATOMIC_RELAXED);
	}
	leave();
	sys3(futex, &member_count, FUTEX_WAKE_PRIVATE, 1);
}

void sampler_remove(void)
{
	enter();
	for (uint32_t i = 0; i < member_count; i++) {
		if (members[i] != &__atomsan_thread)
			continue;
		members[i] = members[member_count - 1];
		__atomic_store_n(&member_count, member_count - 1, __ATOMIC_RELAXED);
		break;
	}
	leave();
}

/* The thread itself may be writing its segment, from `fresh`; then it is armed a moment later. */
static void choose(uint64_t random)
{
	enter();
	for (uint32_t i = 0; i < member_count; i++) {
		struct atomsan_thread *member = members[(random + i) % member_count];

		if (__atomic_load_n(&member->fresh, __ATOMIC_RELAXED) == WATCHPOINT_ARMED)
			continue;
		__atomic_store_n(&member->fresh, WATCHPOINT_ARMED, __ATOMIC_RELAXED);
		__atomic_store_n(&member->segment, WATCHPOINT_ARMED, __ATOMIC_RELAXED);
		break;
	}
	leave();
}

__attribute__((noreturn, used)) static void sampler_run(void)
{
	struct timespec interval = {0, INTERVAL_NANOSECONDS};
	uint64_t random = rt_options.seed;

	sys2(prctl, PR_SET_NAME, "atomsan");
	for (;;) {
		uint32_t threads = sampler_threads();

		if (threads < 2)
			sys4(futex, &member_count, FUTEX_WAIT_PRIVATE, threads, NULL);
		sys2(nanosleep, &interval, NULL);
		choose(random = noise_mix(random));
	}
}

void sampler_start(void)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	uint64_t all = ~0ull, before = 0;
	long result;
	char *stack;

	if (__atomic_exchange_n(&running, 1, __ATOMIC_RELAXED))
		return;
	stack = (char *)sys6(mmap, 0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(stack))
		return;
	sys4(rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof all);
	/* The new thread begins behind the system call on a stack that is empty. */
	__asm__ volatile("xorl %%r10d, %%r10d\n\t"
			 "xorl %%r8d, %%r8d\n\t"
			 "syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "call sampler_run\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack + STACK), "d"(0L)
			 : "rcx", "r8", "r10", "r11", "memory");
	sys4(rt_sigprocmask, 2 /* SIG_SETMASK */, &before, NULL, sizeof before);
	if (sys_failed(result)) {
		sys2(munmap, stack, STACK);
		if (rt_options.verbosity)
			rt_say("no thread to choose what is watched; only a thread's first accesses are");
	}
}

void sampler_fork_child(void)
{
	running = 0;
	lock = 0;
	member_count = 0;
}
