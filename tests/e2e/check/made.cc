/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What std::make_shared makes lies in a block with the library's counters in front of it, and is
 * filled at once before its members are. The set is called by it, whatever the level of
 * optimisation, and not by the counters, nor by the mutex that is its first member.
 */
#include "stage.h"

#include <memory>
#include <mutex>

struct made {
	std::mutex mutex;
	int value = 0, last = 0;

	__attribute__((noinline)) int get()
	{
		std::lock_guard<std::mutex> guard(mutex);
		return value;
	}
	__attribute__((noinline)) void put(int now)
	{
		std::lock_guard<std::mutex> guard(mutex);
		value = last = now;
	}
	__attribute__((noinline)) void torn()
	{
		int now = get();

		STAGE(0);
		STAGE(3);
		put(now + 1);
	}
	__attribute__((noinline)) void set()
	{
		STAGE(1);
		put(9);
		STAGE(2);
	}
};

static std::shared_ptr<made> all;

static void *one(void *unused)
{
	all->torn();
	return unused;
}

static void *other(void *unused)
{
	all->set();
	return unused;
}

int main()
{
	all = std::make_shared<made>();
	TOGETHER(one, other);
	return all->value != 1;
}
