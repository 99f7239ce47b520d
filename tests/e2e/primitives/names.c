/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program whose own functions have names that libc or the runtime use, too:
 * it keeps them, whether they look like libc's or not.
 */
#include "seen.h"

#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int use_names(void);

int main(void)
{
	NAME(mutex);
	MUST(use_names() == 1234);
	return 0;
}
