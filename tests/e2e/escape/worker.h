/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same function for data of one thread and for data of all: its places are not private. */
static inline void bump(long *to, long by)
{
	*to += by; /* not private */
}
