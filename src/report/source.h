/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lines of source files, for reports that show them. Files are read once and
 * kept until the end. What is no regular file, is larger than 16 MB, is not
 * named like a source or cannot be read has no lines: a report is complete
 * without them.
 */
#ifndef ATOMSAN_REPORT_SOURCE_H
#define ATOMSAN_REPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct source_files;

/* Relative paths are looked for from here and from every folder above, and in `root` if it is not NULL. */
struct source_files *source_files_new(const char *root);
void source_files_free(struct source_files *files);

/* The line (from 1) without its end, or NULL; good as long as the files. */
const char *source_line(struct source_files *files, const char *path, uint32_t line);
/* When the file was written, 0 if it cannot be read. */
time_t source_written(struct source_files *files, const char *path);
/* How many lines the file has, 0 if it cannot be read. */
uint32_t source_line_count(struct source_files *files, const char *path);

#endif
