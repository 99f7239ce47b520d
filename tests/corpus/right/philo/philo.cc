/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * philo.c once more, in C++.
 *
 * usage: philo
 */
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

class Table
{
      public:
	explicit Table(int places) : taken_(places)
	{
	}

	int get_forks(int id)
	{
		std::unique_lock<std::mutex> guard(lock_);

		changed_.wait(guard, [&] { return !taken_[id] && !taken_[right_of(id)]; });
		taken_[id] = taken_[right_of(id)] = 1;
		return meals_++;
	}

	void put_forks(int id)
	{
		std::lock_guard<std::mutex> guard(lock_);

		if (!taken_[id] || !taken_[right_of(id)])
			collisions_++;
		taken_[id] = taken_[right_of(id)] = 0;
		changed_.notify_all();
	}

	int collisions() const
	{
		return collisions_;
	}

      private:
	int right_of(int id) const
	{
		return (id + 1) % static_cast<int>(taken_.size());
	}

	std::mutex lock_;
	std::condition_variable changed_;
	std::vector<char> taken_;
	int meals_ = 0;
	int collisions_ = 0;
};

int main()
{
	const int philosophers = 5, meals = 50;
	Table table(philosophers);
	std::vector<std::thread> threads;

	for (int id = 0; id < philosophers; id++)
		threads.emplace_back([&table, id] {
			int meal;

			do {
				meal = table.get_forks(id);
				table.put_forks(id);
			} while (meal < meals);
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%d collisions\n", table.collisions());
	return table.collisions() != 0;
}
