/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The file under a recording, for record.c, which begins and ends recordings,
 * and window.c, whose windows are written to it.
 */
#ifndef ATOMSAN_RT_FILE_H
#define ATOMSAN_RT_FILE_H

#include "rt/rt.h"

#pragma GCC visibility push(hidden)

enum { FILE_PATH = 1024 };

/* The trace's name, for messages. */
extern char file_path[FILE_PATH];
/* There is no file: events are written and forgotten. */
extern bool file_nowhere;

/* The descriptor is the trace from here on. Its header, mapped and zero; NULL, and the descriptor is closed.
 */
struct trace_header *file_begin(int fd);
void file_end(struct trace_header *header);

/* Give up recording, and say why. */
void file_stop(const char *why);

/* Take `length` bytes at the end of the file, on disk or, where they are written at once, in name only. 0:
 * recording has stopped. */
uint64_t file_reserve(uint64_t length);
uint64_t file_take(uint64_t length);
/* False: recording has stopped. */
bool file_write(const void *bytes, uint64_t length, uint64_t offset);
bool file_write_block(const struct trace_block *header, const void *payload, uint64_t length,
		      uint64_t offset);
/* In the place of what is mapped there. */
bool file_map(void *at, uint64_t length, uint64_t offset);

/* In a forked child: the windows are the parent's (window.c). */
void window_leave_all(void);

#pragma GCC visibility pop

#endif
