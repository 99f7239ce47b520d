/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * increment.c once more, in C++: variables of a namespace, and threads that
 * join themselves.
 *
 * usage: increment
 */
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

constexpr int count = 2, rounds = 10;
int x;
std::mutex lock;

void increment(int by)
{
	std::scoped_lock guard(lock);
	x += by;
}

} // namespace

int main()
{
	{
		std::vector<std::jthread> threads;

		for (int i = 0; i < count; i++)
			threads.emplace_back([] {
				for (int round = 0; round < rounds; round++)
					increment(1);
			});
	}
	std::printf("expected %d, got %d\n", count * rounds, x);
	return x != count * rounds;
}
