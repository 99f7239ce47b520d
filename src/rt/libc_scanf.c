/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The scanf family: the format, the source of sscanf, and what the conversions
 * wrote, as far as the result says that they were reached. A format with
 * numbered arguments (%1$d) is recorded by itself, without them.
 */
#include "rt/libc.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

int __isoc99_vscanf(const char *format, va_list list);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list list);
int __isoc99_vsscanf(const char *text, const char *format, va_list list);

struct conversion {
	bool suppressed; /* '*': nothing is stored */
	bool allocates;  /* 'm': what is stored is a pointer */
	size_t width;    /* 0: none */
	int longs;       /* l counts up, h down */
	bool wide;       /* j, z, t */
	bool extended;   /* L */
	char letter;
};

/* Behind a '[': up to and including the ']' that ends the set. */
static void skip_set(const char **p)
{
	if (**p == '^')
		++*p;
	if (**p == ']')
		++*p;
	while (**p && **p != ']')
		++*p;
}

/* Reads a conversion behind its '%'; leaves p on its last character. False if
 * the arguments are numbered or the format ends. */
static bool parse(const char **p, struct conversion *c)
{
	*c = (struct conversion){0};
	for (; **p && strchr("*'I", **p); ++*p)
		c->suppressed |= **p == '*';
	for (; **p >= '0' && **p <= '9'; ++*p)
		c->width = c->width < INT_MAX / 10 ? c->width * 10 + (size_t)(**p - '0') : INT_MAX / 10;
	if (**p == '$')
		return false;
	for (; **p && strchr("hlqLjzZtm", **p); ++*p) {
		c->longs += **p == 'l' ? 1 : **p == 'q' ? 2 : **p == 'h' ? -1 : 0;
		c->wide |= strchr("jzZt", **p) != NULL;
		c->extended |= **p == 'L';
		c->allocates |= **p == 'm';
	}
	c->letter = **p;
	if (c->letter == '[') {
		++*p;
		skip_set(p);
	}
	return **p != 0;
}

static size_t stored(const struct conversion *c, const void *place)
{
	if (c->allocates)
		return sizeof(char *);
	if (strchr("sS[", c->letter))
		return c->longs > 0 || c->letter == 'S' ? 0 : strlen(place) + 1;
	if (c->letter == 'c')
		return c->longs > 0 ? 0 : c->width ? c->width : 1;
	if (strchr("aAeEfFgG", c->letter))
		return c->extended ? sizeof(long double) : c->longs > 0 ? sizeof(double) : sizeof(float);
	if (c->letter == 'p' || c->wide || c->extended || c->longs > 0)
		return sizeof(long);
	return c->longs == -1 ? sizeof(short) : c->longs < -1 ? 1 : sizeof(int);
}

/* `result` conversions were stored; %n does not count, and is taken to have
 * been reached if nothing stands between it and the last one that was. */
static void writes_all(const char *format, va_list arguments, int result, const struct atomsan_site *site)
{
	bool sure = true;
	int done = 0;
	va_list list;

	if (!watch_or_record())
		return;
	reads_text(format, site);
	va_copy(list, arguments);
	for (const char *p = format; *p && done <= result; p++) {
		struct conversion c;

		if (*p != '%') {
			sure &= strchr(" \t\n\v\f\r", *p) != NULL;
			continue;
		}
		p++;
		if (!parse(&p, &c))
			break;
		if (c.letter == '%' || c.suppressed) {
			sure = false;
			continue;
		}
		void *place = va_arg(list, void *);

		if (c.letter == 'n') {
			if (sure)
				wrote(place, stored(&c, place), site);
			continue;
		}
		if (done++ < result)
			wrote(place, stored(&c, place), site);
		sure = true;
	}
	va_end(list);
}

#define UNPACK(...) __VA_ARGS__
#define PAIR(name, vname, parameters, call)                                       \
	WRAPPER(int, vname, (UNPACK parameters const char *format, va_list list)) \
	{                                                                         \
		const struct atomsan_site *site = rt_take_site();                 \
		int result;                                                       \
		va_list copy;                                                     \
                                                                                  \
		va_copy(copy, list);                                              \
		result = call;                                                    \
		writes_all(format, copy, result, site);                           \
		va_end(copy);                                                     \
		return result;                                                    \
	}                                                                         \
	WRAPPER(int, name, (UNPACK parameters const char *format, ...))           \
	{                                                                         \
		const struct atomsan_site *site = rt_take_site();                 \
		int result;                                                       \
		va_list list, copy;                                               \
                                                                                  \
		va_start(list, format);                                           \
		va_copy(copy, list);                                              \
		result = call;                                                    \
		writes_all(format, copy, result, site);                           \
		va_end(copy);                                                     \
		va_end(list);                                                     \
		return result;                                                    \
	}

/* How far a text was looked at is not known; all of it is what libc measures first. */
static const char *source(const char *text, const struct atomsan_site *site)
{
	reads_text(text, site);
	return text;
}

PAIR(scanf, vscanf, (), vscanf(format, list))
PAIR(fscanf, vfscanf, (FILE * stream, ), vfscanf(stream, format, list))
PAIR(sscanf, vsscanf, (const char *text, ), vsscanf(source(text, site), format, list))
PAIR(__isoc99_scanf, __isoc99_vscanf, (), __isoc99_vscanf(format, list))
PAIR(__isoc99_fscanf, __isoc99_vfscanf, (FILE * stream, ), __isoc99_vfscanf(stream, format, list))
PAIR(__isoc99_sscanf, __isoc99_vsscanf, (const char *text, ),
     __isoc99_vsscanf(source(text, site), format, list))
