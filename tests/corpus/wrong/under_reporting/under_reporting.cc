/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * under_reporting.c once more, in C++.
 *
 * usage: under_reporting
 */
#include <cstdio>
#include <mutex>
#include <thread>

#include "../../stage.h"

class Counter
{
      public:
	int add(int amount)
	{
		std::lock_guard<std::mutex> guard(lock_);
		return value_ += amount;
	}

	void twice()
	{
		int value = add(0);

		MEET(2);
		add(value);
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
	std::printf("expected 4, got %d\n", counter.add(0));
	return counter.add(0) != 4;
}
