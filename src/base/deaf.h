/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Why a program has not done what its environment told its runtime to do. */
#ifndef ATOMSAN_BASE_DEAF_H
#define ATOMSAN_BASE_DEAF_H

/* The end of a sentence that says what was not done, from the colon on. */
const char *deaf_reason(const char *program);

#endif
