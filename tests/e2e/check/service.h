/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A condition with its mutex, as programs wrap them. */
#ifndef SERVICE_H
#define SERVICE_H

#include "stage.h"

struct bell {
	pthread_mutex_t lock;
	pthread_cond_t rung;
};

void bell_init(struct bell *bell);
void bell_lock(struct bell *bell);
void bell_unlock(struct bell *bell);
void bell_wait(struct bell *bell);
void bell_ring(struct bell *bell);

#endif
