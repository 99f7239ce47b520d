/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What C++20 builds on std::atomic's wait: right. */
#include <atomic>
#include <barrier>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

int main()
{
	enum { THREADS = 3, ROUNDS = 2 };
	std::latch all_here(THREADS);
	std::barrier round(THREADS);
	std::counting_semaphore<2> seats(2);
	std::atomic<int> finished{0}, seated{0}, most{0};
	std::vector<std::thread> threads;
	std::mutex mutex;
	int sum = 0;

	for (int i = 0; i < THREADS; i++)
		threads.emplace_back([&] {
			all_here.arrive_and_wait();
			for (int r = 0; r < ROUNDS; r++) {
				seats.acquire();
				if (++seated > 2)
					most = seated.load();
				{
					std::lock_guard guard(mutex);
					sum++;
				}
				seated--;
				seats.release();
				round.arrive_and_wait();
			}
			finished++;
			finished.notify_all();
		});
	for (int n; (n = finished.load()) != THREADS;)
		finished.wait(n);
	for (auto &thread : threads)
		thread.join();
	return sum != THREADS * ROUNDS || most;
}
