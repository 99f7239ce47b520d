/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looks up the functions behind the interposers; see real.h. */
#include "rt/real.h"
#include "rt/process.h"

#include <errno.h>
#include <stddef.h>

struct real_table real_table;

/* A function that this libc lacks stays NULL; then nobody can be calling it. */
void rt_real_init(void)
{
	int saved = errno;

	if (real_table.ready)
		return;
#define F(result, name, parameters, version) *(void **)&real_table.name = real_find(#name, version);
	REAL_FUNCTIONS(F)
#undef F
	/* pairs with the load in real_get() */
	__atomic_store_n(&real_table.ready, true, __ATOMIC_RELEASE);
	rt_process_init();
	errno = saved;
}
