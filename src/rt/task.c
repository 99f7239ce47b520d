/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/task.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <time.h>

/* The third field of its line tells. */
bool rt_task_asleep(int tid)
{
	char path[64] = "/proc/self/task/", line[256], digits[16];
	unsigned n = 16, count = 0;
	long fd, got, i;

	for (; tid; tid /= 10)
		digits[count++] = (char)('0' + tid % 10);
	while (count)
		path[n++] = digits[--count];
	for (const char *s = "/stat"; *s; s++)
		path[n++] = *s;
	path[n] = 0;
	fd = sys3(open, path, O_RDONLY | O_CLOEXEC, 0);
	if (sys_failed(fd))
		return false;
	got = sys3(read, fd, line, sizeof line);
	sys1(close, fd);
	/* The name before it may have anything in it, parentheses too. */
	for (i = got - 1; i > 0 && line[i] != ')'; i--)
		;
	return i > 0 && i + 2 < got && line[i + 2] == 'S';
}

uint64_t rt_task_ran(int tid)
{
	enum { PER_THREAD = 4, SCHEDULED = 2 }; /* of the kernel's numbers for clocks of CPU time */
	struct timespec time = {0, 0};
	int clock = (int)(~(unsigned)tid << 3) | PER_THREAD | SCHEDULED;

	if (sys_failed(sys2(clock_gettime, clock, &time)))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}
