/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Part of wrong.c, compiled by another compiler's plain command. */
extern long outside;
void write_outside(void);

void write_outside(void)
{
	static volatile long n;

	outside = ++n;
}
