/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * increment.c once more, in C++: variables of a namespace.
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
	std::vector<std::thread> threads;

	for (int i = 0; i < count; i++)
		threads.emplace_back([] {
			for (int round = 0; round < rounds; round++)
				increment(1);
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("expected %d, got %d\n", count * rounds, x);
	return x != count * rounds;
}
