/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* thread_pool.c in C++: jobs are std::function, and the pool is a class. */
#include <array>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../../stage.h"

static constexpr int WORKERS = 3, JOBS = 9;

class Pool
{
      public:
	explicit Pool(int count)
	{
		for (int i = 0; i < count; i++)
			workers.emplace_back([this] { work(); });
	}

	~Pool()
	{
		for (auto &worker : workers)
			worker.join();
	}

	void submit(std::function<void()> job)
	{
		std::lock_guard<std::mutex> guard(lock);

		jobs.push_back(std::move(job));
		changed.notify_all();
	}

	int finish()
	{
		std::unique_lock<std::mutex> guard(lock);

		closed = true;
		changed.notify_all();
		changed.wait(guard, [this] { return jobs.empty() && !busy; });
		return busy;
	}

      private:
	void work()
	{
		for (;;) {
			std::unique_lock<std::mutex> guard(lock);

			changed.wait(guard, [this] { return closed || !jobs.empty(); });
			if (jobs.empty())
				return;
			std::function<void()> job = std::move(jobs.front());

			jobs.pop_front();
			busy++;
			guard.unlock();
			job();
			guard.lock();
			busy--;
			changed.notify_all();
		}
	}

	std::mutex lock;
	std::condition_variable changed;
	std::deque<std::function<void()>> jobs;
	std::vector<std::thread> workers;
	int busy = 0;
	bool closed = false;
};

int main()
{
	std::array<long, JOBS> done{};
	std::mutex results;
	int lost = 0, busy;

	{
		Pool pool(WORKERS);

		for (long &on : done)
			pool.submit([&on, &results] {
				MEET(WORKERS);
				std::lock_guard<std::mutex> guard(results);

				on++;
			});
		busy = pool.finish();
	}
	for (long on : done)
		lost += on != 1;
	std::printf("%d jobs lost, %d busy\n", lost, busy);
	return lost || busy;
}
