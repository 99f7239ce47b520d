/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Texts that end in a NUL. */
#include "rt/libc.h"

#include <ctype.h>
#include <strings.h>
#include <wchar.h>

char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t length, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t length, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t length, size_t room);

WRAPPER(size_t, strlen, (const char *text))
{
	size_t length = strlen(text);

	reads(text, length + 1, rt_take_site());
	return length;
}

WRAPPER(size_t, strnlen, (const char *text, size_t limit))
{
	size_t length = strnlen(text, limit);

	reads(text, length < limit ? length + 1 : limit, rt_take_site());
	return length;
}

WRAPPER(size_t, wcslen, (const wchar_t *text))
{
	size_t length = wcslen(text);

	reads(text, (length + 1) * sizeof(*text), rt_take_site());
	return length;
}

static void copies(const char *to, const char *from)
{
	const struct atomsan_site *site = rt_take_site();
	size_t length;

	if (!watch_or_record())
		return;
	length = strlen(from) + 1;
	reads(from, length, site);
	writes(to, length, site);
}

WRAPPER(char *, strcpy, (char *to, const char *from))
{
	copies(to, from);
	return strcpy(to, from);
}

WRAPPER(char *, __strcpy_chk, (char *to, const char *from, size_t room))
{
	copies(to, from);
	return __strcpy_chk(to, from, room);
}

WRAPPER(char *, stpcpy, (char *to, const char *from))
{
	copies(to, from);
	return stpcpy(to, from);
}

WRAPPER(char *, __stpcpy_chk, (char *to, const char *from, size_t room))
{
	copies(to, from);
	return __stpcpy_chk(to, from, room);
}

/* The rest of the room is filled with NULs. */
static void copies_padded(const char *to, const char *from, size_t length)
{
	const struct atomsan_site *site = rt_take_site();

	if (!watch_or_record())
		return;
	reads(from, text_span(from, length), site);
	writes(to, length, site);
}

WRAPPER(char *, strncpy, (char *to, const char *from, size_t length))
{
	copies_padded(to, from, length);
	return strncpy(to, from, length);
}

WRAPPER(char *, __strncpy_chk, (char *to, const char *from, size_t length, size_t room))
{
	copies_padded(to, from, length);
	return __strncpy_chk(to, from, length, room);
}

WRAPPER(char *, stpncpy, (char *to, const char *from, size_t length))
{
	copies_padded(to, from, length);
	return stpncpy(to, from, length);
}

WRAPPER(char *, __stpncpy_chk, (char *to, const char *from, size_t length, size_t room))
{
	copies_padded(to, from, length);
	return __stpncpy_chk(to, from, length, room);
}

static void appends(const char *to, const char *from, size_t limit)
{
	const struct atomsan_site *site = rt_take_site();
	size_t before;

	if (!watch_or_record())
		return;
	before = strlen(to);
	reads(to, before + 1, site);
	reads(from, text_span(from, limit), site);
	writes(to + before, strnlen(from, limit) + 1, site);
}

WRAPPER(char *, strcat, (char *to, const char *from))
{
	appends(to, from, SIZE_MAX);
	return strcat(to, from);
}

WRAPPER(char *, __strcat_chk, (char *to, const char *from, size_t room))
{
	appends(to, from, SIZE_MAX);
	return __strcat_chk(to, from, room);
}

WRAPPER(char *, strncat, (char *to, const char *from, size_t length))
{
	appends(to, from, length);
	return strncat(to, from, length);
}

WRAPPER(char *, __strncat_chk, (char *to, const char *from, size_t length, size_t room))
{
	appends(to, from, length);
	return __strncat_chk(to, from, length, room);
}

static int exactly(int c)
{
	return c;
}

/* Up to the first difference or the end, under `fold`. */
static void compared(const char *a, const char *b, size_t limit, int (*fold)(int))
{
	const struct atomsan_site *site = rt_take_site();
	size_t same = 0;

	if (!watch_or_record())
		return;
	while (same < limit && a[same] && fold((unsigned char)a[same]) == fold((unsigned char)b[same]))
		same++;
	if (same < limit)
		same++;
	reads(a, same, site);
	reads(b, same, site);
}

WRAPPER(int, strcmp, (const char *a, const char *b))
{
	compared(a, b, SIZE_MAX, exactly);
	return strcmp(a, b);
}

WRAPPER(int, strncmp, (const char *a, const char *b, size_t length))
{
	compared(a, b, length, exactly);
	return strncmp(a, b, length);
}

