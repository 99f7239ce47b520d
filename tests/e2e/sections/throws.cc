// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A section that an exception leaves, and one that goes on in its handler.
#include "modes.h"

#define NOINLINE __attribute__((noinline))

long x, y;

NOINLINE void write_x()
{
	x = 77;
}

NOINLINE void thrower(bool away)
{
	if (away) {
		y = x; // @throw1
		throw 1;
	}
	x = y + 1; // @throw2
}

static void thrown()
{
	try {
		thrower(true);
	} catch (int) {
		let(write_x);
	}
	thrower(false);
}

NOINLINE void fail()
{
	throw 2;
}

NOINLINE void caught()
{
	long got = x; // @catch1

	try {
		fail();
	} catch (int) {
		let(write_x);
	}
	x = got + 1; // @catch2
}

static const struct mode modes[] = {{"thrown", thrown}, {"caught", caught}, {nullptr, nullptr}};

int main(int argc, char **argv)
{
	return argc == 2 ? run_mode(modes, argv[1]) : 2;
}
