/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For what the runtime itself writes and the program's own atomic operations read. */
#ifndef ATOMSAN_RT_ATOMIC_H
#define ATOMSAN_RT_ATOMIC_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/*
 * Between these the program's atomic operations on the location are kept out.
 * Write the event, with a stamp, and then the location: whoever read it before
 * has a lower key, and whoever reads it afterwards a higher one. If begin is
 * false there is no order to keep, and no end to be called.
 */
bool atomic_publish_begin(const void *p);
void atomic_publish_end(const void *p);

#pragma GCC visibility pop

#endif
