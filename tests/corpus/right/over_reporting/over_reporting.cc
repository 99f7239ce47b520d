/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * over_reporting.c once more, in C++, with a map.
 *
 * usage: over_reporting
 */
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "../../stage.h"

class Squares
{
      public:
	int square(int i)
	{
		make();
		MEET(2);
		return get(i);
	}

      private:
	void make()
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (made_)
			return;
		for (int i = 0; i < 10; i++)
			squares_[i] = i * i;
		made_ = true;
	}

	int get(int i)
	{
		std::lock_guard<std::mutex> guard(lock_);
		return squares_.at(i);
	}

	std::mutex lock_;
	bool made_ = false;
	std::map<int, int> squares_;
};

int main()
{
	Squares squares;
	int sums[2] = {0, 0};
	auto add_up = [&squares](int *sum) {
		for (int i = 0; i < 10; i++)
			*sum += squares.square(i);
	};
	std::thread first(add_up, &sums[0]), second(add_up, &sums[1]);

	first.join();
	second.join();
	std::printf("%d and %d\n", sums[0], sums[1]);
	return sums[0] != 285 || sums[1] != 285;
}
