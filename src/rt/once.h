/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pthread_once with its events; C11's call_once is the same thing in glibc. */
#ifndef ATOMSAN_RT_ONCE_H
#define ATOMSAN_RT_ONCE_H

#include "rt/rt.h"

#include <pthread.h>

int once_call(pthread_once_t *control, void (*routine)(void), const struct atomsan_site *site);

#endif
