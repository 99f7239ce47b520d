/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Errors as whole sentences. Library code fills a struct err (what happened,
 * where, what to do) and returns -1 or NULL; only src/cli prints it and exits.
 */
#ifndef ATOMSAN_BASE_ERR_H
#define ATOMSAN_BASE_ERR_H

struct err {
	char text[512];
};

/* Fills err (which may be NULL) and returns -1, so that `return err_set(...)` reads well. */
int err_set(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For what can only be a mistake of ours. Stays on in release builds. */
#define BUG_ON(condition)                                        \
	do {                                                     \
		if (__builtin_expect(!!(condition), 0))          \
			err_bug(__FILE__, __LINE__, #condition); \
	} while (0)
__attribute__((noreturn)) void err_bug(const char *file, int line, const char *what);

/* malloc family that never returns NULL: out of memory ends the tool with a sentence. */
void *mem_alloc(unsigned long size);
void *mem_zalloc(unsigned long count, unsigned long size);
void *mem_resize(void *block, unsigned long count, unsigned long size);
char *mem_text(const char *text);
char *mem_textf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
