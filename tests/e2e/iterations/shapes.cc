// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops that exceptions leave, and loops as C++ writes them; run.py says what the comments mean.
#include <cstdio>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex lock;
long seen;

__attribute__((noinline)) void step()
{
	std::lock_guard<std::mutex> guard(lock);
	seen++; //@ ... step
}

__attribute__((noinline)) void fail_at(int i, int n)
{
	for (int k = 0; k < 2; k++) { // # a
		step();
		seen++; //@ ... fail_at a *
		if (i == n && k)
			throw std::runtime_error("on purpose");
	}
}

void caught_inside(int n)
{
	for (int i = 0; i < n; i++) { // # b walk
		try {
			seen++; //@ main caught_inside b *
			fail_at(i, 1);
			seen++; //@ main caught_inside b *
		} catch (const std::exception &) {
			seen++; //@ main caught_inside b
		}
		seen++; //@ main caught_inside b *
	}
	seen++; //@ main caught_inside
}

void caught_outside(int n)
{
	try {
		for (int i = 0; i < n; i++) {         // # c walk
			for (int k = 0; k < 2; k++) { // # d
				fail_at(i, 1);
				seen++; //@ main caught_outside c d *
			}
		}
	} catch (const std::exception &) {
		seen++; //@ main caught_outside
	}
	seen++; //@ main caught_outside
}

struct noisy {
	~noisy()
	{
		step();
		seen++; //@ ... ~noisy
	}
};

__attribute__((noinline)) void passes(int n)
{
	for (int i = 0; i < n; i++) { // # e walk
		noisy object;
		fail_at(i, 1);
		seen++; //@ main caught_by_caller passes e *
	}
}

void caught_by_caller()
{
	try {
		passes(3);
	} catch (const std::exception &) {
		seen++; //@ main caught_by_caller
	}
	seen++; //@ main caught_by_caller
}

long scoped(const std::vector<long> &list, long wanted)
{
	for (const long &one : list) { // # f walk
		std::lock_guard<std::mutex> guard(lock);
		if (one == wanted) {
			seen++; //@ main scoped f
			return one;
		}
		seen += one; //@ main scoped f *
	}
	return 0;
}

void iterators(std::vector<long> &list)
{
	for (std::vector<long>::iterator at = list.begin(); at != list.end(); ++at) { // # g walk
		step();
		*at += 1;
		seen++; //@ main iterators g *
	}
	seen++; //@ main iterators
}

void quiet(const std::vector<long> &list)
{
	std::vector<long> copy;

	for (long one : list) {
		copy.push_back(one);
		seen++; //@ main quiet
	}
}

/* A static function that gets memory or gives it back is its caller's, */
static long *renewed(long *old)
{
	seen++; //@ main renews
	delete old;
	return new long(seen);
}

static long *several(std::size_t count)
{
	seen++; //@ main renews
	return new (std::nothrow) long[count];
}

void renews()
{
	long *many = several(3);

	delete renewed(renewed(nullptr));
	seen++; //@ main renews
	delete[] many;
}

/* but not where a thread begins with who calls it. */
static void started(long **place)
{
	seen++; //@ operator() started
	delete *place;
	*place = new long(1);
}

static void noted(long *place)
{
	seen++; //@ operator() noted
	*place = seen;
}

static void starts()
{
	static long *place;

	std::thread([] {
		started(&place);
		noted(place);
	}).join();
	delete place;
}

int main()
{
	std::vector<long> list = {1, 2, 3};
	auto lambda = [](int n) {
		while (n--) { // # h
			step();
			seen++; //@ main operator() h *
		}
	};

	caught_inside(3);
	caught_outside(3);
	caught_by_caller();
	seen += scoped(list, 3);
	iterators(list);
	quiet(list);
	lambda(2);
	renews();
	starts();
	for (int once = 1; once; once--) { // # i
		seen++;                    //@ main i *
		std::puts("even");
	}
	seen++; //@ main
}
