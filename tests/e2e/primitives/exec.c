/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program becomes another one (itself, told not to do it again), which has a trace of its own. */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t after = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char **argv)
{
	char *const again[] = {argv[0], "again", NULL};

	if (argc > 1) {
		NAME(after);
		pthread_mutex_lock(&after);
		pthread_mutex_unlock(&after);
		return 4;
	}
	NAME(before);
	pthread_mutex_lock(&before);
	MUST(execl("/nonexistent", "x", "y", (char *)NULL) == -1);
	pthread_mutex_unlock(&before);
	execv("/proc/self/exe", again);
	return 1;
}
