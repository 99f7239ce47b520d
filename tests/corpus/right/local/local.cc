/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.c once more, in C++.
 *
 * usage: local
 */
#include <cstdio>
#include <mutex>
#include <thread>

template <typename T> class Cell
{
      public:
	T get_value()
	{
		std::unique_lock<std::mutex> guard(lock_);
		return n_;
	}

	void increment()
	{
		std::unique_lock<std::mutex> guard(lock_);
		T local = n_;

		local++;
		n_ = local;
	}

      private:
	std::mutex lock_;
	T n_{};
};

int main()
{
	Cell<int> cell;
	std::thread first([&cell] { cell.increment(); });
	std::thread second([&cell] { cell.increment(); });

	first.join();
	second.join();
	std::printf("the cell is %d\n", cell.get_value());
	return cell.get_value() != 2;
}
