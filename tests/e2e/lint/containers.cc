/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Containers of the C++ library: what they keep in themselves is of the object
 * that they are members of. Each take() asks in one critical section whether
 * there is something, and takes it in the next; take_one() does both in one.
 *
 * expect: take_vector stale-value Stock.vector_.*
 * expect: take_deque stale-value Stock.deque_.*
 * expect: take_map stale-value Stock.map_.*
 * expect: take_hash stale-value Stock.hash_.*
 */
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

class Stock
{
      public:
	void put(int item)
	{
		std::lock_guard<std::mutex> guard(lock_);
		vector_.push_back(item);
		deque_.push_back(item);
		map_[item] = item;
		hash_[item] = item;
	}

	bool has_vector()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return !vector_.empty();
	}

	bool has_deque()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return !deque_.empty();
	}

	bool has_map()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return !map_.empty();
	}

	bool has_hash()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return !hash_.empty();
	}

	void take_vector()
	{
		if (!has_vector())
			return;
		std::lock_guard<std::mutex> guard(lock_);
		vector_.pop_back();
	}

	void take_deque()
	{
		if (!has_deque())
			return;
		std::lock_guard<std::mutex> guard(lock_);
		deque_.pop_front();
	}

	void take_map()
	{
		if (!has_map())
			return;
		std::lock_guard<std::mutex> guard(lock_);
		map_.erase(map_.begin());
	}

	void take_hash()
	{
		if (!has_hash())
			return;
		std::lock_guard<std::mutex> guard(lock_);
		hash_.erase(hash_.begin());
	}

	void take_one()
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (!vector_.empty())
			vector_.pop_back();
	}

      private:
	std::mutex lock_;
	std::vector<int> vector_;
	std::deque<int> deque_;
	std::map<int, int> map_;
	std::unordered_map<int, int> hash_;
};

int main()
{
	Stock stock;
	auto work = [&stock] {
		for (int i = 0; i < 10; i++)
			stock.put(i);
		stock.take_vector();
		stock.take_deque();
		stock.take_map();
		stock.take_hash();
		stock.take_one();
	};
	std::thread first(work), second(work);

	first.join();
	second.join();
}
