// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/*
 * A text whose data lie behind a pointer, with their lock, and which nobody touches without it. Who appends
 * another text asks it first for its length and then for as many characters, in two critical sections of that
 * other one: not atomic, be the text the receiver or another parameter.
 */
#include "stage.h"

#include <memory>
#include <mutex>
#include <string>

template <template <class> class Pointer> class text
{
	struct data {
		explicit data(const char *from) : content(from), length(content.size())
		{
		}
		std::mutex lock;
		std::string content;
		std::size_t length;
	};
	Pointer<data> behind;

      public:
	explicit text(const char *from) : behind(new data(from))
	{
	}
	std::size_t length()
	{
		std::lock_guard<std::mutex> guard(behind->lock);
		return behind->length;
	}
	std::string characters(std::size_t count)
	{
		std::lock_guard<std::mutex> guard(behind->lock);
		return count > behind->length ? "?" : behind->content.substr(0, count);
	}
	__attribute__((noinline)) void cut(std::size_t to)
	{
		std::lock_guard<std::mutex> guard(behind->lock);
		behind->length = to;
	}
	__attribute__((noinline)) void append(text &other, int at)
	{
		std::size_t more = other.length();

		STAGE(at);
		STAGE(at + 3);
		std::string value = other.characters(more);
		std::lock_guard<std::mutex> guard(behind->lock);
		behind->content += value;
		behind->length = behind->content.size();
	}
};

template <class T> using plain = T *;
template <class T> using unique = std::unique_ptr<T>;

static text<plain> a("one"), b("two");
static text<unique> c("three"), d("four");

static void *one(void *unused)
{
	a.append(b, 0);
	c.append(d, 4);
	return unused;
}

static void *other(void *unused)
{
	STAGE(1);
	b.cut(0);
	STAGE(2);
	STAGE(5);
	d.cut(0);
	STAGE(6);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	together(2, functions);
	return 0;
}
