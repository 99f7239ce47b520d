/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elements of containers that are members. `torn` reads one under the object's lock, and writes it under the
 * lock taken anew; `set` comes in between. However the element is reached, it is the
 * object's.
 */
#include "stage.h"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

struct item {
	int stock = 1;
};

/* `reach` is the element, first the number of its first stage. */
#define HOLDER(name, first, members, reach)                      \
	struct name {                                            \
		members;                                         \
		std::mutex mutex;                                \
		__attribute__((noinline)) int get()              \
		{                                                \
			std::lock_guard<std::mutex> lock(mutex); \
			return (reach).stock;                    \
		}                                                \
		__attribute__((noinline)) void put(int stock)    \
		{                                                \
			std::lock_guard<std::mutex> lock(mutex); \
			(reach).stock = stock;                   \
		}                                                \
		__attribute__((noinline)) void torn()            \
		{                                                \
			int stock = get();                       \
			STAGE(first);                            \
			STAGE((first) + 3);                      \
			put(stock + 1);                          \
		}                                                \
		__attribute__((noinline)) void set()             \
		{                                                \
			STAGE((first) + 1);                      \
			put(5);                                  \
			STAGE((first) + 2);                      \
		}                                                \
	};

using items = std::vector<item>;
using pointers = std::vector<item *>;
using owners = std::vector<std::unique_ptr<item>>;
using chain = std::list<item>;
using tree = std::map<int, item>;
using tree_of_owners = std::map<int, std::shared_ptr<item>>;
using table = std::unordered_map<int, item>;

static owners one_owner()
{
	owners made;

	made.push_back(std::make_unique<item>());
	return made;
}

static tree_of_owners one_shared()
{
	tree_of_owners made;

	made[3] = std::make_shared<item>();
	return made;
}

HOLDER(by_index, 0, items all = items(2), all[1])
HOLDER(by_pointer, 4, pointers all = pointers(1, new item), *all[0])
HOLDER(by_owner, 8, owners all = one_owner(), *all[0])
HOLDER(by_front, 12, items all = items(2), all.front())
HOLDER(by_iterator, 16, chain all = chain(2), *all.begin())
HOLDER(by_key, 20, tree all, all[3])
HOLDER(by_search, 24, tree_of_owners all = one_shared(), *all.find(3)->second)
HOLDER(by_hash, 28, table all, all[3])

template <class Holder> struct both {
	static void *one(void *argument)
	{
		static_cast<Holder *>(argument)->torn();
		return nullptr;
	}
	static void *other(void *argument)
	{
		static_cast<Holder *>(argument)->set();
		return nullptr;
	}
	static void run()
	{
		auto *holder = new Holder;
		pthread_t threads[2];

		if (pthread_create(&threads[0], nullptr, one, holder) ||
		    pthread_create(&threads[1], nullptr, other, holder))
			exit(1);
		pthread_join(threads[0], nullptr);
		pthread_join(threads[1], nullptr);
	}
};

int main()
{
	both<by_index>::run();
	both<by_pointer>::run();
	both<by_owner>::run();
	both<by_front>::run();
	both<by_iterator>::run();
	both<by_key>::run();
	both<by_search>::run();
	both<by_hash>::run();
	return 0;
}
