// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As bare.c, with the guards of C++.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

static struct shared {
	long value;
} shared;
static std::mutex outer, inner;
static std::shared_mutex many;
static std::map<long, std::string> table;
static long count;

extern "C" {
void unknown();

void guard()
{
	std::lock_guard<std::mutex> hold(outer);

	count++;
} /* bare 1 of 1 */

long reader()
{
	std::shared_lock<std::shared_mutex> hold(many);

	return count;
} /* bare 1 of 1 */

void writer()
{
	std::unique_lock<std::shared_mutex> hold(many);

	count++;
} /* bare 1 of 1 */

void throws(long key)
{
	std::lock_guard<std::mutex> hold(outer);

	table[key] = "some text that is too long to be kept in place";
	if (key < 0)
		throw key;
} /* bare 1 of 1 */

void calls_unknown()
{
	std::lock_guard<std::mutex> hold(inner);

	unknown();
} /* bare 0 of 1 */

__attribute__((noinline)) long get()
{
	std::lock_guard<std::mutex> hold(outer);

	return shared.value; /* entry */
} /* bare 0 of 1 */

__attribute__((noinline)) void set(long value)
{
	std::lock_guard<std::mutex> hold(outer);

	shared.value = value; /* end */
} /* bare 0 of 1 */

void add()
{
	set(get() + 1);
}
}
