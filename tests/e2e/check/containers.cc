/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Containers of the C++ library whose functions lie in libstdc++ itself: what they
 * do is seen all the same. In each struct `torn` looks at a container twice, under a
 * lock that it gives back in between, while another thread changes it; in
 * those of the second half it does so under one lock, or what changes is another
 * container.
 */
#include "stage.h"

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>

enum { TORN, WHOLE };

/* `looks` twice, and `changes` by another one between the two, or behind both. */
#define CASE(name, first, how, members, looks, changes) \
	struct name {                                   \
		std::mutex mutex;                       \
		members;                                \
		__attribute__((noinline)) int torn()    \
		{                                       \
			int sum;                        \
                                                        \
			mutex.lock();                   \
			sum = (int)(looks);             \
			if (how == TORN) {              \
				mutex.unlock();         \
				STAGE(first);           \
				STAGE((first) + 3);     \
				mutex.lock();           \
			}                               \
			sum += (int)(looks);            \
			mutex.unlock();                 \
			if (how != TORN) {              \
				STAGE(first);           \
				STAGE((first) + 3);     \
			}                               \
			return sum;                     \
		}                                       \
		__attribute__((noinline)) void change() \
		{                                       \
			STAGE((first) + 1);             \
			mutex.lock();                   \
			changes;                        \
			mutex.unlock();                 \
			STAGE((first) + 2);             \
		}                                       \
	};                                              \
	static name name;

static int sum_of(const std::set<int> &items)
{
	int sum = 0;

	for (int one : items)
		sum += one;
	return sum;
}

typedef std::map<int, int> map_type;

#define LONG "a text that does not fit into the string itself, and then some more of it"
#define ITEMS = {1, 2, 3, 4, 5, 6, 7, 8, 9}

CASE(tree_inserts, 0, TORN, std::set<int> items ITEMS, items.count(20), items.insert(20))
CASE(tree_erases, 4, TORN, std::set<int> items ITEMS, items.count(5), items.erase(5))
CASE(map_sets, 8, TORN, map_type items, items.count(20), items[20] = 1)
CASE(multi_inserts, 12, TORN, std::multiset<int> items ITEMS, items.count(20), items.insert(20))
CASE(tree_first, 16, TORN, std::set<int> items ITEMS, *items.begin(), items.erase(items.begin()))
CASE(tree_last, 20, TORN, std::set<int> items ITEMS, *items.rbegin(), items.insert(20))
CASE(list_pushes, 24, TORN, std::list<int> items ITEMS, items.back(), items.push_back(20))
CASE(list_pops, 28, TORN, std::list<int> items ITEMS, items.front(), items.pop_front())
CASE(list_turns, 32, TORN, std::list<int> items ITEMS, items.front(), items.reverse())
CASE(list_splices, 36, TORN, std::list<int> items ITEMS;
     std::list<int> more ITEMS, items.back(), items.splice(items.end(), more, more.begin()))
CASE(string_appends, 40, TORN, std::string text = "ab", text.size(), text.append("cd"))
CASE(string_assigns, 44, TORN, std::string text; std::string more = LONG, text.size(), text = more)
CASE(string_compares, 48, TORN, std::string text = LONG, text.compare("ab"), text.clear())
CASE(string_erases, 52, TORN, std::string text = LONG, text.find("some"), text.erase(3, 4))

CASE(tree_right, 56, WHOLE, std::set<int> items ITEMS, items.count(5), items.erase(5))
CASE(list_right, 60, WHOLE, std::list<int> items ITEMS, items.back(), items.push_back(20))
CASE(string_right, 64, WHOLE, std::string text = LONG, text.find("some"), text.erase(3, 4))
/* Only looked at. */
CASE(tree_walks, 80, TORN, std::set<int> items ITEMS, sum_of(items), items.erase(5))
/* The first one stays what it is. */
CASE(tree_end, 84, TORN, std::set<int> items ITEMS, *items.begin(), items.erase(5))
CASE(tree_looks, 68, TORN, std::set<int> items ITEMS, items.count(20) + *items.rbegin(),
     use(*++items.begin()))
CASE(list_looks, 72, TORN, std::list<int> items ITEMS, items.back(), use(items.front()))
CASE(string_looks, 76, TORN, std::string text = LONG, text.find("some"), use(text.compare("ab")))

#define ALL(X)             \
	X(tree_inserts)    \
	X(tree_erases)     \
	X(map_sets)        \
	X(multi_inserts)   \
	X(tree_first)      \
	X(tree_last)       \
	X(list_pushes)     \
	X(list_pops)       \
	X(list_turns)      \
	X(list_splices)    \
	X(string_appends)  \
	X(string_assigns)  \
	X(string_compares) \
	X(string_erases)   \
	X(tree_right)      \
	X(list_right)      \
	X(string_right)    \
	X(tree_looks)      \
	X(list_looks)      \
	X(string_looks)    \
	X(tree_walks)      \
	X(tree_end)

static void *one(void *unused)
{
#define TORN_(name) use(name.torn());
	ALL(TORN_)
	return unused;
}

static void *other(void *unused)
{
#define CHANGE_(name) name.change();
	ALL(CHANGE_)
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return tree_inserts.items.size() != 10 || string_appends.text != "abcd" ||
	       list_splices.more.size() != 8;
}
