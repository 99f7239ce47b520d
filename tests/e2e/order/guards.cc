// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static locals that several threads come to at once, for guards.py.
#include <pthread.h>
#include <sched.h>
#include <utility>

enum { THREADS = 4, GUARDS = 400 };

static pthread_barrier_t begin;

struct slow {
	slow()
	{
		sched_yield();
	}
};

template <int N> static void visit()
{
	static slow instance;

	(void)instance;
}

template <int... N> static void visit_all(std::integer_sequence<int, N...>)
{
	// Together every now and then: they drift apart.
	((N % 8 || pthread_barrier_wait(&begin), visit<N>()), ...);
}

static void *work(void *)
{
	visit_all(std::make_integer_sequence<int, GUARDS>());
	return nullptr;
}

int main()
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&begin, nullptr, THREADS);
	for (auto &thread : threads)
		pthread_create(&thread, nullptr, work, nullptr);
	for (auto &thread : threads)
		pthread_join(thread, nullptr);
}
