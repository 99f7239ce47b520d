// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * Registries that are searched under a read lock and again under the write lock:
 * by a name, whose comparison is in the C++ library; by a number that is handed
 * over by value, and whose address the search is given; and a flag. `by_old_name`,
 * `by_old_flag` and `by_half` do not look again, or not at all that decided.
 */
#include "stage.h"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

typedef std::shared_lock<std::shared_mutex> reading;
typedef std::unique_lock<std::shared_mutex> writing;

/* Another one comes between stages `first` + 1 and `first` + 2. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)
#define PUT(first, change)                                               \
	__attribute__((noinline)) void put()                             \
	{                                                                \
		STAGE((first) + 1);                                      \
		{                                                        \
			std::lock_guard<std::shared_mutex> guard(mutex); \
			change;                                          \
		}                                                        \
		STAGE((first) + 2);                                      \
	}

struct by_name {
	std::shared_mutex mutex;
	std::map<std::string, int> ids;
	int next = 1;

	PUT(0, ids["other"] = next++)
	int get(const std::string &name)
	{
		{
			reading guard(mutex);
			auto at = ids.find(name);
			if (at != ids.end())
				return at->second;
		}
		OTHERS(0);
		writing guard(mutex);
		auto at = ids.find(name);
		if (at != ids.end())
			return at->second;
		int id = next++;
		ids[name] = id;
		return id;
	}
};

struct by_value {
	std::shared_mutex mutex;
	std::map<int, int> ids;
	int next = 1;

	PUT(4, ids[7] = next++)
	int get(int number)
	{
		{
			reading guard(mutex);
			auto at = ids.find(number);
			if (at != ids.end())
				return at->second;
		}
		OTHERS(4);
		writing guard(mutex);
		auto at = ids.find(number);
		if (at != ids.end())
			return at->second;
		int id = next++;
		ids[number] = id;
		return id;
	}
};

struct by_flag {
	std::shared_mutex mutex;
	bool filled = false;
	int value = 0, fills = 0;

	PUT(16, filled = true; value = 4; fills++)
	int get()
	{
		{
			reading guard(mutex);
			if (filled)
				return value;
		}
		OTHERS(16);
		writing guard(mutex);
		if (!filled) {
			value = 5;
			filled = true;
			fills++;
		}
		return value;
	}
};

/* Whether it is open is not asked again. */
struct by_half {
	std::shared_mutex mutex;
	bool filled = false, open = true;
	int value = 0, fills = 0;

	PUT(20, filled = !open; open = false; value = 4; fills++)
	int get()
	{
		{
			reading guard(mutex);
			if (!open)
				return -1;
			if (filled)
				return value;
		}
		OTHERS(20);
		writing guard(mutex);
		if (!filled) {
			value = 5;
			filled = true;
			fills++;
		}
		return value;
	}
};

struct by_old_name {
	std::shared_mutex mutex;
	std::map<std::string, int> ids;
	int next = 1;

	PUT(8, ids["other"] = next++)
	int get(const std::string &name)
	{
		{
			reading guard(mutex);
			auto at = ids.find(name);
			if (at != ids.end())
				return at->second;
		}
		OTHERS(8);
		writing guard(mutex);
		int id = next++;
		ids[name] = id;
		return id;
	}
};

struct by_old_flag {
	std::shared_mutex mutex;
	bool filled = false;
	int value = 0, fills = 0;

	PUT(12, filled = true; value = 4; fills++)
	int get()
	{
		{
			reading guard(mutex);
			if (filled)
				return value;
		}
		OTHERS(12);
		writing guard(mutex);
		value = 5;
		filled = true;
		fills++;
		return value;
	}
};

static by_name name;
static by_value value;
static by_flag flag;
static by_half half;
static by_old_name old_name;
static by_old_flag old_flag;

static void *one(void *unused)
{
	use(name.get("one"));
	use(value.get(1));
	use(old_name.get("one"));
	use(old_flag.get());
	use(flag.get());
	use(half.get());
	return unused;
}

static void *other(void *unused)
{
	name.put();
	value.put();
	old_name.put();
	old_flag.put();
	flag.put();
	half.put();
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return name.next != 3 || value.next != 3 || flag.fills != 1;
}
