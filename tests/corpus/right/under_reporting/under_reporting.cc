/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * under_reporting.c once more, in C++.
 *
 * usage: under_reporting
 */
#include <cstdio>
#include <mutex>
#include <thread>

class Counter
{
      public:
	void twice()
	{
		std::lock_guard<std::mutex> guard(lock_);
		value_ += value_;
	}

	int value()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return value_;
	}

      private:
	std::mutex lock_;
	int value_ = 1;
};

int main()
{
	Counter counter;
	std::thread first([&counter] { counter.twice(); });
	std::thread second([&counter] { counter.twice(); });

	first.join();
	second.join();
	std::printf("expected 4, got %d\n", counter.value());
	return counter.value() != 4;
}
