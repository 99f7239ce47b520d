/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The printf family: the format, the texts behind %s and what %n writes. A
 * format with numbered arguments (%1$s) is recorded by itself, without them.
 *
 * Compiled with vector registers: floating-point arguments come in them. Only
 * the program's own calls come here, never a hook.
 */
#include "rt/libc.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list);
int __vdprintf_chk(int file, int flag, const char *format, va_list list);
int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list list);
int __vsnprintf_chk(char *to, size_t length, int flag, size_t room, const char *format, va_list list);
int __vasprintf_chk(char **to, int flag, const char *format, va_list list);

/* One conversion of a format. */
struct conversion {
	int precision; /* -1: none */
	int longs;     /* l counts up, h down */
	bool wide;     /* j, z, t: as long as a pointer */
	bool extended; /* L */
	char letter;
};

static int number(const char **p)
{
	int value = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		value = value < INT_MAX / 10 ? value * 10 + (**p - '0') : INT_MAX / 10;
	return value;
}

/* Reads a conversion behind its '%', and the arguments that its width and
 * precision take. False if the arguments are numbered. */
static bool parse(const char **p, struct conversion *c, va_list *list)
{
	*c = (struct conversion){.precision = -1};
	while (**p && strchr("-+ #0'I", **p))
		++*p;
	if (**p == '*') {
		++*p;
		if (**p >= '0' && **p <= '9')
			return false;
		va_arg(*list, int);
	} else {
		number(p);
		if (**p == '$')
			return false;
	}
	if (**p == '.') {
		++*p;
		if (**p == '*') {
			++*p;
			c->precision = va_arg(*list, int);
		} else {
			c->precision = number(p);
		}
	}
	for (; **p && strchr("hlqLjzZt", **p); ++*p) {
		c->longs += **p == 'l' ? 1 : **p == 'q' ? 2 : **p == 'h' ? -1 : 0;
		c->wide |= strchr("jzZt", **p) != NULL;
		c->extended |= **p == 'L';
	}
	c->letter = **p;
	return c->letter != 0;
}

static void reads_argument(const struct conversion *c, const void *argument, const struct atomsan_site *site)
{
	size_t limit = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;

	if (!argument)
		return; /* printed as (null) */
	if (c->letter == 'S' || c->longs > 0) {
		size_t length;

		/* A wide character makes at least one byte, which is what the precision counts. */
		limit = limit < SIZE_MAX / sizeof(wchar_t) ? limit : SIZE_MAX / sizeof(wchar_t) - 1;
		length = wcsnlen(argument, limit);
		reads(argument, (length < limit ? length + 1 : limit) * sizeof(wchar_t), site);
	} else {
		reads(argument, text_span(argument, limit), site);
	}
}

static size_t size_of_count(const struct conversion *c)
{
	if (c->wide || c->longs > 0)
		return sizeof(long);
	return c->longs == -1 ? sizeof(short) : c->longs < -1 ? 1 : sizeof(int);
}

/* All integers take one word on the argument list, whatever their size. */
static void reads_arguments(const char *format, va_list arguments, const struct atomsan_site *site)
{
	struct conversion c;
	va_list list;

	if (!watch_or_record())
		return;
	reads_text(format, site);
	va_copy(list, arguments);
	for (const char *p = format; *p; p++) {
		if (*p != '%')
			continue;
		p++;
		if (!parse(&p, &c, &list))
			break;
		if (c.letter == 's' || c.letter == 'S')
			reads_argument(&c, va_arg(list, void *), site);
		else if (c.letter == 'n')
			writes(va_arg(list, void *), size_of_count(&c), site);
		else if (strchr("aAeEfFgG", c.letter) && c.extended)
			va_arg(list, long double);
		else if (strchr("aAeEfFgG", c.letter))
			va_arg(list, double);
		else if (strchr("diouxXcCpbB", c.letter))
			va_arg(list, long);
		else if (c.letter != '%' && c.letter != 'm')
			break; /* one that the program has registered: what it takes is not known */
	}
	va_end(list);
}

