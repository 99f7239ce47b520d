/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local.c once more, in C++: a template, and guards that are not lexical.
 *
 * usage: local
 */
#include <cstdio>
#include <mutex>
#include <thread>

#include "../../stage.h"

template <typename T> class Cell
{
      public:
	T get_value()
	{
		std::unique_lock<std::mutex> guard(lock_);
		return n_;
	}

	void set_value(T n)
	{
		std::unique_lock<std::mutex> guard(lock_);
		n_ = n;
	}

	void increment()
	{
		T local = get_value();

		local++;
		MEET(2);
		set_value(local);
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
