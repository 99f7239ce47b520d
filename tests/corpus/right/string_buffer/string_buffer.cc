/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * string_buffer.c once more, in C++: length and characters in one critical
 * section.
 *
 * usage: string_buffer
 */
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

class StringBuffer
{
      public:
	explicit StringBuffer(const char *text) : text_(text)
	{
	}

	std::string chars()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return text_.substr(0, length_);
	}

	void set_length(std::size_t length)
	{
		std::lock_guard<std::mutex> guard(lock_);
		length_ = length;
	}

	void append(StringBuffer &other)
	{
		std::string value = other.chars();
		std::lock_guard<std::mutex> guard(lock_);

		text_ += value;
		length_ = text_.size();
	}

	bool whole()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return text_.size() == length_;
	}

      private:
	std::mutex lock_;
	std::string text_;
	std::size_t length_ = text_.size();
};

int main()
{
	StringBuffer first("hello"), second(" world");
	std::thread appender([&] { first.append(second); });
	std::thread cutter([&] { second.set_length(0); });

	appender.join();
	cutter.join();
	std::printf("%s\n", first.whole() ? "all characters were there" : "characters were not there");
	return !first.whole();
}
