/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A class whose first member is a mutex, which at -O0 is the first that is accessed: the
 * set is called by the class.
 */
#include "stage.h"

#include <mutex>
#include <thread>

class account
{
      public:
	int get()
	{
		std::lock_guard<std::mutex> guard(mutex);
		return balance;
	}

	void set(int to)
	{
		std::lock_guard<std::mutex> guard(mutex);
		balance = to;
	}

	void deposit(int amount)
	{
		int before = get();

		STAGE(0);
		STAGE(3);
		set(before + amount);
	}

	void fill()
	{
		STAGE(1);
		set(7);
	}

      private:
	std::mutex mutex;
	int balance = 0;
};

static void fill(account *a)
{
	a->fill();
	STAGE(2);
}

int main()
{
	account *a = new account;
	std::thread thread(fill, a);

	a->deposit(1);
	STAGE(4);
	thread.join();
	delete a;
	return 0;
}
