/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the kernel knows of another thread of the process, by its thread id. */
#ifndef ATOMSAN_RT_TASK_H
#define ATOMSAN_RT_TASK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Does it sleep in the kernel? */
bool rt_task_asleep(int tid);
/* Nanoseconds that it has run; 0: it is gone. */
uint64_t rt_task_ran(int tid);

#pragma GCC visibility pop

#endif
