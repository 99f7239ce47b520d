/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * As again.c, with guards, iterators and exceptions: a search under a guard, and
 * again under another one. In `by_guards`, `by_map`, `by_own` and `by_throw`
 * nothing is carried over. All others do so, or do not look again.
 */
#include "stage.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

typedef std::shared_lock<std::shared_mutex> reading;
typedef std::unique_lock<std::shared_mutex> writing;

/* Another one who adds between stages `first` + 1 and `first` + 2; what is behind may be added now. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)
#define PUT(first)                                                      \
	__attribute__((noinline)) void put(int key)                     \
	{                                                               \
		STAGE((first) + 1);                                     \
		{                                                       \
			std::lock_guard<std::shared_mutex> guard(lock); \
			add(key);                                       \
		}                                                       \
		STAGE((first) + 2);                                     \
	}

struct list {
	std::shared_mutex lock;
	std::vector<int> keys;
	int misses = 0;

	/* Throws, as far as the compiler can tell. */
	int find(int key) const
	{
		for (unsigned i = 0; i < keys.size(); i++)
			if (keys.at(i) == key)
				return (int)i;
		return -1;
	}
	void add(int key)
	{
		keys.push_back(key);
	}
};

/* ---- meant ---- */

struct by_guards : list {
	PUT(0)
	int get(int key)
	{
		{
			reading guard(lock);
			int at = find(key);

			if (at >= 0)
				return at;
		}
		OTHERS(0);
		writing guard(lock);
		int at = find(key);

		if (at < 0) {
			keys.push_back(key);
			at = (int)keys.size() - 1;
		}
		return at;
	}
};

struct by_map {
	std::shared_mutex lock;
	std::map<int, int> map;

	void add(int key)
	{
		map.emplace(key, key);
	}
	PUT(4)
	int get(const int &key)
	{
		{
			reading guard(lock);
			auto at = map.find(key);

			if (at != map.end())
				return at->second;
		}
		OTHERS(4);
		writing guard(lock);
		auto at = map.find(key);

		if (at == map.end())
			at = map.emplace(key, key * key).first;
		return at->second;
	}
};

/* A guard that the program has made itself. */
class holding
{
	pthread_mutex_t *mutex;

      public:
	explicit holding(pthread_mutex_t *mutex) : mutex(mutex)
	{
		pthread_mutex_lock(mutex);
	}
	~holding()
	{
		pthread_mutex_unlock(mutex);
	}
};

struct by_own {
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	std::shared_mutex lock; /* what others take as well */
	std::vector<int> keys;

	bool has(int key) const
	{
		for (int one : keys)
			if (one == key)
				return true;
		return false;
	}
	__attribute__((noinline)) void put(int key)
	{
		STAGE(9);
		{
			holding guard(&mutex);
			keys.push_back(key);
		}
		STAGE(10);
	}
	void get(int key)
	{
		{
			holding guard(&mutex);
			if (has(key))
				return;
		}
		OTHERS(8);
		holding guard(&mutex);
		if (!has(key))
			keys.push_back(key);
	}
};

/* What is not there is an exception, and is caught. */
struct by_throw : list {
	PUT(12)
	int get(int key)
	{
		try {
			{
				reading guard(lock);
				if (find(key) >= 0)
					return 0;
			}
			OTHERS(12);
			writing guard(lock);
			if (find(key) >= 0)
				return 0;
			keys.push_back(key);
			throw std::runtime_error("new");
		} catch (const std::runtime_error &) {
			return 1;
		}
	}
};

/* ---- not meant ---- */

/* Where there was room is what it gives back. */
struct old_end : list {
	PUT(16)
	int get(int key)
	{
		int end;

		{
			reading guard(lock);
			int at = find(key);

			if (at >= 0)
				return at;
			end = (int)keys.size();
		}
		OTHERS(16);
		writing guard(lock);
		int at = find(key);

		if (at < 0) {
			keys.push_back(key);
			at = end;
		}
		return at;
	}
};

/* Which way was gone is what tells it. */
struct old_flag : list {
	PUT(20)
	int get(int key)
	{
		bool missing = false;

		{
			reading guard(lock);
			if (find(key) < 0)
				missing = true;
		}
		OTHERS(20);
		writing guard(lock);
		int at = find(key);

		if (at >= 9)
			return at;
		if (missing)
			keys.push_back(key);
		return 0;
	}
};

struct old_iterator {
	std::shared_mutex lock;
	std::map<int, int> map;

	void add(int key)
	{
		map.emplace(key, key);
	}
	PUT(24)
	int get(const int &key)
	{
		std::map<int, int>::iterator next, at;

		{
			reading guard(lock);
			at = map.find(key);
			if (at != map.end())
				return at->second;
			next = map.begin();
		}
		OTHERS(24);
		writing guard(lock);
		at = map.find(key);
		if (at == map.end())
			map.emplace_hint(next, key, next->second);
		return 0;
	}
};

struct counted : list {
	PUT(28)
	int get(int key)
	{
		{
			writing guard(lock);
			int at = find(key);

			misses++;
			if (at >= 0)
				return at;
		}
		OTHERS(28);
		writing guard(lock);
		int at = find(key);

		if (at < 0 && misses < 100)
			keys.push_back(key);
		return at;
	}
};

/* A guard that remembers more than its lock. */
struct remembering {
	writing guard;
	int end;

	explicit remembering(list *of) : guard(of->lock), end((int)of->keys.size())
	{
	}
};

struct by_memory : list {
	PUT(32)
	int get(int key)
	{
		remembering memory(this);
		int at = find(key);

		if (at >= 0)
			return at;
		memory.guard.unlock();
		OTHERS(32);
		memory.guard.lock();
		at = find(key);
		if (at < 0)
			keys.insert(keys.begin() + memory.end, key);
		return at;
	}
};

static by_guards guards;
static by_map map;
static by_own own;
static by_throw throwing;
static old_end end;
static old_flag flag;
static old_iterator iterator;
static counted counts;
static by_memory memory;

static void *one(void *unused)
{
	use(guards.get(3));
	use(map.get(3));
	own.get(3);
	use(throwing.get(3));
	use(end.get(3));
	use(flag.get(3));
	use(iterator.get(3));
	use(counts.get(3));
	use(memory.get(3));
	return unused;
}

static void *other(void *unused)
{
	guards.put(5);
	map.put(5);
	own.put(5);
	throwing.put(5);
	end.put(5);
	flag.put(5);
	iterator.put(5);
	counts.put(5);
	memory.put(5);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	iterator.map.emplace(9, 9);
	together(2, functions);
	return guards.keys.size() != 2 || map.map.size() != 2 || own.keys.size() != 2 ||
	       throwing.keys.size() != 2 || memory.keys.size() != 2;
}
