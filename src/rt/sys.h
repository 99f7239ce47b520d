/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * System calls made directly: they keep vector registers, errno and the
 * program's interposers out of it. A negative result is -errno.
 */
#ifndef ATOMSAN_RT_SYS_H
#define ATOMSAN_RT_SYS_H

#include <stdint.h>
#include <sys/syscall.h>

static inline long sys_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define sys0(n) sys_call(SYS_##n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys_call(SYS_##n, (long)(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys_call(SYS_##n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys_call(SYS_##n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys_call(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys6(n, a, b, c, d, e, f) \
	sys_call(SYS_##n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define sys_failed(result) ((unsigned long)(result) >= (unsigned long)-4095)

/* All of the calling thread's; returns what was blocked before. */
static inline uint64_t sys_block_signals(void)
{
	uint64_t all = ~0ull, before = 0;

	sys4(rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, 8);
	return before;
}

static inline void sys_unblock_signals(uint64_t before)
{
	sys4(rt_sigprocmask, 2 /* SIG_SETMASK */, &before, 0, 8);
}

#endif
