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

#include "../../stage.h"

class Shop
{
      public:
	void put_item(int item)
	{
		std::lock_guard<std::mutex> guard(lock_);
		storage_.push_back(item);
	}

	int get_item()
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (storage_.empty()) {
			missed_++;
			return -1;
		}
		int item = storage_.back();

		storage_.pop_back();
		return item;
	}

	bool is_empty()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return storage_.empty();
	}

	int buy()
	{
		if (is_empty())
			return -1;
		MEET(2);
		int item = get_item();

		PASS();
		return item;
	}

	int missed() const
	{
		return missed_;
	}

      private:
	std::mutex lock_;
	std::vector<int> storage_;
	int missed_ = 0; // taken though there was nothing
};

int main(int argc, char **argv)
{
	const int customers = argc > 1 ? std::atoi(argv[1]) : 6, times = 10;
	Shop shop;
	std::vector<std::thread> threads;

	threads.emplace_back([&shop, customers] {
		shop.put_item(0);
		PASS();
		AWAIT(3);
		for (int i = 1; i < times * customers; i++)
			shop.put_item(i);
	});
	for (int i = 0; i < customers; i++)
		threads.emplace_back([&shop] {
			AWAIT(1);
			for (int time = 0; time < times; time++)
				shop.buy();
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%d customers took from an empty shop\n", shop.missed());
	return shop.missed() != 0;
}
