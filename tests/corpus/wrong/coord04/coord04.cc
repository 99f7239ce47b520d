/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coord04.c once more, in C++.
 *
 * usage: coord04
 */
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "../../stage.h"

class Point
{
      public:
	void exchange()
	{
		std::lock_guard<std::mutex> guard(lock_);
		std::swap(x_, y_);
	}

	void reset_x()
	{
		std::lock_guard<std::mutex> guard(lock_);
		x_ = 0;
	}

	void reset_y()
	{
		std::lock_guard<std::mutex> guard(lock_);
		y_ = 0;
	}

	void reset()
	{
		reset_x();
		STAGE(1);
		STAGE(4);
		reset_y();
	}

	bool is_reset()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return x_ == 0 && y_ == 0;
	}

      private:
	std::mutex lock_;
	int x_ = 1, y_ = 2;
};

int main()
{
	Point point;
	bool zero[2];
	std::thread first([&point, &zero] {
		point.exchange();
		point.reset();
		zero[0] = point.is_reset();
		STAGE(5);
	});
	std::thread second([&point, &zero] {
		STAGE(2);
		point.exchange();
		STAGE(3);
		STAGE(6);
		point.reset();
		zero[1] = point.is_reset();
	});

	first.join();
	second.join();
	std::printf("%d resets were undone\n", !zero[0] + !zero[1]);
	return !zero[0] || !zero[1];
}
