// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A virtual function, unique_lock, condition_variable and exceptions on the way.
// expect: raise stale-value Gauge.value_
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

struct Meter {
	virtual ~Meter() = default;
	virtual int value() = 0;
	virtual void set(int to) = 0;
};

class Gauge : public Meter
{
      public:
	int value() override
	{
		std::unique_lock<std::mutex> guard(lock_);
		changed_.wait(guard, [this] { return value_ >= 0; });
		return value_;
	}
	void set(int to) override
	{
		std::lock_guard<std::mutex> guard(lock_);
		if (to < 0)
			throw std::range_error("below zero");
		value_ = to;
		changed_.notify_all();
	}

      private:
	std::mutex lock_;
	std::condition_variable changed_;
	int value_ = 0;
};

static void raise(Meter &meter)
{
	int now = meter.value();

	meter.set(now + 1);
}

int main()
{
	Gauge gauge;
	std::thread a([&gauge] { raise(gauge); }), b([&gauge] { raise(gauge); });

	a.join();
	b.join();
	return gauge.value();
}
