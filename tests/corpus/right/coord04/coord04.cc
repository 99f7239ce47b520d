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

class Point
{
      public:
	void exchange()
	{
		std::lock_guard<std::mutex> guard(lock_);
		std::swap(x_, y_);
	}

	void reset()
	{
		std::lock_guard<std::mutex> guard(lock_);
		x_ = 0;
		y_ = 0;
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
	std::thread threads[2];

	for (int i = 0; i < 2; i++)
		threads[i] = std::thread([&point, &zero, i] {
			point.exchange();
			point.reset();
			zero[i] = point.is_reset();
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%d resets were undone\n", !zero[0] + !zero[1]);
	return !zero[0] || !zero[1];
}
