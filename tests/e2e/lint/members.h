/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>

struct settings {
	long verbose, size, limit, room;
};

extern struct settings settings;
extern pthread_mutex_t settings_lock;
void *other(void *unused);
