/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * string_buffer.c once more, in C++.
 *
 * usage: string_buffer
 */
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

#include "../../stage.h"

class StringBuffer
{
      public:
	explicit StringBuffer(const char *text) : text_(text)
	{
	}

	std::size_t length()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return length_;
	}

	std::string chars(std::size_t count)
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (count > length_)
			missing_ += count - length_;
		return text_.substr(0, count);
	}

	void set_length(std::size_t length)
	{
		std::lock_guard<std::mutex> guard(lock_);
		length_ = length;
	}

	void append(StringBuffer &other)
	{
		std::size_t more = other.length();

		STAGE(1);
		STAGE(4);
		std::string value = other.chars(more);
		std::lock_guard<std::mutex> guard(lock_);
		text_ += value;
		length_ += more;
	}

	std::size_t missing() const
	{
		return missing_;
	}

      private:
	std::mutex lock_;
	std::string text_;
	std::size_t length_ = text_.size();
	std::size_t missing_ = 0;
};

int main()
{
	StringBuffer first("hello"), second(" world");
	std::thread appender([&] { first.append(second); });
	std::thread cutter([&] {
		STAGE(2);
		second.set_length(0);
		STAGE(3);
	});

	appender.join();
	cutter.join();
	std::printf("%zu characters were not there\n", second.missing());
	return second.missing() != 0;
}
