/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that is owned by a local, and its twins that somebody else can reach.
 * compiled.py looks for the lines in the trace: "seen" must be there, "written" as
 * a write, "private" must not.
 */
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

static std::mutex lock;
static volatile long sum;

struct line {
	uint32_t article;
	int32_t pieces;
};

struct order {
	uint64_t number = 0;
	std::vector<line> lines;

	long total() const
	{
		long all = 0;

		for (const line &one : lines)
			all += one.pieces; /* private */
		return all;
	}
};

struct batch {
	long id = 0;
	order first;
};

/* ---- one's own ---- */

NOINLINE static void own_vector(uint32_t n)
{
	std::vector<line> lines;
	long all = 0;

	lines.reserve(n);
	for (uint32_t i = 0; i < n; i++)
		lines.push_back({i * 7919 % 101, static_cast<int32_t>(i)});
	for (uint32_t i = 0; i < n; i++)
		lines[i].pieces += static_cast<int32_t>(i * n); /* private */
	for (const line &one : lines)
		all += one.pieces * static_cast<long>(one.article); /* private */
	sum = sum + all;
}

NOINLINE static void own_sorted(uint32_t n)
{
	std::vector<line> lines;
	long all = 0;

	for (uint32_t i = 0; i < n; i++)
		lines.push_back({i * 7919 % 101, static_cast<int32_t>(i)});
	std::sort(lines.begin(), lines.end(), [](const line &a, const line &b) {
		return a.article < b.article; /* private */
	});
	for (size_t i = 0; i < lines.size(); i++)
		all += static_cast<long>(i) * lines[i].article; /* private */
	sum = sum + all;
}

NOINLINE static void own_in_structs(uint32_t n)
{
	batch work;

	work.id = n;
	work.first.number = n * 3u;
	for (uint32_t i = 0; i < n; i++)
		work.first.lines.push_back({i, static_cast<int32_t>(i)});
	for (line &one : work.first.lines)
		one.pieces *= static_cast<int32_t>(n);                  /* private */
	sum = sum + work.first.total() + work.id;                       /* seen: own_in_structs */
	sum = sum + static_cast<long>(work.first.lines[n / 2].article); /* seen: own_in_structs */
}

NOINLINE static void own_pointer(long n)
{
	std::unique_ptr<long[]> numbers(new long[32]());

	for (long i = 0; i < 32; i++)
		numbers[static_cast<size_t>(i * n) % 32] += i; /* private */
	sum = sum + numbers[static_cast<size_t>(n) % 32];
}

NOINLINE static void own_vectors(uint32_t n)
{
	std::vector<std::vector<int>> rows;
	long all = 0;

	for (uint32_t i = 0; i < n; i++)
		rows.emplace_back(n, static_cast<int>(i));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			all += rows[i][k]; /* private */
	sum = sum + all;
}

/* One of them moves from local to local. */
NOINLINE static void own_moved(uint32_t n)
{
	std::vector<line> from, to;
	long all = 0;

	for (uint32_t i = 0; i < n; i++)
		from.push_back({i, static_cast<int32_t>(i)});
	to = std::move(from);
	for (const line &one : to)
		all += one.pieces; /* private */
	sum = sum + all;
}

/* ---- handed on ---- */

/* Others look at what was published, and what they see must have been written. */
#define LOOK() __asm__ volatile("" : : : "memory")

std::vector<line> shared(64);
std::vector<line> *published;
line *published_line;
uintptr_t published_number;
long *published_numbers;
unsigned char published_bytes[sizeof(void *)];
std::atomic<line *> published_atomic;

NOINLINE static void fill(std::vector<line> &lines, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		lines.push_back({i, static_cast<int32_t>(i)});
}

NOINLINE static void elements_in_a_global(uint32_t n)
{
	std::vector<line> lines(n);

	published_line = lines.data();
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: elements_in_a_global */
	LOOK();
	published_line = nullptr;
}

NOINLINE static void itself_in_a_global(uint32_t n)
{
	std::vector<line> lines(n);

	published = &lines;
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: itself_in_a_global */
	LOOK();
	published = nullptr;
}

