/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * pair_equal.c once more, in C++.
 *
 * usage: pair_equal
 */
#include <cstdio>
#include <mutex>
#include <thread>

#include "../../stage.h"

class Pair
{
      public:
	int a()
	{
		std::scoped_lock guard(lock_);
		return a_;
	}

	int b()
	{
		std::scoped_lock guard(lock_);
		return b_;
	}

	void set_pair(int a, int b)
	{
		std::scoped_lock guard(lock_);
		a_ = a;
		b_ = b;
	}

	bool are_equal()
	{
		int first = a();

		STAGE(1);
		STAGE(4);
		return first == b();
	}

      private:
	std::mutex lock_;
	int a_ = 0, b_ = 0;
};

int main()
{
	const int rounds = 10;
	Pair pair;
	int unequal = 0;
	std::thread setter([&] {
		for (int i = 1; i <= rounds; i++) {
			STAGE(2);
			pair.set_pair(i, i);
			STAGE(3);
		}
	});
	std::thread comparer([&] {
		for (int i = 0; i < rounds; i++)
			unequal += !pair.are_equal();
	});

	setter.join();
	comparer.join();
	std::printf("%d pairs were unequal\n", unequal);
	return unequal != 0;
}