/* The arguments are looked at under the lock of the stream, if it is one that is printed to. */
static void reads_all(bool stream, const char *format, va_list arguments, const struct atomsan_site *site)
{
	watch_self.streams += stream;
	reads_arguments(format, arguments, site);
	watch_self.streams -= stream;
}

static int printed(char *to, int result, const struct atomsan_site *site)
{
	if (result >= 0)
		writes(to, (size_t)result + 1, site);
	return result;
}

static int printed_up_to(char *to, size_t length, int result, const struct atomsan_site *site)
{
	if (result >= 0)
		writes(to, (size_t)result < length ? (size_t)result + 1 : length, site);
	return result;
}

static int printed_new(char **to, int result, const struct atomsan_site *site)
{
	__atomsan_thread.at = NULL;
	if (result >= 0) {
		writes(to, sizeof(*to), site);
		writes(*to, (size_t)result + 1, site);
	}
	return result;
}

/*
 * Every function in two forms: with a list, and with the arguments themselves.
 * PAIR(whether it is a stream, name, vname, parameters, what to do with `format`, `list` and `site`).
 */
#define UNPACK(...) __VA_ARGS__
#define PAIR(stream_, name, vname, parameters, body)                               \
	WRAPPER(int, vname, (UNPACK parameters, const char *format, va_list list)) \
	{                                                                          \
		const struct atomsan_site *site = rt_take_site();                  \
                                                                                   \
		reads_all(stream_, format, list, site);                            \
		return body;                                                       \
	}                                                                          \
	WRAPPER(int, name, (UNPACK parameters, const char *format, ...))           \
	{                                                                          \
		const struct atomsan_site *site = rt_take_site();                  \
		int result;                                                        \
		va_list list;                                                      \
                                                                                   \
		va_start(list, format);                                            \
		reads_all(stream_, format, list, site);                            \
		result = body;                                                     \
		va_end(list);                                                      \
		return result;                                                     \
	}

PAIR(true, fprintf, vfprintf, (FILE * stream), vfprintf(stream, format, list))
PAIR(false, dprintf, vdprintf, (int file), vdprintf(file, format, list))
PAIR(false, sprintf, vsprintf, (char *to), printed(to, vsprintf(to, format, list), site))
PAIR(false, snprintf, vsnprintf, (char *to, size_t length),
     printed_up_to(to, length, vsnprintf(to, length, format, list), site))
PAIR(false, asprintf, vasprintf, (char **to), printed_new(to, vasprintf(to, format, list), site))
PAIR(true, __printf_chk, __vprintf_chk, (int flag), __vprintf_chk(flag, format, list))
PAIR(true, __fprintf_chk, __vfprintf_chk, (FILE * stream, int flag),
     __vfprintf_chk(stream, flag, format, list))
PAIR(false, __dprintf_chk, __vdprintf_chk, (int file, int flag), __vdprintf_chk(file, flag, format, list))
PAIR(false, __sprintf_chk, __vsprintf_chk, (char *to, int flag, size_t room),
     printed(to, __vsprintf_chk(to, flag, room, format, list), site))
PAIR(false, __snprintf_chk, __vsnprintf_chk, (char *to, size_t length, int flag, size_t room),
     printed_up_to(to, length, __vsnprintf_chk(to, length, flag, room, format, list), site))
PAIR(false, __asprintf_chk, __vasprintf_chk, (char **to, int flag),
     printed_new(to, __vasprintf_chk(to, flag, format, list), site))

WRAPPER(int, vprintf, (const char *format, va_list list))
{
	reads_all(true, format, list, rt_take_site());
	return vprintf(format, list);
}

WRAPPER(int, printf, (const char *format, ...))
{
	int result;
	va_list list;

	va_start(list, format);
	reads_all(true, format, list, rt_take_site());
	result = vprintf(format, list);
	va_end(list);
	return result;
}
