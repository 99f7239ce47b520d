/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An actor with a mailbox that has room for one letter. Not from a paper.
 *
 * What breaks: send_if_room asks how many letters there are, and sends in another critical section. The
 * mailbox is a template whose members are all the library's, and lies in the actor.
 *
 * How it shows: exit status 1 if there were ever more letters than room.
 *
 * usage: mailbox
 */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "../../stage.h"

template <class T> class Mailbox
{
      public:
	explicit Mailbox(std::size_t room) : room_(room)
	{
	}

	void send(T letter)
	{
		std::lock_guard<std::mutex> guard(lock_);

		letters_.push_back(letter);
		if (letters_.size() > most_)
			most_ = letters_.size();
		there_.notify_one();
	}

	std::size_t size()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return letters_.size();
	}

	bool send_if_room(T letter)
	{
		if (size() >= room_)
			return false;
		STAGE_IF(letter == 1, 1);
		STAGE_IF(letter == 1, 4);
		send(letter);
		return true;
	}

	T receive()
	{
		std::unique_lock<std::mutex> guard(lock_);

		while (letters_.empty())
			there_.wait(guard);
		T letter = letters_.front();
		letters_.pop_front();
		return letter;
	}

	std::size_t most()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return most_;
	}

      private:
	std::mutex lock_;
	std::condition_variable there_;
	std::deque<T> letters_;
	std::size_t room_, most_ = 0;
};

class Actor
{
      public:
	bool tell(int letter)
	{
		return box_.send_if_room(letter);
	}

	void stop()
	{
		box_.send(-1);
	}

	/* What it makes of its letters is its own thread's. */
	void work()
	{
		for (int letter; (letter = box_.receive()) >= 0;)
			sum_ += letter;
	}

	std::size_t most()
	{
		return box_.most();
	}

      private:
	Mailbox<int> box_{1};
	long sum_ = 0;
};

int main()
{
	Actor actor;
	std::thread first([&] { actor.tell(1); });
	std::thread second([&] {
		STAGE(2);
		actor.tell(2);
		STAGE(3);
	});

	first.join();
	second.join();
	std::size_t most = actor.most();
	std::thread worker([&] { actor.work(); });

	actor.stop();
	worker.join();
	std::printf("%zu letters at once\n", most);
	return most > 1;
}
