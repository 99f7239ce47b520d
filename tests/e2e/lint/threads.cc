// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads of different kinds, in one container. Of the producer and of the consumer of a ring there is one
// each, so nobody else writes what it reads and writes back; there are several who give out
// numbers, and two may give out the same.
// expect: give stale-value Numbers.*
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

class Ring
{
      public:
	bool push(int value)
	{
		size_t at = tail.load(std::memory_order_relaxed);

		if (at - head.load(std::memory_order_acquire) == 4)
			return false;
		slots[at % 4] = value;
		tail.store(at + 1, std::memory_order_release);
		return true;
	}

	bool pop(int &value)
	{
		size_t at = head.load(std::memory_order_relaxed);

		if (at == tail.load(std::memory_order_acquire))
			return false;
		value = slots[at % 4];
		head.store(at + 1, std::memory_order_release);
		return true;
	}

      private:
	int slots[4] = {};
	std::atomic<size_t> head{0}, tail{0};
};

class Numbers
{
      public:
	long give()
	{
		long now = next.load();

		next.store(now + 1);
		return now;
	}

      private:
	std::atomic<long> next{0};
};

static Ring ring;
static Numbers numbers;

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 2; i++)
		threads.emplace_back([] { numbers.give(); });
	threads.emplace_back([] {
		for (int i = 0; i < 8; i++)
			while (!ring.push(i))
				std::this_thread::yield();
	});
	threads.emplace_back([] {
		int value;

		for (int i = 0; i < 8; i++)
			while (!ring.pop(value))
				std::this_thread::yield();
	});
	for (auto &thread : threads)
		thread.join();
	return 0;
}
