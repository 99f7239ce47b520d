/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "members.h"

void *other(void *unused)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&settings_lock);
		settings.verbose = i;
		settings.limit = 100 * i;
		pthread_mutex_unlock(&settings_lock);
	}
	return unused;
}
