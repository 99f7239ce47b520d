/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers out of texts. Compiled with vector registers: a double is returned
 * in one. Only the program's own calls come here, never a hook.
 */
#include "rt/libc.h"

#include <stdlib.h>

/* `end` is NULL if libc refused the base without looking at the text. */
static void scanned(const char *text, const char *end, char **place, const struct atomsan_site *site)
{
	if (!end)
		return;
	reads(text, (size_t)(end - text) + 1, site);
	if (place) {
		*place = (char *)end;
		writes(place, sizeof(*place), site);
	}
}

#define INTEGER(type, name)                                           \
	WRAPPER(type, name, (const char *text, char **end, int base)) \
	{                                                             \
		const struct atomsan_site *site = rt_take_site();     \
		char *stop = NULL;                                    \
		type value = name(text, &stop, base);                 \
                                                                      \
		scanned(text, stop, end, site);                       \
		return value;                                         \
	}
INTEGER(long, strtol)
INTEGER(unsigned long, strtoul)
INTEGER(long long, strtoll)
INTEGER(unsigned long long, strtoull)

#define FLOATING(type, name)                                      \
	WRAPPER(type, name, (const char *text, char **end))       \
	{                                                         \
		const struct atomsan_site *site = rt_take_site(); \
		char *stop = NULL;                                \
		type value = name(text, &stop);                   \
                                                                  \
		scanned(text, stop, end, site);                   \
		return value;                                     \
	}
FLOATING(double, strtod)
FLOATING(float, strtof)
FLOATING(long double, strtold)

/* The short forms are defined by the long ones. */
#define SHORT(type, name, call)                                   \
	WRAPPER(type, name, (const char *text))                   \
	{                                                         \
		const struct atomsan_site *site = rt_take_site(); \
		char *stop = NULL;                                \
		type value = (type)call;                          \
                                                                  \
		scanned(text, stop, NULL, site);                  \
		return value;                                     \
	}
SHORT(int, atoi, strtol(text, &stop, 10))
SHORT(long, atol, strtol(text, &stop, 10))
SHORT(long long, atoll, strtoll(text, &stop, 10))
SHORT(double, atof, strtod(text, &stop))
