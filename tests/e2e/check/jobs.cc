/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A worker calls jobs, which splits its iterations; what it does itself before a job,
 * or behind one, with locks of the C++ library, is one step all the same.
 */
#include "stage.h"

#include <deque>
#include <functional>
#include <mutex>

struct queue {
	std::mutex mutex;
	std::deque<std::function<void()>> waiting;
	long before = 0, behind = 0;

	bool take(std::function<void()> *job)
	{
		std::lock_guard<std::mutex> guard(mutex);

		if (waiting.empty())
			return false;
		*job = waiting.front();
		waiting.pop_front();
		return true;
	}
};

struct early : queue {
	__attribute__((noinline)) void work()
	{
		std::function<void()> job;

		while (take(&job)) {
			mutex.lock();
			long now = before;
			mutex.unlock();
			STAGE(0);
			STAGE(3);
			mutex.lock();
			before = now + 1;
			mutex.unlock();
			job();
		}
	}
	__attribute__((noinline)) void reset()
	{
		STAGE(1);
		mutex.lock();
		before = 5;
		mutex.unlock();
		STAGE(2);
	}
};

struct late : queue {
	__attribute__((noinline)) void work()
	{
		std::function<void()> job;

		while (take(&job)) {
			job();
			mutex.lock();
			long now = behind;
			mutex.unlock();
			STAGE(4);
			STAGE(7);
			mutex.lock();
			behind = now + 1;
			mutex.unlock();
		}
	}
	__attribute__((noinline)) void reset()
	{
		STAGE(5);
		mutex.lock();
		behind = 5;
		mutex.unlock();
		STAGE(6);
	}
};

/* Taking a job is one step, and what is done behind it another. */
struct apart : queue {
	__attribute__((noinline)) void work()
	{
		std::function<void()> job;

		while (take(&job)) {
			job();
			std::lock_guard<std::mutex> guard(mutex);
			behind += (long)waiting.size();
		}
	}
	__attribute__((noinline)) void drop()
	{
		STAGE(9);
		mutex.lock();
		waiting.pop_back();
		behind = 5;
		mutex.unlock();
		STAGE(10);
	}
};

static early early;
static late late;
static apart apart;

static void *one(void *unused)
{
	early.work();
	late.work();
	apart.work();
	return unused;
}

static void *other(void *unused)
{
	early.reset();
	late.reset();
	apart.drop();
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	early.waiting.push_back([] { use(1); });
	late.waiting.push_back([] { use(1); });
	apart.waiting.push_back([] {
		STAGE(8);
		STAGE(11);
	});
	apart.waiting.push_back([] { use(1); });
	together(2, functions);
	return early.before != 1 || late.behind != 1 || apart.behind != 5;
}
