/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * For the files that stand in for libc functions which read or write the
 * program's memory. In instrumented code the pass calls __atomsan_libc_NAME
 * instead of NAME (watched.inc lists them); each calls the real function and
 * records the bytes that it had to look at or changed. Result, errno and
 * cancellation are the real function's.
 *
 * What is read is recorded before a call that may let other threads go on
 * (writing to a pipe), what is written after a call that may wait for them.
 */
#ifndef ATOMSAN_RT_LIBC_H
#define ATOMSAN_RT_LIBC_H

#include "rt/watch.h"

#include <string.h>

#define WRAPPER(result, name, parameters)               \
	EXPORT result __atomsan_libc_##name parameters; \
	EXPORT result __atomsan_libc_##name parameters

/* What tells, before a call, what it will do. */
#define NOTE(name, parameters)                        \
	EXPORT void __atomsan_libc_##name parameters; \
	EXPORT void __atomsan_libc_##name parameters

static inline void reads(const void *p, size_t length, const struct atomsan_site *site)
{
	if (length && watch_or_record())
		rt_range(p, length, false, site);
}

static inline void writes(const void *p, size_t length, const struct atomsan_site *site)
{
	if (length && watch_or_record())
		rt_range(p, length, true, site);
}

/* The same of a call that may have let others go on since it wrote: who looks at accesses as they happen
 * comes too late here. */
static inline void wrote(const void *p, size_t length, const struct atomsan_site *site)
{
	if (length && rt_on())
		rt_range_past(p, length, site);
}

static inline void reads_text(const char *text, const struct atomsan_site *site)
{
	if (watch_or_record())
		rt_range(text, strlen(text) + 1, false, site);
}

/* Bytes of a text of which at most `limit` are looked at: the NUL counts if it is reached. */
static inline size_t text_span(const char *text, size_t limit)
{
	size_t length = strnlen(text, limit);

	return length < limit ? length + 1 : limit;
}

#endif
