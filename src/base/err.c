/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int err_set(struct err *err, const char *format, ...)
{
	va_list args;

	if (!err)
		return -1;
	va_start(args, format);
	vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);
	return -1;
}

void err_bug(const char *file, int line, const char *what)
{
	fprintf(stderr, "atomsan: internal error at %s:%d: %s\n", file, line, what);
	abort();
}

static void *checked(void *block, unsigned long size)
{
	if (!block && size) {
		fprintf(stderr, "atomsan: out of memory (%lu bytes)\n", size);
		exit(1);
	}
	return block;
}

void *mem_alloc(unsigned long size)
{
	return checked(malloc(size), size);
}

void *mem_zalloc(unsigned long count, unsigned long size)
{
	return checked(calloc(count, size), count && size);
}

void *mem_resize(void *block, unsigned long count, unsigned long size)
{
	return checked(reallocarray(block, count, size), count && size);
}

char *mem_text(const char *text)
{
	return checked(strdup(text), 1);
}

char *mem_textf(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return checked(text, 1);
}
