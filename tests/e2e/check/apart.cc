// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Two counts of a class that have nothing to do with each other, beside a map: the optimiser clears all of
 * them at once, so that a part of the map has the name of a count once. That ties the map to its owner, and
 * not one count to the other; what is looked up in the map and then added is torn all the same.
 */
#include "stage.h"

#include <map>
#include <mutex>

struct board {
	std::mutex lock;
	std::map<int, int> posts;
	std::size_t begun = 0, done = 0;

	__attribute__((noinline)) void serve(bool first)
	{
		{
			std::lock_guard<std::mutex> guard(lock);
			begun++;
		}
		if (first) {
			STAGE(0);
			STAGE(3);
		}
		std::lock_guard<std::mutex> guard(lock);
		done++;
	}
	bool has(int key)
	{
		std::lock_guard<std::mutex> guard(lock);
		return posts.count(key);
	}
	__attribute__((noinline)) void put(int key)
	{
		std::lock_guard<std::mutex> guard(lock);
		posts[key]++;
	}
	__attribute__((noinline)) void put_new(int key)
	{
		if (has(key))
			return;
		STAGE(4);
		STAGE(7);
		put(key);
	}
};

static board *made;

static void *one(void *unused)
{
	made->serve(true);
	made->put_new(1);
	return unused;
}

static void *other(void *unused)
{
	STAGE(1);
	made->serve(false);
	STAGE(2);
	STAGE(5);
	made->put(1);
	STAGE(6);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	made = new board;
	together(2, functions);
	delete made;
	return 0;
}
