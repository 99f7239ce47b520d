/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Things done once: by POSIX, by std::call_once, by the guard of a static
 * local; each also left by an exception the first time, so that it begins
 * again.
 */
#include "seen.h"

#include <cstdint>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>

static pthread_once_t control = PTHREAD_ONCE_INIT;
static std::once_flag flag;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static int failures = 2;

static void routine()
{
	pthread_mutex_lock(&inner);
	pthread_mutex_unlock(&inner);
}

static void fail_at_first()
{
	if (failures-- > 0)
		throw 1;
}

struct object {
	object()
	{
		fail_at_first();
	}
};

inline object &single()
{
	static object it;

	return it;
}

extern "C" int __cxa_guard_acquire(uint64_t *guard);

template <typename Callable> static void twice(Callable callable)
{
	for (int i = 0; i < 2; i++) {
		try {
			callable();
			MUST(i == 1);
		} catch (int) {
			MUST(i == 0);
		}
	}
}

static void *other(void *unused)
{
	pthread_once(&control, routine);
	return unused;
}

int main()
{
	/* what the compiler calls the guard of `it` */
	void *guard = dlsym(RTLD_DEFAULT, "_ZGVZ6singlevE2it");
	pthread_t thread;

	NAME(control);
	NAME(flag);
	NAME_AT("guard", guard);
	NAME(inner);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	pthread_once(&control, routine);
	failures = 1;
	twice([] { std::call_once(flag, fail_at_first); });
	failures = 1;
	twice([] { single(); });
	single(); /* the guard is not asked any more */
	MUST(__cxa_guard_acquire((uint64_t *)guard) == 0);
	return 0;
}
