/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Workers that take coroutines from a queue and resume them. What a coroutine does
 * until it is suspended again is a job: that it queues itself, after another
 * worker has taken one, does not tear the worker's iteration apart. In `careless` the
 * iteration carries something over from one critical section to another by itself.
 */
#include "stage.h"

#include <coroutine>
#include <deque>
#include <mutex>

struct task {
	struct promise_type {
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_never final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			abort();
		}
	};
	std::coroutine_handle<> handle;
};

struct queue {
	std::mutex mutex;
	std::deque<std::coroutine_handle<>> waiting;
	long taken = 0;

	__attribute__((noinline)) void post(std::coroutine_handle<> handle)
	{
		std::lock_guard<std::mutex> guard(mutex);

		waiting.push_back(handle);
	}
	bool take(std::coroutine_handle<> *handle)
	{
		std::lock_guard<std::mutex> guard(mutex);

		if (waiting.empty())
			return false;
		*handle = waiting.front();
		waiting.pop_front();
		taken++;
		return true;
	}
	__attribute__((noinline)) void work()
	{
		std::coroutine_handle<> handle;

		while (take(&handle))
			handle.resume();
	}
};

struct careless : queue {
	__attribute__((noinline)) void toil()
	{
		std::coroutine_handle<> handle;

		while (take(&handle)) {
			mutex.lock();
			long before = taken;
			mutex.unlock();
			STAGE(4);
			STAGE(7);
			mutex.lock();
			taken = before + 1;
			mutex.unlock();
			handle();
		}
	}
	__attribute__((noinline)) void reset()
	{
		std::lock_guard<std::mutex> guard(mutex);

		taken = 0;
	}
};

/* Goes to the end of the queue. */
struct again {
	queue *of;

	bool await_ready()
	{
		return false;
	}
	void await_suspend(std::coroutine_handle<> handle)
	{
		of->post(handle);
	}
	void await_resume()
	{
	}
};

static queue right;
static careless wrong;

static task twice(queue *of)
{
	STAGE(0);
	STAGE(3);
	co_await again{of};
	use(2);
}

static task once()
{
	use(1);
	co_return;
}

static void *one(void *unused)
{
	right.work();
	wrong.toil();
	return unused;
}

static void *other(void *unused)
{
	std::coroutine_handle<> handle;

	STAGE(1);
	if (right.take(&handle))
		handle.resume();
	STAGE(2);
	STAGE(5);
	wrong.reset();
	STAGE(6);
	return unused;
}

int main()
{
	void *(*functions[])(void *) = {one, other};

	right.post(twice(&right).handle);
	right.post(once().handle);
	wrong.post(once().handle);
	together(2, functions);
	return right.taken != 3 || wrong.taken != 2;
}
