// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The same of C++: base classes, templates, namespaces, static members, variables that many units may define.
// See run.py.
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <thread>

struct head {
	long stamp;
	int kind;
};
struct body {
	virtual ~body() = default;
	int size = 1;
};
struct whole : head, body {
	int tail[2];
	head extra;
	void touch(int i)
	{
		stamp++;
		kind += i;
		size += i;
		tail[i]++;
		extra.kind += 2;
	}
};
template <class T> struct pool {
	T *first;
	long count;
	static std::mutex lock;
	static long total;
	void add(T *one)
	{
		std::lock_guard<std::mutex> guard(lock);
		first = one;
		count++;
		total++;
	}
};
template <class T> std::mutex pool<T>::lock;
template <class T> long pool<T>::total;

class counter
{
	long value = 0;

      public:
	__attribute__((noinline)) long get() const
	{
		return value;
	}
	__attribute__((noinline)) void set(long n)
	{
		value = n;
	}
	__attribute__((noinline)) void add(long n)
	{
		value += n;
	}
};

inline int shared_count;
namespace bank
{
std::atomic<long> balance;
static whole places[3];
counter account;
} // namespace bank
static pool<whole> pools[2];

inline int next_number()
{
	static int number;

	std::printf("variable number %p %zu - %zu -\n", (void *)&number, sizeof number, sizeof number);
	return ++number;
}

static void work(whole *one, int i)
{
	static std::mutex local;
	std::lock_guard<std::mutex> guard(local);

	one->touch(i);
	pools[i].add(one);
	shared_count++;
	bank::balance++;
	bank::account.add(bank::account.get());
	bank::account.set(bank::account.get() + i);
	std::printf("variable local %p %zu std::mutex %zu lock,static\n", (void *)&local, sizeof local,
		    sizeof local);
}

#define MEMBER(text, type, name, path) \
	std::printf("member %s %s %zu %zu\n", text, name, offsetof(type, path), sizeof(type))
#define VARIABLE(name, text, type, element, flags)                                            \
	std::printf("variable %s %p %zu %s %zu %s\n", text, (void *)&name, sizeof name, type, \
		    sizeof(element), flags)

int main()
{
	whole *heap = new whole[2];
	std::thread thread([=] { work(&heap[1], 1); });

	thread.join();
	work(&bank::places[next_number()], 0);
	MEMBER("head", head, "stamp", stamp);
	MEMBER("head", head, "kind", kind);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winvalid-offsetof"
	MEMBER("body", body, "size", size);
	MEMBER("whole", whole, "tail[]", tail[0]);
	MEMBER("whole", whole, "extra.kind", extra.kind);
#pragma clang diagnostic pop
	MEMBER("pool<whole>", pool<whole>, "first", first);
	MEMBER("pool<whole>", pool<whole>, "count", count);
	VARIABLE(shared_count, "shared_count", "-", shared_count, "-");
	VARIABLE(bank::balance, "balance", "std::atomic<long>", bank::balance, "atomic");
	VARIABLE(bank::places, "places", "whole", bank::places[0], "array,static");
	VARIABLE(bank::account, "account", "counter", bank::account, "-");
	VARIABLE(pools, "pools", "pool<whole>", pools[0], "array,static");
	VARIABLE(pool<whole>::lock, "lock", "std::mutex", pool<whole>::lock, "lock");
	VARIABLE(pool<whole>::total, "total", "-", pool<whole>::total, "-");
	std::puts("accessor get");
	std::puts("accessor set");
	std::puts("other add");
	std::puts("locked local");
	std::puts("locked lock");
	delete[] heap;
}
