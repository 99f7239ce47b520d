// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What C++ makes of threads: static locals, call_once, condition variables, shared locks, futures.
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static std::shared_mutex shared;
static std::condition_variable changed;
static std::once_flag once;
static int calls, constructed, value;

struct single {
	single()
	{
		std::lock_guard<std::mutex> guard(lock);
		constructed++;
	}
};

static void work()
{
	static single instance;

	std::call_once(once, [] { calls++; });
	{
		std::unique_lock<std::shared_mutex> guard(shared);
		value++;
	}
	std::shared_lock<std::shared_mutex> reading(shared);
	std::unique_lock<std::mutex> guard(lock);
	changed.notify_all();
	(void)instance;
}

int main()
{
	std::vector<std::thread> threads;
	auto future = std::async(std::launch::async, [] {
		std::unique_lock<std::mutex> guard(lock);
		changed.wait(guard, [] { return constructed == 1; });
		return constructed;
	});

	for (int i = 0; i < 3; i++)
		threads.emplace_back(work);
	for (auto &thread : threads)
		thread.join();
	return future.get() != 1 || calls != 1 || constructed != 1 || value != 3;
}
