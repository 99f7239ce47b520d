/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a program can tell atomsan about itself. Everything here compiles to
 * nothing unless the program is built with `atomsan cc` or `atomsan c++`,
 * which define __ATOMSAN__. For C and C++.
 */
#ifndef ATOMSAN_ATOMSAN_H
#define ATOMSAN_ATOMSAN_H

#ifdef __ATOMSAN__

/* On a function: its own accesses, entry and exit are not instrumented. On a
 * variable: accesses to it are not instrumented. */
#define ATOMSAN_IGNORE __attribute__((annotate("atomsan.ignore")))

#ifdef __cplusplus
extern "C" {
#endif
void __atomsan_unit_begin(void);
void __atomsan_unit_end(void);
#ifdef __cplusplus
}
#endif

/* Brackets around code that must be atomic, whatever function it lies in. They
 * nest, and each thread must close what it opened. */
#define ATOMSAN_UNIT_BEGIN() __atomsan_unit_begin()
#define ATOMSAN_UNIT_END() __atomsan_unit_end()

#else

#define ATOMSAN_IGNORE
#define ATOMSAN_UNIT_BEGIN() ((void)0)
#define ATOMSAN_UNIT_END() ((void)0)

#endif

#endif
