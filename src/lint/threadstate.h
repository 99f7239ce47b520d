/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which function a std::thread runs. Its constructor makes a state, stores the
 * virtual table of the state's class into it, and hands it to the library in a
 * unique_ptr. To the analysis of pointers all such tables may be one; but the
 * constructor is inlined or has all of it in one function, and there it can be seen
 * which table it is.
 */
#ifndef ATOMSAN_LINT_THREADSTATE_H
#define ATOMSAN_LINT_THREADSTATE_H

#include "lint/program.h"

#define THREADSTATE_RUN "6_M_runEv" /* the end of the function's name, as the linker knows it */

/* What the new thread runs, of a call whose operand is a unique_ptr to a state; 0: not to be seen. */
uint32_t threadstate_run(const struct program *p, uint32_t call, uint32_t operand);
/* Is it such a function? Nobody but the library calls it, when a thread starts. */
bool threadstate_is_run(const struct program *p, uint32_t function);

#endif
