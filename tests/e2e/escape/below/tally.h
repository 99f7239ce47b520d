/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Only ever called with a thread's own buffer. */
static inline long tally(const long *of, int count)
{
	long sum = 0;

	for (int i = 0; i < count; i++)
		sum += of[i] & i; /* private */
	return sum;
}