/* Pointers in another local, which is published. */
struct holder {
	line *first;
	std::vector<line> *all;
};
holder *published_holder;

NOINLINE static void by_another_local(uint32_t n)
{
	std::vector<line> lines(n);
	holder both = {lines.data(), nullptr};

	published_holder = &both;
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: by_another_local */
	LOOK();
	published_holder = nullptr;
}

NOINLINE static void itself_by_another_local(uint32_t n)
{
	std::vector<line> lines(n);
	holder both = {nullptr, &lines};

	published_holder = &both;
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: itself_by_another_local */
	LOOK();
	published_holder = nullptr;
}

NOINLINE static void as_a_number(uint32_t n)
{
	std::vector<line> lines(n);

	published_number = reinterpret_cast<uintptr_t>(lines.data());
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: as_a_number */
	LOOK();
	published_number = 0;
}

/* The distance from null is the address. */
NOINLINE static void as_a_distance(uint32_t n)
{
	std::vector<line> lines, none;

	fill(lines, n);
	published_number =
		reinterpret_cast<uintptr_t>(lines.data()) - reinterpret_cast<uintptr_t>(none.data());
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: as_a_distance */
	LOOK();
	published_number = 0;
}

NOINLINE static void by_memcpy(uint32_t n)
{
	std::vector<line> lines(n);
	line *first = lines.data();

	memcpy(published_bytes, &first, sizeof first);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: by_memcpy */
	LOOK();
	memset(published_bytes, 0, sizeof published_bytes);
}

/* Byte by byte out of the vector itself. */
NOINLINE static void by_bytes(uint32_t n)
{
	std::vector<line> lines;
	volatile unsigned char *to = published_bytes;

	fill(lines, n);
	for (size_t i = 0; i < sizeof(void *); i++)
		to[i] = reinterpret_cast<unsigned char *>(&lines)[i]; /* seen: by_bytes */
	lines[n / 2].pieces = static_cast<int32_t>(n);                /* written: by_bytes */
	LOOK();
	memset(published_bytes, 0, sizeof published_bytes);
}

/* The whole struct, which is several words at once. */
char published_struct[sizeof(order)];

NOINLINE static void by_copying_all(uint32_t n)
{
	order work;

	fill(work.lines, n);
	memcpy(published_struct, static_cast<void *>(&work), sizeof work); /* seen: by_copying_all */
	work.lines[n / 2].pieces = static_cast<int32_t>(n);                /* written: by_copying_all */
	LOOK();
	memset(published_struct, 0, sizeof published_struct);
}

typedef uint64_t two_words __attribute__((vector_size(16)));
two_words published_two;

NOINLINE static void by_a_vector(uint32_t n)
{
	std::vector<line> lines;

	fill(lines, n);
	memcpy(&published_two, static_cast<void *>(&lines), sizeof published_two); /* seen: by_a_vector */
	lines[n / 2].pieces = static_cast<int32_t>(n);                             /* written: by_a_vector */
	LOOK();
	published_two = published_two ^ published_two;
}

NOINLINE static void by_an_atomic(uint32_t n)
{
	std::vector<line> lines(n);

	published_atomic.store(lines.data());
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: by_an_atomic */
	LOOK();
	published_atomic.exchange(nullptr);
}

NOINLINE static void moved_out(uint32_t n)
{
	std::vector<line> lines;

	fill(lines, n);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: moved_out */
	shared = std::move(lines);
}

NOINLINE static void swapped(uint32_t n)
{
	std::vector<line> lines;

	fill(lines, n);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: swapped */
	shared.swap(lines);
	LOOK();
	lines[n / 3].pieces = static_cast<int32_t>(n); /* written: swapped */
	LOOK();
}

NOINLINE static void moved_in(uint32_t n)
{
	std::vector<line> lines = std::move(shared);

	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: moved_in */
	for (line &one : lines)
		one.article += n; /* written: moved_in */
	shared.assign(64, {1, 2});
}

