// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results of futures: the library sees to its own states. A result of one's own, with a lock, that
// is set once: who looks in one critical section whether it is set, and sets it in another, may set it twice.
// expect: set_late stale-value Result.*
#include <condition_variable>
#include <future>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

struct Answer {
	std::string text;
	int number;
};

class Result
{
      public:
	void set(int to)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			if (done)
				return;
			value = to;
			done = true;
		}
		change.notify_all();
	}

	void set_late(int to)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			if (done)
				return;
		}
		std::lock_guard<std::mutex> guard(lock);
		value = to;
		done = true;
		change.notify_all();
	}

	int get()
	{
		std::unique_lock<std::mutex> guard(lock);
		change.wait(guard, [this] { return done; });
		return value;
	}

      private:
	std::mutex lock;
	std::condition_variable change;
	bool done = false;
	int value = 0;
};

static Answer compute(int n)
{
	return {std::string(static_cast<size_t>(n), 'a'), n};
}

int main()
{
	std::promise<Answer> promise;
	std::future<Answer> answer = promise.get_future();
	std::thread setter([](std::promise<Answer> p) { p.set_value(compute(3)); }, std::move(promise));
	std::packaged_task<long(std::vector<int>)> task(
		[](std::vector<int> v) { return std::accumulate(v.begin(), v.end(), 0L); });
	std::future<long> sum = task.get_future();
	std::thread worker(std::move(task), std::vector<int>(20, 3));
	std::shared_future<Answer> shared = std::async(std::launch::async, compute, 5).share();
	std::thread reader([shared] {
		if (shared.get().number != 5)
			std::abort();
	});
	Result result;
	std::thread first([&result] { result.set(1); }), second([&result] { result.set_late(2); });
	long all = answer.get().number + sum.get() + shared.get().number + result.get();

	setter.join();
	worker.join();
	reader.join();
	first.join();
	second.join();
	return all == 0;
}
