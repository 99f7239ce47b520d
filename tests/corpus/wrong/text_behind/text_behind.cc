/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Texts whose data lie behind a pointer, with their lock, as libraries do it that do not want to show them.
 * Not from a paper; what breaks is StringBuffer's.
 *
 * What breaks: append asks the other text for its length and then for as many characters, in two critical
 * sections. The other one is neither the receiver nor touched by append itself.
 *
 * How it shows: exit status 1 if characters were asked for that are not there.
 *
 * usage: text_behind
 */
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "../../stage.h"

class Text
{
      public:
	explicit Text(const char *from) : data_(std::make_unique<Data>(from))
	{
	}

	std::size_t length()
	{
		std::lock_guard<std::mutex> guard(data_->lock);
		return data_->length;
	}

	std::string characters(std::size_t count)
	{
		std::lock_guard<std::mutex> guard(data_->lock);

		if (count > data_->length)
			data_->missing += count - data_->length;
		return data_->characters.substr(0, count);
	}

	void append(Text &other)
	{
		std::size_t more = other.length();

		STAGE(1);
		STAGE(4);
		std::string value = other.characters(more);
		std::lock_guard<std::mutex> guard(data_->lock);
		data_->characters += value;
		data_->length = data_->characters.size();
	}

	void cut(std::size_t length)
	{
		std::lock_guard<std::mutex> guard(data_->lock);
		data_->length = length;
	}

	std::size_t missing()
	{
		std::lock_guard<std::mutex> guard(data_->lock);
		return data_->missing;
	}

      private:
	struct Data {
		explicit Data(const char *from) : characters(from), length(characters.size())
		{
		}
		std::mutex lock;
		std::string characters;
		std::size_t length, missing = 0;
	};
	std::unique_ptr<Data> data_;
};

int main()
{
	Text first("hello"), second(" world");
	std::thread appender([&] { first.append(second); });
	std::thread cutter([&] {
		STAGE(2);
		second.cut(0);
		STAGE(3);
	});

	appender.join();
	cutter.join();
	std::printf("%zu characters were not there\n", second.missing());
	return second.missing() != 0;
}
