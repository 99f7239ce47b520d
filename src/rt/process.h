/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What forking needs before the first fork; real.c sees to it. */
#ifndef ATOMSAN_RT_PROCESS_H
#define ATOMSAN_RT_PROCESS_H

void rt_process_init(void);

#endif
