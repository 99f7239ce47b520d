/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the C++ library synchronises by itself, with atomics and locks of its own
 * making: stop states, the states that futures share, the waiters of atomics. Any
 * thread may use it at any time, and no unit of the program's is torn there.
 */
#ifndef ATOMSAN_BASE_CXXLIB_H
#define ATOMSAN_BASE_CXXLIB_H

#include <stdbool.h>

/* The source file is a header that has nothing else in it. NULL is none. */
bool cxxlib_synchronises(const char *file);
/* The name, in the source's words or the linker's, is of a part of a future's state. NULL is none. */
bool cxxlib_future_state(const char *name);

#endif
