# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# C++ with exceptions, templates, threads and the standard library, in C++17 and later.
. "$(dirname "$0")/lib.sh"
cat >a.cpp <<'END'
#include <atomsan/atomsan.h>
#include <cstdlib>
#include <cmath>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#ifndef __ATOMSAN__
#error the macro is missing
#endif
static std::mutex lock;
static std::map<std::string, int> words;
template <typename T> static void add(T word)
{
	std::lock_guard<std::mutex> guard(lock);
	if (++words[word] > 2)
		throw std::runtime_error("three");
}
int main()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 2; i++)
		threads.emplace_back([] { add("one"); });
	for (auto &t : threads)
		t.join();
	try {
		add(std::string("one"));
	} catch (const std::exception &e) {
		std::cout << e.what() << ' ' << std::abs(-1.0) << '\n';
	}
}
END
for standard in 17 20 23; do
	for level in 0 2; do
		"$ACXX" -std=c++$standard -O$level -Wall -Wextra -Werror a.cpp -o prog || fail "cannot compile C++$standard"
		watched ./prog
		same "output" 'three 1' "$(cat output)"
	done
done
"$ATOMSAN" c++ -static-libgcc -static-libstdc++ a.cpp -o prog || fail "cannot link libstdc++ statically"
watched ./prog
same "output" 'three 1' "$(cat output)"
