/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bounded_buffer.c once more, in C++.
 *
 * usage: bounded_buffer
 */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

class BoundedBuffer
{
      public:
	explicit BoundedBuffer(std::size_t most) : most_(most)
	{
	}

	void put(long item)
	{
		std::unique_lock<std::mutex> guard(lock_);

		changed_.wait(guard, [this] { return count_ < most_; });
		items_.push_back(item);
		count_++;
		changed_.notify_all();
	}

	long get()
	{
		std::unique_lock<std::mutex> guard(lock_);

		changed_.wait(guard, [this] { return count_ > 0; });
		if (count_ > most_)
			overfull_ = true;
		long item = items_.front();
		items_.pop_front();
		count_--;
		changed_.notify_all();
		return item;
	}

	bool overfull() const
	{
		return overfull_;
	}

      private:
	std::mutex lock_;
	std::condition_variable changed_;
	std::deque<long> items_;
	std::size_t count_ = 0;
	const std::size_t most_;
	bool overfull_ = false;
};

int main()
{
	const int producers = 2, items = 20;
	BoundedBuffer buffer(1);
	std::vector<std::thread> threads;

	for (int i = 0; i < producers; i++)
		threads.emplace_back([&buffer] {
			for (int item = 0; item < items; item++)
				buffer.put(item);
		});
	threads.emplace_back([&buffer] {
		for (int i = 0; i < producers * items; i++)
			buffer.get();
	});
	for (auto &thread : threads)
		thread.join();
	std::printf("%s\n",
		    buffer.overfull() ? "there was more in the buffer than it holds" : "never too full");
	return buffer.overfull();
}
