/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shop.c once more, in C++, with a container of the library.
 *
 * usage: shop [CUSTOMERS]
 */
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

class Shop
{
      public:
	void put_item(int item)
	{
		std::lock_guard<std::mutex> guard(lock_);
		storage_.push_back(item);
	}

	int buy()
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (storage_.empty())
			return -1;
		int item = storage_.back();

		storage_.pop_back();
		return item;
	}

      private:
	std::mutex lock_;
	std::vector<int> storage_;
};

int main(int argc, char **argv)
{
	const int customers = argc > 1 ? std::atoi(argv[1]) : 6, times = 10;
	Shop shop;
	std::vector<std::thread> threads;
	std::vector<int> bought(customers);
	int sum = 0;

	threads.emplace_back([&shop, customers] {
		for (int i = 0; i < times * customers; i++)
			shop.put_item(i);
	});
	for (int i = 0; i < customers; i++)
		threads.emplace_back([&shop, &bought, i] {
			for (int time = 0; time < times; time++)
				bought[i] += shop.buy() >= 0;
		});
	for (auto &thread : threads)
		thread.join();
	for (int count : bought)
		sum += count;
	while (shop.buy() >= 0)
		sum++;
	std::printf("%d of %d things went over the counter\n", sum, times * customers);
	return sum != times * customers;
}
