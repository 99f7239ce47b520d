/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * account_update.c once more, in C++, with a guard instead of calls.
 *
 * usage: account_update [UPDATES]
 */
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "../../stage.h"

class Account
{
      public:
	long balance()
	{
		std::lock_guard<std::mutex> guard(lock_);
		return balance_;
	}

	void update(long amount)
	{
		long now = balance();

		MEET(2);
		std::lock_guard<std::mutex> guard(lock_);
		balance_ = now + amount;
	}

      private:
	std::mutex lock_;
	long balance_ = 0;
};

int main(int argc, char **argv)
{
	const int updates = argc > 1 ? std::atoi(argv[1]) : 10;
	const long expected = 2L * updates * (updates + 1) / 2;
	Account account;
	std::vector<std::thread> threads;

	for (int i = 0; i < 2; i++)
		threads.emplace_back([&account, updates] {
			for (int amount = 1; amount <= updates; amount++)
				account.update(amount);
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("expected %ld, got %ld\n", expected, account.balance());
	return account.balance() != expected;
}
