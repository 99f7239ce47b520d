// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Objects whose members are the library's: a queue, and a pointer that is replaced as a whole, behind locks
 * that are the library's as well. Without optimisation nothing of them is ever accessed by the name of the
 * class, but by functions of the library; that they are parts of the object is seen all the same, from the
 * first access on.
 */
#include "stage.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

template <class T> class mailbox
{
	std::mutex lock;
	std::deque<T> letters;

      public:
	std::size_t size()
	{
		std::lock_guard<std::mutex> guard(lock);
		return letters.size();
	}
	__attribute__((noinline)) void send(T letter)
	{
		std::lock_guard<std::mutex> guard(lock);
		letters.push_back(letter);
	}
	__attribute__((noinline)) void send_if_empty(T letter)
	{
		if (size())
			return;
		STAGE(0);
		STAGE(3);
		send(letter);
	}
};

class table
{
	std::shared_mutex lock;
	std::shared_ptr<const std::map<int, int>> now = std::make_shared<const std::map<int, int>>();

      public:
	std::shared_ptr<const std::map<int, int>> get()
	{
		std::shared_lock<std::shared_mutex> guard(lock);
		return now;
	}
	__attribute__((noinline)) void replace(std::shared_ptr<const std::map<int, int>> by)
	{
		std::unique_lock<std::shared_mutex> guard(lock);
		now = by;
	}
	__attribute__((noinline)) void change(int key)
	{
		auto next = std::make_shared<std::map<int, int>>(*get());

		STAGE(4);
		STAGE(7);
		(*next)[key] = key;
		replace(next);
	}
};

int main()
{
	mailbox<int> box;
	table map;
	std::thread one([&] {
		box.send_if_empty(1);
		map.change(1);
	});
	std::thread other([&] {
		STAGE(1);
		box.send(2);
		STAGE(2);
		STAGE(5);
		map.replace(std::make_shared<const std::map<int, int>>());
		STAGE(6);
	});

	one.join();
	other.join();
	return 0;
}
