// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects with an atomic count of their users: who finds one in use joins in, in two steps, and the last one
// of the others may have gone in between. The accesses are in the C++ library's own functions.
#include <atomic>
#include <cstdio>
#include <thread>

namespace
{
struct Object {
	std::atomic<int> users{1};
	std::atomic<int> dead{0};
};
Object objects[64];
std::atomic<int> bad;

__attribute__((noinline)) bool acquire(Object *o)
{
	if (o->users.load() > 0) {
		o->users.fetch_add(1);
		return true;
	}
	return false;
}

void release(Object *o)
{
	if (o->users.fetch_sub(1) == 1)
		o->dead = 1;
}
} // namespace

int main()
{
	std::thread uses([] {
		for (auto &o : objects)
			if (acquire(&o)) {
				if (o.dead)
					bad++;
				release(&o);
			}
	});
	std::thread leaves([] {
		for (auto &o : objects)
			release(&o);
	});

	uses.join();
	leaves.join();
	std::printf("%s\n", bad ? "bad" : "fine");
	return bad != 0;
}
