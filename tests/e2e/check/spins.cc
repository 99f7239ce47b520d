/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As spins.c, with the C++ library's atomic data, which are accessed by functions of the library. */
#include "stage.h"

#include <atomic>
#include <chrono>
#include <thread>

class work
{
      public:
	int round()
	{
		what = 1;
		input = 6;
		start();
		while (pending.load(std::memory_order_acquire) != 0)
			std::this_thread::sleep_for(std::chrono::microseconds(10));
		what = 0;
		return output;
	}

	void serve()
	{
		while (!pending)
			std::this_thread::yield();
		if (what)
			output = input * 7;
		finish();
	}

      private:
	void finish()
	{
		pending = 0;
	}

	void start()
	{
		pending.store(1, std::memory_order_release);
	}

	int what = 0, input = 0, output = 0;
	std::atomic<int> pending{0};
};

static std::atomic_flag taken = ATOMIC_FLAG_INIT;
static std::atomic<bool> held{false};

static void flag_lock()
{
	while (taken.test_and_set(std::memory_order_acquire))
		std::this_thread::yield();
}

static void ttas_lock()
{
	do
		while (held.load())
			std::this_thread::yield();
	while (held.exchange(true));
}

struct counter {
	int value = 0;

	void add()
	{
		int before = value;

		STAGE(0);
		ttas_lock();
		STAGE(3);
		value = before + 1;
	}

	void set()
	{
		STAGE(1);
		value = 7;
		STAGE(2);
	}
};

struct other_counter {
	int value = 0;

	void add_more()
	{
		int before = value;

		STAGE(4);
		flag_lock();
		STAGE(7);
		value = before + 1;
	}

	void set_more()
	{
		STAGE(5);
		value = 7;
		STAGE(6);
	}
};

static work the_work;
static counter the_counter;
static other_counter the_other;

static void *one(void *unused)
{
	if (the_work.round() != 42)
		exit(1);
	the_counter.add();
	the_other.add_more();
	return unused;
}

static void *other(void *unused)
{
	the_work.serve();
	the_counter.set();
	the_other.set_more();
	return unused;
}

int main()
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], nullptr, one, nullptr) ||
	    pthread_create(&threads[1], nullptr, other, nullptr))
		return 1;
	pthread_join(threads[0], nullptr);
	pthread_join(threads[1], nullptr);
	return 0;
}