/* It is one's own or another's. */
NOINLINE static void one_or_the_other(uint32_t n)
{
	std::vector<line> lines(n);
	std::vector<line> &either = n & 1 ? lines : shared;

	either[n / 2].pieces = static_cast<int32_t>(n); /* written: one_or_the_other */
	fill(either, 3);
	either[n / 3].pieces += static_cast<int32_t>(n); /* written: one_or_the_other */
}

struct cursor {
	line *at;
	std::vector<line> own;
};

NOINLINE static void own_then_foreign(uint32_t n)
{
	cursor here = {nullptr, std::vector<line>(n)};

	here.at = here.own.data();
	for (uint32_t i = 0; i < n; i++) {
		here.at[n / 2].pieces += static_cast<int32_t>(i); /* written: own_then_foreign */
		here.at = i & 1 ? here.own.data() : shared.data();
	}
}

/* Foreign pointers that come as numbers, in pieces, or out of a function. */
NOINLINE static void foreign_as_a_number(uint32_t n, const volatile uintptr_t *number)
{
	struct {
		line *at;
		line own[4];
	} here = {here.own, {}};
	uintptr_t read = *number;

	if (n & 1)
		memcpy(&here.at, &read, sizeof read);
	__asm__ volatile("" : "+r"(n));
	here.at[n & 3].pieces = static_cast<int32_t>(n); /* written: foreign_as_a_number */
}

NOINLINE static void foreign_in_pieces(uint32_t n, const volatile unsigned char *pieces)
{
	std::unique_ptr<line *[]> pointers(new line *[2]());
	std::unique_ptr<line[]> own(new line[64]());

	pointers[0] = own.get();
	if (n & 1)
		for (size_t i = 0; i < sizeof(line *); i++)
			reinterpret_cast<volatile unsigned char *>(pointers.get())[i] = pieces[i];
	pointers[0][n & 3].pieces = static_cast<int32_t>(n); /* written: foreign_in_pieces */
}

