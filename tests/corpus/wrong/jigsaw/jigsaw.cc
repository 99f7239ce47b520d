/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * jigsaw.c once more, in C++, with a map.
 *
 * usage: jigsaw
 */
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../../stage.h"

class StoreManager
{
      public:
	bool closed()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return closed_;
	}

	int lookup_entry(const std::string &key)
	{
		std::lock_guard<std::mutex> guard(lock_);
		count_++;
		return entries_[key]++;
	}

	void shut_down()
	{
		std::lock_guard<std::mutex> guard(lock_);
		entries_.clear();
		count_ = 0;
		closed_ = true;
	}

	int load_resource(const std::string &key)
	{
		if (closed())
			return -1;
		STAGE_IF(key == "a", 1);
		STAGE_IF(key == "a", 4);
		return lookup_entry(key);
	}

	int count()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return count_;
	}

      private:
	std::mutex lock_;
	std::map<std::string, int> entries_;
	int count_ = 0;
	bool closed_ = false;
};

int main()
{
	StoreManager manager;
	std::vector<std::thread> threads;

	for (const char *key : {"a", "b"})
		threads.emplace_back([&manager, key] { manager.load_resource(key); });
	threads.emplace_back([&manager] {
		STAGE(2);
		manager.shut_down();
		STAGE(3);
	});
	for (auto &thread : threads)
		thread.join();
	std::printf("%d entries after the shutdown\n", manager.count());
	return manager.count() != 0;
}
