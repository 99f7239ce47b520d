// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workers of a thread pool take jobs out of a queue and do them. A job that owns what others share
// gives it back by a virtual function, and no such call starts another worker. Who looks
// whether there is a job in one critical section, and takes it in another, may find it gone.
// expect: take_late stale-value Pool.*
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

struct Result {
	std::mutex lock;
	long value = 0;

	void set(long to)
	{
		std::lock_guard<std::mutex> guard(lock);
		value = to;
	}
};

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
		{
			std::lock_guard<std::mutex> guard(lock);
			stop = true;
		}
		more.notify_all();
		for (auto &worker : workers)
			worker.join();
	}

	void post(std::function<void()> job)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			jobs.push(std::move(job));
		}
		more.notify_one();
	}

	std::function<void()> take_late()
	{
		std::function<void()> job;
		bool any;

		{
			std::lock_guard<std::mutex> guard(lock);
			any = !jobs.empty();
		}
		if (any) {
			std::lock_guard<std::mutex> guard(lock);
			job = std::move(jobs.front());
			jobs.pop();
		}
		return job;
	}

      private:
	void work()
	{
		for (;;) {
			std::function<void()> job;

			{
				std::unique_lock<std::mutex> guard(lock);
				more.wait(guard, [this] { return stop || !jobs.empty(); });
				if (jobs.empty())
					return;
				job = std::move(jobs.front());
				jobs.pop();
			}
			job();
		}
	}

	std::mutex lock;
	std::condition_variable more;
	std::queue<std::function<void()>> jobs;
	bool stop = false;
	std::vector<std::thread> workers;
};

int main()
{
	Pool pool(3);

	for (int i = 0; i < 8; i++) {
		auto result = std::make_shared<Result>();

		pool.post([result, i] { result->set(i); });
	}
	if (auto job = pool.take_late())
		job();
	return 0;
}
