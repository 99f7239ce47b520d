/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/cxxlib.h"

#include <stddef.h>
#include <string.h>

bool cxxlib_synchronises(const char *file)
{
	static const char *const headers[] = {"stop_token",
					      "future",
					      "latch",
					      "barrier",
					      "semaphore",
					      "bits/atomic_wait.h",
					      "bits/atomic_timed_wait.h",
					      "bits/atomic_futex.h",
					      "bits/semaphore_base.h"};
	/* .../include/c++/12/future */
	const char *rest = file ? strstr(file, "/include/c++/") : NULL;

	rest = rest ? strchr(rest + strlen("/include/c++/"), '/') : NULL;
	for (size_t i = 0; rest && i < sizeof headers / sizeof *headers; i++)
		if (!strcmp(rest + 1, headers[i]))
			return true;
	return false;
}

bool cxxlib_future_state(const char *name)
{
	return name && (strstr(name, "std::__future_base::") || strstr(name, "St13__future_base"));
}