WRAPPER(int, strcasecmp, (const char *a, const char *b))
{
	compared(a, b, SIZE_MAX, tolower);
	return strcasecmp(a, b);
}

WRAPPER(int, strncasecmp, (const char *a, const char *b, size_t length))
{
	compared(a, b, length, tolower);
	return strncasecmp(a, b, length);
}

/* A search from the front: up to the hit, or all of it. */
static char *found(const char *text, const char *hit, size_t hit_length, const struct atomsan_site *site)
{
	if (watch_or_record())
		reads(text, hit ? (size_t)(hit - text) + hit_length : strlen(text) + 1, site);
	return (char *)hit;
}

WRAPPER(char *, strchr, (const char *text, int c))
{
	return found(text, strchr(text, c), 1, rt_take_site());
}

WRAPPER(char *, strchrnul, (const char *text, int c))
{
	return found(text, strchrnul(text, c), 1, rt_take_site());
}

WRAPPER(char *, strrchr, (const char *text, int c))
{
	reads_text(text, rt_take_site());
	return strrchr(text, c);
}

WRAPPER(char *, strstr, (const char *text, const char *part))
{
	const struct atomsan_site *site = rt_take_site();

	reads_text(part, site);
	return found(text, strstr(text, part), strlen(part), site);
}

WRAPPER(size_t, strspn, (const char *text, const char *set))
{
	const struct atomsan_site *site = rt_take_site();
	size_t length = strspn(text, set);

	reads(text, length + 1, site);
	reads_text(set, site);
	return length;
}

WRAPPER(size_t, strcspn, (const char *text, const char *set))
{
	const struct atomsan_site *site = rt_take_site();
	size_t length = strcspn(text, set);

	reads(text, length + 1, site);
	reads_text(set, site);
	return length;
}

WRAPPER(char *, strpbrk, (const char *text, const char *set))
{
	const struct atomsan_site *site = rt_take_site();

	reads_text(set, site);
	return found(text, strpbrk(text, set), 1, site);
}

/*
 * strtok keeps its place in libc, out of sight: what it skipped before the
 * token is known only when a text is given, and the token's end is taken to be
 * written, though it was a NUL already at the end of the text.
 */
WRAPPER(char *, strtok, (char *text, const char *set))
{
	const struct atomsan_site *site = rt_take_site();
	char *token = strtok(text, set);

	reads_text(set, site);
	if (token && watch_or_record()) {
		char *from = text ? text : token;
		size_t length = strlen(token);

		reads(from, (size_t)(token - from) + length + 1, site);
		writes(token + length, 1, site);
	}
	return token;
}

WRAPPER(char *, strtok_r, (char *text, const char *set, char **place))
{
	const struct atomsan_site *site = rt_take_site();
	char *from = text ? text : *place;
	char *token = strtok_r(text, set, place);

	if (!watch_or_record())
		return token;
	reads_text(set, site);
	if (!text)
		reads(place, sizeof(*place), site);
	if (token) {
		char *end = token + strlen(token);

		reads(from, (size_t)(end - from) + 1, site);
		/* The place stays on a NUL that was there, and moves behind one that was written. */
		if (*place != end)
			writes(end, 1, site);
	} else if (from) {
		reads(from, (size_t)(*place - from) + 1, site);
	}
	writes(place, sizeof(*place), site);
	return token;
}

WRAPPER(char *, strsep, (char **place, const char *set))
{
	const struct atomsan_site *site = rt_take_site();
	char *token = strsep(place, set);

	if (!watch_or_record())
		return token;
	reads(place, sizeof(*place), site);
	if (token) {
		size_t length = strlen(token);

		reads_text(set, site);
		reads(token, length + 1, site);
		if (*place)
			writes(token + length, 1, site);
		writes(place, sizeof(*place), site);
	}
	return token;
}

/* libc allocates through malloc, which takes the site again. */
static char *copied(char *copy, const char *from, size_t read, const struct atomsan_site *site)
{
	__atomsan_thread.at = NULL;
	reads(from, read, site);
	if (copy && watch_or_record())
		writes(copy, strlen(copy) + 1, site);
	return copy;
}

WRAPPER(char *, strdup, (const char *text))
{
	const struct atomsan_site *site = __atomsan_thread.at;

	return copied(strdup(text), text, strlen(text) + 1, site);
}

WRAPPER(char *, strndup, (const char *text, size_t limit))
{
	const struct atomsan_site *site = __atomsan_thread.at;

	return copied(strndup(text, limit), text, text_span(text, limit), site);
}
