/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the unit tests share: files that go away, and a small trace that has
 * every kind of event. */
#ifndef ATOMSAN_TESTS_HELPER_H
#define ATOMSAN_TESTS_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/writer.h"

/* A path in a folder that is removed when the test program ends. The text is
 * good until the next call but three. */
const char *helper_path(const char *name);
/* Whole file, with a NUL after it; the caller frees it. */
char *helper_read(const char *path, size_t *size);
void helper_write(const char *path, const void *data, size_t size);

/* Writes the small trace and returns how many events it has. Main (number 7)
 * creates numbers 3 and 5, and 3 creates 9. */
unsigned helper_sample(const char *path);

/* All events of a trace in total order; the caller frees them. */
struct trace_event *helper_events(struct trace *trace, uint64_t *count);
void helper_assert_same(const struct trace_event *a, const struct trace_event *b);

/* A random number that is the same in every run. */
uint64_t helper_random(uint64_t *state);

/* Event that has a stamp of its own choosing, or none (0). */
void helper_access(struct trace_writer *writer, uint32_t thread, uint32_t site, uint64_t address,
		   uint64_t stamp);
void helper_op(struct trace_writer *writer, uint32_t thread, enum trace_op op, uint64_t object,
	       uint64_t value);

#define assert_contains(text, part)                                  \
	do {                                                         \
		if (!strstr(text, part))                             \
			fail_msg("'%s' is not in '%s'", part, text); \
	} while (0)

#endif
