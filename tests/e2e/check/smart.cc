/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an object has by a std::unique_ptr or a std::shared_ptr it holds as if the pointer were a plain
 * one: its functions are units for it. What two objects share by theirs is no part of either, and each
 * `spend` is whole.
 */
#include "stage.h"

#include <memory>
#include <mutex>

struct inside {
	std::mutex mutex;
	int value = 0;
};

#define HOLDER(name, first, pointer, make)                                \
	struct name {                                                     \
		pointer<inside> held = make;                              \
		__attribute__((noinline)) int get()                       \
		{                                                         \
			std::lock_guard<std::mutex> guard(held->mutex);   \
			return held->value;                               \
		}                                                         \
		__attribute__((noinline)) void put(int value)             \
		{                                                         \
			std::lock_guard<std::mutex> guard((*held).mutex); \
			(*held).value = value;                            \
		}                                                         \
		__attribute__((noinline)) void torn()                     \
		{                                                         \
			int now = get();                                  \
			STAGE(first);                                     \
			STAGE((first) + 3);                               \
			put(now + 1);                                     \
		}                                                         \
		__attribute__((noinline)) void set()                      \
		{                                                         \
			STAGE((first) + 1);                               \
			put(9);                                           \
			STAGE((first) + 2);                               \
		}                                                         \
	};                                                                \
	static name name;

HOLDER(unique, 0, std::unique_ptr, std::make_unique<inside>())
HOLDER(shared, 4, std::shared_ptr, std::make_shared<inside>())

struct purse {
	std::shared_ptr<inside> till;

	__attribute__((noinline)) void add(int value)
	{
		std::lock_guard<std::mutex> guard(till->mutex);
		till->value += value;
	}
};

static std::shared_ptr<inside> till = std::make_shared<inside>();
static purse mine = {till}, yours = {till};

__attribute__((noinline)) static void spend(purse *p)
{
	p->add(1);
}

static void *one(void *unused)
{
	unique.torn();
	shared.torn();
	spend(&mine);
	STAGE(8);
	STAGE(11);
	spend(&mine);
	return unused;
}

static void *other(void *unused)
{
	unique.set();
	shared.set();
	STAGE(9);
	spend(&yours);
	STAGE(10);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return unique.held->value != 1 || shared.held->value != 1 || till->value != 3;
}