NOINLINE static void set_foreign(line **at)
{
	*at = shared.data();
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void foreign_from_a_function(uint32_t n)
{
	line own[4] = {}, *at = own;

	if (n & 1)
		set_foreign(&at);
	at[n & 3].pieces = static_cast<int32_t>(n); /* written: foreign_from_a_function */
}

/* ---- functions that are given it ---- */

NOINLINE static void keep(std::vector<line> &lines)
{
	published = &lines;
}

NOINLINE static void keep_elements(const std::vector<line> &lines)
{
	published_line = const_cast<line *>(lines.data());
}

NOINLINE static void keep_deep(const std::vector<line> &lines, int depth)
{
	if (depth)
		keep_deep(lines, depth - 1);
	else
		keep_elements(lines);
	__asm__ volatile("" : : : "memory");
}

NOINLINE static void given(uint32_t n)
{
	std::vector<line> lines(n);

	keep(lines);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: given */
	LOOK();
	published = nullptr;
}

NOINLINE static void elements_given(uint32_t n)
{
	std::vector<line> lines(n);

	keep_elements(lines);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: elements_given */
	LOOK();
	published_line = nullptr;
}

NOINLINE static void given_deep(uint32_t n)
{
	std::vector<line> lines(n);

	keep_deep(lines, 3);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: given_deep */
	LOOK();
	published_line = nullptr;
}

static void (*volatile way)(const std::vector<line> &) = keep_elements;

NOINLINE static void given_by_pointer(uint32_t n)
{
	std::vector<line> lines(n);

	way(lines);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: given_by_pointer */
	LOOK();
	published_line = nullptr;
}

NOINLINE static std::vector<line> returned(uint32_t n)
{
	std::vector<line> lines;

	fill(lines, n);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: returned */
	return lines;
}

NOINLINE static std::unique_ptr<long[]> returned_pointer(long n)
{
	std::unique_ptr<long[]> numbers(new long[32]());

	for (long i = 0; i < 32; i++)
		numbers[static_cast<size_t>(i * n) % 32] += i; /* written: returned_pointer */
	return numbers;
}

NOINLINE static void released(long n)
{
	std::unique_ptr<long[]> numbers(new long[32]());

	for (long i = 0; i < 32; i++)
		numbers[static_cast<size_t>(i * n) % 32] += i; /* written: released */
	published_numbers = numbers.release();
}

NOINLINE static void thrown(uint32_t n)
{
	std::unique_ptr<line[]> lines(new line[8]());

	lines[n & 7].pieces = static_cast<int32_t>(n); /* written: thrown */
	throw lines.release();
}

NOINLINE static void to_assembly(uint32_t n)
{
	std::vector<line> lines(n);

	__asm__ volatile("" : : "r"(&lines) : "memory");
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: to_assembly */
	LOOK();
}

/* Both ways out of setjmp. */
static jmp_buf back;

NOINLINE static void jumped(uint32_t n)
{
	std::unique_ptr<line[]> lines(new line[8]());

	if (setjmp(back)) {
		lines[n & 7].pieces++; /* written: jumped */
		LOOK();
		published_line = nullptr;
		return;
	}
	published_line = lines.get();
	lines[n & 7].pieces = 3; /* written: jumped */
	LOOK();
	longjmp(back, 1);
}

/* ---- threads ---- */

static void *start(void *p)
{
	(*static_cast<std::vector<line> *>(p))[1].pieces++; /* written: start */
	return nullptr;
}

static void *start_inside(void *p)
{
	static_cast<line *>(p)->pieces++; /* written: start_inside */
	return nullptr;
}

NOINLINE static void to_a_thread(uint32_t n)
{
	std::vector<line> lines(n);
	pthread_t thread;

	pthread_create(&thread, nullptr, start, &lines);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: to_a_thread */
	pthread_join(thread, nullptr);
}

NOINLINE static void inside_to_a_thread(uint32_t n)
{
	std::vector<line> lines(n);
	pthread_t thread;

	pthread_create(&thread, nullptr, start_inside, &lines[1]);
	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: inside_to_a_thread */
	pthread_join(thread, nullptr);
}

NOINLINE static void captured(uint32_t n)
{
	std::vector<line> lines(n);
	std::thread thread([&lines] {
		lines[0].pieces++; /* written: captured */
	});

	lines[n / 2].pieces = static_cast<int32_t>(n); /* written: captured */
	thread.join();
}

/* The pointer walks, and what it comes to is not always one's own. */
NOINLINE static void walks_away(uint32_t n)
{
	std::vector<line> lines(n);
	line *at = lines.data();

	for (uint32_t i = 0; i < n; i++) {
		at->pieces += static_cast<int32_t>(i); /* written: walks_away */
		at = i == n / 2 ? shared.data() : at + 1;
	}
}

int main()
{
	std::lock_guard<std::mutex> hold(lock);
	line *first = shared.data();
	uintptr_t number = reinterpret_cast<uintptr_t>(first);

	for (uint32_t n = 20; n < 24; n++) {
		own_vector(n);
		own_sorted(n * 3);
		own_in_structs(n);
		own_pointer(n);
		own_vectors(n);
		own_moved(n);
		elements_in_a_global(n);
		itself_in_a_global(n);
		by_another_local(n);
		itself_by_another_local(n);
		as_a_number(n);
		as_a_distance(n);
		by_memcpy(n);
		by_bytes(n);
		by_copying_all(n);
		by_a_vector(n);
		by_an_atomic(n);
		moved_out(n);
		shared.resize(64);
		swapped(n);
		shared.resize(64);
		moved_in(n);
		one_or_the_other(n);
		own_then_foreign(n);
		first = shared.data();
		number = reinterpret_cast<uintptr_t>(first);
		foreign_as_a_number(n, &number);
		foreign_in_pieces(n, reinterpret_cast<unsigned char *>(&first));
		foreign_from_a_function(n);
		given(n);
		elements_given(n);
		given_deep(n);
		given_by_pointer(n);
		sum = sum + returned(n)[1].pieces + returned_pointer(n)[2];
		released(n);
		delete[] published_numbers;
		try {
			thrown(n);
		} catch (line *lines) {
			delete[] lines;
		}
		to_assembly(n);
		jumped(n);
		to_a_thread(n);
		inside_to_a_thread(n);
		captured(n);
		walks_away(n);
	}
	std::printf("%ld\n", static_cast<long>(sum));
	return 0;
}
