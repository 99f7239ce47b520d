/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * hints.c in C++: with guards, members and containers. `by_guards`, `by_size` and `by_flag` look
 * again at what they were called for; `blind` and `missing` do not.
 */
#include "stage.h"

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace
{

/* `put` comes between stages `first` + 1 and `first` + 2 of who adds. */
struct table {
	int first;
	std::mutex lock;
	std::vector<int> keys;
	unsigned long limit = 0;
	bool tidy = false;

	explicit table(int stage) : first(stage)
	{
		keys.reserve(8);
	}
	void others() const
	{
		STAGE(first);
		STAGE(first + 3);
	}
	__attribute__((noinline)) void put(int key)
	{
		STAGE(first + 1);
		{
			std::lock_guard<std::mutex> guard(lock);
			keys.push_back(key);
			limit = keys.size() / 2;
			tidy = false;
		}
		STAGE(first + 2);
	}
};

/* ---- meant ---- */

struct by_guards : table {
	using table::table;
	std::shared_mutex whole;

	__attribute__((noinline)) void grow()
	{
		std::unique_lock<std::shared_mutex> all(whole);
		std::lock_guard<std::mutex> guard(lock);

		if (keys.size() > limit)
			limit = 2 * keys.size();
	}
	__attribute__((noinline)) void add(int key)
	{
		bool full;
		{
			std::shared_lock<std::shared_mutex> some(whole);
			std::lock_guard<std::mutex> guard(lock);
			keys.push_back(key);
			full = keys.size() > limit;
		}
		others();
		if (full)
			grow();
	}
};

struct by_size : table {
	using table::table;

	bool full()
	{
		std::lock_guard<std::mutex> guard(lock);
		return keys.size() >= limit;
	}
	__attribute__((noinline)) void shrink()
	{
		std::lock_guard<std::mutex> guard(lock);
		while (keys.size() > limit)
			keys.pop_back();
	}
	__attribute__((noinline)) void add(int)
	{
		bool now = full();

		others();
		if (now)
			shrink();
	}
};

struct by_flag : table {
	using table::table;

	__attribute__((noinline)) void clean()
	{
		std::lock_guard<std::mutex> guard(lock);
		if (tidy)
			return;
		keys.clear();
		tidy = true;
	}
	__attribute__((noinline)) void add(int)
	{
		bool now;
		{
			std::lock_guard<std::mutex> guard(lock);
			now = tidy;
		}
		others();
		if (!now)
			clean();
	}
};

/* ---- not meant ---- */

struct blind : table {
	using table::table;

	__attribute__((noinline)) void grow()
	{
		std::lock_guard<std::mutex> guard(lock);
		limit = 2 * keys.size();
	}
	__attribute__((noinline)) void add(int key)
	{
		bool full;
		{
			std::lock_guard<std::mutex> guard(lock);
			keys.push_back(key);
			full = keys.size() > limit;
		}
		others();
		if (full)
			grow();
	}
};

struct missing : table {
	using table::table;

	bool contains(int key)
	{
		std::lock_guard<std::mutex> guard(lock);
		for (int k : keys)
			if (k == key)
				return true;
		return false;
	}
	__attribute__((noinline)) void insert()
	{
		std::lock_guard<std::mutex> guard(lock);
		if (keys.size() < 8)
			keys.push_back(3);
	}
	__attribute__((noinline)) void add(int)
	{
		bool there = contains(3);

		others();
		if (!there)
			insert();
	}
};

by_guards guards(0);
by_size size(4);
by_flag flag(8);
blind not_again(12);
missing not_there(16);

void *one(void *unused)
{
	guards.add(1);
	size.add(1);
	flag.add(1);
	not_again.add(1);
	not_there.add(1);
	return unused;
}

void *another(void *unused)
{
	guards.put(5);
	size.put(5);
	flag.put(5);
	not_again.put(5);
	not_there.put(5);
	return unused;
}

} // namespace

int main()
{
	TOGETHER(one, another);
	return guards.limit != 4 || !flag.tidy || not_there.keys.size() != 2;
}
