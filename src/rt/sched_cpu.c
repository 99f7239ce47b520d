/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One processor for all threads of a scheduled program. Only one of them runs at
 * a time, so more would not make it faster, and waking a thread on another
 * processor that is idle costs several times as much as on the same one: the
 * other has to be interrupted and to wake up first. The kernel cannot know that
 * the waker is about to sleep, and prefers the idle one.
 *
 * Where the thread that begins happens to run is where all stay; exec puts a
 * program on the processor that has least to do, so that several at a time spread.
 * The program must not see it, for it may make as many threads as it
 * may use processors: who asks is told what it would have been told.
 * A thread that chooses processors for itself is let.
 */
#include "rt/scheduler.h"
#include "rt/sys.h"

/* Bits of as many processors as the kernel can have. */
enum { BYTES = 1024, WORDS = BYTES / sizeof(uint64_t) };

static struct {
	uint64_t before[WORDS], one[WORDS];
	uint64_t bytes; /* that the kernel has; 0: nothing was changed */
} cpu;

void sched_cpu_begin(void)
{
	unsigned here = 0, count = 0;
	long bytes = sys3(sched_getaffinity, 0, sizeof cpu.before, cpu.before);

	if (sys_failed(bytes) || sys_failed(sys3(getcpu, &here, NULL, NULL)) || here >= (unsigned)bytes * 8)
		return;
	for (unsigned i = 0; i < WORDS; i++)
		count += (unsigned)__builtin_popcountll(cpu.before[i]);
	cpu.one[here / 64] = 1ull << here % 64;
	if (count > 1 && !sys_failed(sys3(sched_setaffinity, 0, bytes, cpu.one)))
		cpu.bytes = (uint64_t)bytes;
}

/* Is this the one processor, and so perhaps not what the program wants? */
static bool is_ours(const uint64_t *set, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes / sizeof *set; i++)
		if (set[i] != (i < WORDS ? cpu.one[i] : 0))
			return false;
	return bytes >= cpu.bytes;
}

void sched_cpu_end(int32_t tid)
{
	uint64_t now[WORDS];
	long bytes;

	if (!cpu.bytes)
		return;
	bytes = sys3(sched_getaffinity, tid, sizeof now, now);
	if (!sys_failed(bytes) && is_ours(now, (uint64_t)bytes))
		sys3(sched_setaffinity, tid, cpu.bytes, cpu.before);
}

void sched_cpu_hide(int32_t tid, uint64_t bytes, void *set)
{
	uint64_t *words = set;
	bool mine = !tid;

	if (!cpu.bytes || sched.freed || !is_ours(words, bytes))
		return;
	for (uint32_t i = 0; i < sched.count && !mine; i++)
		mine = sched_thread(i)->tid == tid;
	for (uint64_t i = 0; mine && i < bytes / sizeof *words && i < WORDS; i++)
		words[i] = cpu.before[i];
}
