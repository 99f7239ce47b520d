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

class StoreManager
{
      public:
	void shut_down()
	{
		std::lock_guard<std::mutex> guard(lock_);
		entries_.clear();
		count_ = 0;
		closed_ = true;
	}

	int load_resource(const std::string &key)
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (closed_)
			return -1;
		count_++;
		return entries_[key]++;
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
	threads.emplace_back([&manager] { manager.shut_down(); });
	for (auto &thread : threads)
		thread.join();
	std::printf("%d entries after the shutdown\n", manager.count());
	return manager.count() != 0;
}
