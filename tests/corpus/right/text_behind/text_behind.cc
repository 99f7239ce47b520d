/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/text_behind: the characters that there are, are taken in one critical section of
 * the other text.
 *
 * Exit status 1 if characters were asked for that are not there.
 *
 * usage: text_behind
 */
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Text
{
      public:
	explicit Text(const char *from) : data_(std::make_unique<Data>(from))
	{
	}

	std::string characters()
	{
		std::lock_guard<std::mutex> guard(data_->lock);
		return data_->characters.substr(0, data_->length);
	}

	void append(Text &other)
	{
		std::string value = other.characters();
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
	std::thread cutter([&] { second.cut(0); });

	appender.join();
	cutter.join();
	std::printf("%zu characters were not there\n", second.missing());
	return second.missing() != 0;
}
