/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A trace as a recording program writes it: every block of events squeezed. */
#ifndef ATOMSAN_TESTS_SQUEEZED_H
#define ATOMSAN_TESTS_SQUEEZED_H

/* Copies a trace of plain blocks. Ends the process if that cannot be done. */
void squeezed_copy(const char *from, const char *to);

#endif
