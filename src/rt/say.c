/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages to the person who runs the program: one write each, no stdio. */
#include "rt/digits.h"
#include "rt/rt.h"
#include "rt/sys.h"

#include <fcntl.h>
#include <stdarg.h>

struct text {
	char bytes[1024];
	unsigned length;
};

static void put(struct text *text, char c)
{
	if (text->length < sizeof text->bytes - 1)
		text->bytes[text->length++] = c;
}

static void put_number(struct text *text, uint64_t n, unsigned base)
{
	struct rt_digits room;

	for (const char *digit = rt_digits(&room, n, base); *digit; digit++)
		put(text, *digit);
}

void rt_path(char *to, uint64_t room, const char *pattern)
{
	struct text text;
	uint64_t i;

	text.length = 0;
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p') {
			put_number(&text, (uint64_t)sys0(getpid), 10);
			pattern++;
		} else {
			put(&text, *pattern);
		}
	}
	for (i = 0; i < text.length && i + 1 < room; i++)
		to[i] = text.bytes[i];
	to[i] = 0;
}

void rt_say(const char *format, ...)
{
	struct text text;
	va_list args;
	long fd = 2;
	const char *s;
	int64_t n;

	/* Not initialised as a whole: that would be a call of libc's memset, and hooks come here. */
	text.length = 0;
	va_start(args, format);
	for (s = "atomsan: "; *s; s++)
		put(&text, *s);
	for (; *format; format++) {
		if (*format != '%') {
			put(&text, *format);
			continue;
		}
		switch (*++format) {
		case 's':
			for (s = va_arg(args, const char *); s && *s; s++)
				put(&text, *s);
			break;
		case 'd':
			n = va_arg(args, int64_t);
			if (n < 0)
				put(&text, '-');
			put_number(&text, n < 0 ? -(uint64_t)n : (uint64_t)n, 10);
			break;
		case 'u':
			put_number(&text, va_arg(args, uint64_t), 10);
			break;
		case 'x':
			put_number(&text, va_arg(args, uint64_t), 16);
			break;
		default:
			put(&text, *format);
		}
	}
	va_end(args);
	text.bytes[text.length++] = '\n';
	if (*rt_options.log_path) {
		char path[1024];

		rt_path(path, sizeof path, rt_options.log_path);
		fd = sys3(open, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (sys_failed(fd))
			fd = 2;
	}
	sys3(write, fd, text.bytes, text.length);
	if (fd != 2)
		sys1(close, fd);
}
