/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As service.c, with the C++ library's condition variables, which test what is waited for themselves. */
#include "stage.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

class service
{
      public:
	service() : thread(&service::serve, this)
	{
		STAGE(1);
		std::lock_guard<std::mutex> guard(mutex);
		started = true;
		changed.notify_all();
	}

	bool end()
	{
		{
			std::lock_guard<std::mutex> guard(mutex);
			ending = true;
		}
		STAGE(3);
		bool fine;
		{
			std::unique_lock<std::mutex> lock(mutex);
			changed.wait(lock, [this] { return done; });
			fine = ending && work >= 0;
		}
		thread.join();
		return fine;
	}

      private:
	void serve()
	{
		{
			std::unique_lock<std::mutex> lock(mutex);
			STAGE(0);
			changed.wait_for(lock, std::chrono::hours(1), [this] { return started; });
		}
		for (;;) {
			std::lock_guard<std::mutex> guard(mutex);
			if (ending)
				break;
			work++;
		}
		{
			std::lock_guard<std::mutex> guard(mutex);
			done = true;
			changed.notify_all();
		}
		STAGE(2);
	}

	long work = 0;
	bool started = false, ending = false, done = false;
	std::mutex mutex;
	std::condition_variable changed;
	std::thread thread;
};

int main()
{
	service s;

	return !s.end();
}
