// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions through marked functions, virtual calls, members of every kind.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Shape {
	virtual ~Shape() = default;
	virtual int area() const = 0;
	int tag = 1;
};
struct Square : Shape {
	explicit Square(int side) : side(side)
	{
	}
	int area() const override
	{
		return side * side + tag;
	}
	int side;
};
struct Both : virtual Shape, std::string {
	int area() const override
	{
		return static_cast<int>(size());
	}
	int (Both::*pointer)() const = &Both::area;
};

int cleanups;
struct Cleanup {
	~Cleanup()
	{
		cleanups++;
	}
};

__attribute__((noinline)) int thrower(int depth)
{
	Cleanup cleanup;

	if (!depth)
		throw std::runtime_error("bottom");
	return thrower(depth - 1) + cleanups;
}

__attribute__((noinline)) int catcher(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::exception &e) {
		return static_cast<int>(std::string(e.what()).size());
	}
}

thread_local std::string mine = "unset";

} // namespace

int main()
{
	std::vector<std::unique_ptr<Shape>> shapes;
	std::string seen;
	Both both;
	int sum = 0;

	shapes.push_back(std::make_unique<Square>(3));
	shapes.push_back(std::make_unique<Square>(4));
	for (auto &shape : shapes)
		sum += shape->area();
	both.assign("seven__");
	sum += (both.*both.pointer)();
	std::printf("areas %d\n", sum);
	std::printf("exceptions %d %d\n", catcher(4), cleanups);
	std::thread([&] {
		mine = "thread";
		try {
			catcher(2);
			throw 5;
		} catch (int n) {
			seen = mine + std::to_string(n);
		}
	}).join();
	std::printf("threads %s %s %d\n", mine.c_str(), seen.c_str(), cleanups);
	return 0;
}
