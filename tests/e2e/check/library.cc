/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the C++ library synchronises by itself, used by two threads while a function of the program's is open:
 * right. A task is made, handed over and run before its maker lets go of it; a stop is asked for while a
 * callback is registered.
 */
#include "stage.h"

#include <future>
#include <memory>
#include <mutex>
#include <stop_token>

typedef std::packaged_task<int()> task;

struct pool {
	std::mutex mutex;
	std::shared_ptr<task> next;

	__attribute__((noinline)) std::future<int> submit()
	{
		auto made = std::make_shared<task>([] { return 7; });
		auto result = made->get_future();
		{
			std::lock_guard<std::mutex> guard(mutex);
			next = made;
		}
		STAGE(0);
		STAGE(3);
		return result;
	}
	__attribute__((noinline)) void work()
	{
		std::shared_ptr<task> mine;
		{
			std::lock_guard<std::mutex> guard(mutex);
			mine = std::move(next);
		}
		(*mine)();
	}
};

static pool pool;
static std::stop_source source;
static int result, stopped;

__attribute__((noinline)) static void until_stopped(std::stop_token token)
{
	std::stop_callback callback(token, [] { stopped = 1; });

	STAGE(4);
	STAGE(7);
}

static void *one(void *unused)
{
	result = pool.submit().get();
	until_stopped(source.get_token());
	return unused;
}

static void *other(void *unused)
{
	STAGE(1);
	pool.work();
	STAGE(2);
	STAGE(5);
	source.request_stop();
	STAGE(6);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return result != 7 || !stopped;
}
