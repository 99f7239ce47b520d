/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * As attempts.c, with the C++ library: several locks at once, which it takes in a loop of its
 * own, and attempts with a time limit.
 */
#include "stage.h"

#include <chrono>
#include <mutex>
#include <thread>

struct several {
	std::mutex one, other;
	int value = 0, copy = 0;

	__attribute__((noinline)) void torn()
	{
		int now;

		{
			std::scoped_lock guard(one, other);
			now = value;
		}
		STAGE(0);
		STAGE(3);
		std::scoped_lock guard(one, other);
		copy = now;
	}
	__attribute__((noinline)) void set()
	{
		STAGE(1);
		{
			std::scoped_lock guard(one, other);
			value = copy + 9;
		}
		STAGE(2);
	}
};

struct timed {
	std::timed_mutex mutex;
	int value = 0;

	__attribute__((noinline)) void torn()
	{
		std::unique_lock<std::timed_mutex> guard(mutex, std::defer_lock);

		while (!guard.try_lock_for(std::chrono::milliseconds(10)))
			;
		int now = value;
		guard.unlock();
		STAGE(4);
		STAGE(7);
		while (!guard.try_lock_for(std::chrono::milliseconds(10)))
			;
		value = now + 1;
	}
	__attribute__((noinline)) void set()
	{
		STAGE(5);
		{
			std::lock_guard<std::timed_mutex> guard(mutex);
			value = 9;
		}
		STAGE(6);
	}
};

struct tried {
	std::mutex mutex;
	int value = 0;

	__attribute__((noinline)) void torn()
	{
		while (!mutex.try_lock())
			std::this_thread::yield();
		int now = value;
		mutex.unlock();
		STAGE(8);
		STAGE(11);
		while (!mutex.try_lock())
			std::this_thread::yield();
		value = now + 1;
		mutex.unlock();
	}
	__attribute__((noinline)) void set()
	{
		STAGE(9);
		{
			std::lock_guard<std::mutex> guard(mutex);
			value = 9;
		}
		STAGE(10);
	}
};

static several several;
static timed timed;
static tried tried;

static void *one(void *unused)
{
	several.torn();
	timed.torn();
	tried.torn();
	return unused;
}

static void *other(void *unused)
{
	several.set();
	timed.set();
	tried.set();
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return several.copy != 0 || timed.value != 1 || tried.value != 1;
}
