/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What lies in a container of the C++ library belongs to the object that has the
 * container, however it is got at. In each struct `torn` reads an item's number and
 * writes it, under a lock that it gives back in between, and `set` comes in between.
 * Of `whole` the lock is kept; what is in containers of two objects is
 * no part of either, and each `spend` is whole.
 */
#include "stage.h"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct item {
	std::string name;
	int value = 0;
};

#define CASE(name, first, type, fill, lvalue)                     \
	struct name {                                             \
		std::mutex mutex;                                 \
		type items;                                       \
		name()                                            \
		{                                                 \
			fill;                                     \
		}                                                 \
		__attribute__((noinline)) int get()               \
		{                                                 \
			std::lock_guard<std::mutex> guard(mutex); \
			return lvalue;                            \
		}                                                 \
		__attribute__((noinline)) void put(int value)     \
		{                                                 \
			std::lock_guard<std::mutex> guard(mutex); \
			lvalue = value;                           \
		}                                                 \
		__attribute__((noinline)) void torn()             \
		{                                                 \
			int now = get();                          \
			STAGE(first);                             \
			STAGE((first) + 3);                       \
			put(now + 1);                             \
		}                                                 \
		__attribute__((noinline)) void set()              \
		{                                                 \
			STAGE((first) + 1);                       \
			put(9);                                   \
			STAGE((first) + 2);                       \
		}                                                 \
	};                                                        \
	static name name;

typedef std::map<std::string, std::unique_ptr<item>> map_of_unique;
typedef std::map<std::string, item> map_of_items;
typedef std::unordered_map<int, std::shared_ptr<item>> hash_of_shared;
typedef std::map<int, item *> map_of_pointers;
typedef std::map<int, int> map_of_numbers;
typedef std::array<std::optional<item>, 2> array_of_optional;

CASE(unique, 0, map_of_unique, items["a"] = std::make_unique<item>(), items.at("a")->value)
CASE(mapped, 4, map_of_items, items["a"], items["a"].value)
CASE(found, 8, map_of_items, items["a"], items.find("a")->second.value)
CASE(hashed, 12, hash_of_shared, items[1] = std::make_shared<item>(), items.find(1)->second->value)
CASE(pointed, 16, map_of_pointers, items[1] = new item, items[1]->value)
CASE(numbered, 20, map_of_numbers, items[1] = 0, items[1])
CASE(lined, 24, std::vector<item>, items.emplace_back(), items[0].value)
CASE(owned, 28, std::vector<std::unique_ptr<item>>, items.push_back(std::make_unique<item>()),
     items.back()->value)
CASE(linked, 32, std::list<item>, items.emplace_back(), items.front().value)
CASE(queued, 36, std::deque<item>, items.emplace_back(), items.begin()->value)
CASE(maybe, 40, array_of_optional, items[1].emplace(), items[1]->value)

struct by_name {
	std::mutex mutex;
	map_of_unique items;
	__attribute__((noinline)) int get()
	{
		std::lock_guard<std::mutex> guard(mutex);
		item &it = *items.at("a");

		return it.value;
	}
	__attribute__((noinline)) void put(int value)
	{
		std::lock_guard<std::mutex> guard(mutex);

		for (auto &[name, it] : items)
			it->value = value;
	}
	__attribute__((noinline)) void torn()
	{
		int now = get();

		STAGE(44);
		STAGE(47);
		put(now + 1);
	}
	__attribute__((noinline)) void set()
	{
		STAGE(45);
		put(9);
		STAGE(46);
	}
};
static by_name by_name;

struct whole {
	std::mutex mutex;
	std::vector<item> items = std::vector<item>(2);
	__attribute__((noinline)) void add()
	{
		std::lock_guard<std::mutex> guard(mutex);

		for (item &it : items)
			it.value++;
	}
};
static whole whole;

struct account {
	std::mutex mutex;
	int value = 0;
};

struct purse {
	std::vector<std::shared_ptr<account>> accounts;
	__attribute__((noinline)) void spend()
	{
		std::lock_guard<std::mutex> guard(accounts[0]->mutex);
		accounts[0]->value++;
	}
};
static std::shared_ptr<account> common = std::make_shared<account>();
static purse mine = {{common}}, yours = {{common}};

static void *one(void *unused)
{
	unique.torn();
	mapped.torn();
	found.torn();
	hashed.torn();
	pointed.torn();
	numbered.torn();
	lined.torn();
	owned.torn();
	linked.torn();
	queued.torn();
	maybe.torn();
	by_name.torn();
	whole.add();
	STAGE(48);
	STAGE(51);
	whole.add();
	mine.spend();
	yours.spend();
	STAGE(52);
	mine.spend();
	STAGE(54);
	STAGE(57);
	mine.spend();
	return unused;
}

static void *other(void *unused)
{
	unique.set();
	mapped.set();
	found.set();
	hashed.set();
	pointed.set();
	numbered.set();
	lined.set();
	owned.set();
	linked.set();
	queued.set();
	maybe.set();
	by_name.set();
	STAGE(49);
	whole.add();
	STAGE(50);
	STAGE(53);
	STAGE(55);
	yours.spend();
	STAGE(56);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	by_name.items["a"] = std::make_unique<item>();
	/* That an item belongs to the object is known from the first time on that it is reached from there.
	 */
	mapped.put(0);
	found.put(0);
	together(2, functions);
	return common->value != 5;
}
