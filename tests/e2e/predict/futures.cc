// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results that are handed over by futures of the library and by flags of one's own, which are set by
// an exchange: whoever was waiting has said so in the same word. What is filled in before
// nobody sees half. With WRONG a report is completed when others have been told already.
#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Answer {
	std::string text;
	int number = 0;
};

class Report
{
      public:
	void fill(std::promise<void> &ready)
	{
		pages = 3;
#ifdef WRONG
		ready.set_value();
		words = 700;
#else
		words = 700;
		ready.set_value();
#endif
	}

	int sum()
	{
		return pages + words;
	}

      private:
	int pages = 0, words = 0;
};

class Event
{
      public:
	void set()
	{
		state.exchange(1, std::memory_order_release);
	}

	bool is_set()
	{
		return state.load(std::memory_order_acquire) & 1;
	}

	void wait()
	{
		while (!is_set()) {
			state.fetch_or(2, std::memory_order_relaxed);
			std::this_thread::yield();
		}
	}

      private:
	std::atomic<int> state{0};
};

static Answer compute(int n)
{
	Answer a;

	a.number = n;
	for (int i = 0; i < n; i++)
		a.text += static_cast<char>('a' + i);
	return a;
}

static void set_later(std::promise<Answer> p, int n)
{
	p.set_value(compute(n));
}

static int by_promises()
{
	std::vector<std::thread> threads;
	std::vector<std::future<Answer>> answers;
	int sum = 0;

	for (int i = 0; i < 3; i++) {
		std::promise<Answer> p;

		answers.push_back(p.get_future());
		threads.emplace_back(set_later, std::move(p), i);
	}
	for (auto &answer : answers)
		sum += answer.get().number;
	for (auto &thread : threads)
		thread.join();
	return sum;
}

static int by_tasks()
{
	auto task = std::make_shared<std::packaged_task<Answer()>>([] { return compute(5); });
	std::future<Answer> answer = task->get_future();
	std::thread thread([task] { (*task)(); });

	task.reset();
	std::shared_future<Answer> other = std::async(std::launch::async, compute, 6).share();
	std::thread reader([other] {
		if (other.get().number != 6)
			std::abort();
	});
	int sum = answer.get().number + static_cast<int>(other.get().text.size());

	answer = {};
	reader.join();
	thread.join();
	return sum;
}

static int by_event()
{
	Event event;
	Answer answer;
	std::thread thread([&] {
		answer = compute(7);
		event.set();
	});

	event.wait();
	int sum = answer.number + static_cast<int>(answer.text.size());

	answer.text.clear();
	thread.join();
	return sum;
}

static int by_report()
{
	Report report;
	std::promise<void> ready;
	std::future<void> told = ready.get_future();
	std::thread thread([&] { report.fill(ready); });

	told.wait();
	int sum = report.sum();

	thread.join();
	return sum;
}

int main()
{
	return by_promises() == 3 && by_tasks() == 11 && by_event() == 14 && by_report() > 0 ? 0 : 1;
}
