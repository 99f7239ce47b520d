/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions left by an exception and by longjmp: what happens next belongs to
 * the function that caught it, not to those that are gone. The C++ library's have
 * no frames; where they catch an exception it belongs to who called them.
 */
#include "seen.h"

#include <csetjmp>
#include <ostream>
#include <pthread.h>
#include <streambuf>

static pthread_mutex_t thrown = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t caught = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t after = PTHREAD_MUTEX_INITIALIZER;
static std::jmp_buf back;

#define APART __attribute__((noinline))

APART void use(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
}

APART void throw_deep(int depth)
{
	if (depth)
		throw_deep(depth - 1);
	pthread_mutex_lock(&thrown);
	throw 1;
}

APART void catcher()
{
	try {
		throw_deep(3);
	} catch (int) {
		pthread_mutex_lock(&caught);
	}
	pthread_mutex_unlock(&caught);
	pthread_mutex_unlock(&thrown);
}

/* Where a stream is written to the library catches all, and goes on. */
class Buffer : public std::basic_streambuf<char16_t>
{
      protected:
	std::streamsize xsputn(const char16_t *, std::streamsize) override
	{
		throw_deep(3);
		return 0;
	}
};

APART void writer()
{
	Buffer buffer;
	std::basic_ostream<char16_t> out(&buffer);

	out.write(u"x", 1);
	pthread_mutex_lock(&caught);
	pthread_mutex_unlock(&caught);
	pthread_mutex_unlock(&thrown);
}

APART void jump_deep(int depth)
{
	if (depth)
		jump_deep(depth - 1);
	pthread_mutex_lock(&thrown);
	std::longjmp(back, 1);
}

APART void jumper()
{
	if (setjmp(back) == 0)
		jump_deep(3);
	pthread_mutex_lock(&caught);
	pthread_mutex_unlock(&caught);
	pthread_mutex_unlock(&thrown);
}

int main()
{
	NAME(thrown);
	NAME(caught);
	NAME(after);
	catcher();
	use(&after);
	jumper();
	use(&after);
	writer();
	use(&after);
	return 0;
}
