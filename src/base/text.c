/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/text.h"

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the character that begins here, 0 if it is not UTF-8. */
static size_t character(const uint8_t *p, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;

	if (length < 2) {
		*code = *p;
		return length;
	}
	*code = *p & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (p[i] & 0x3fu);
	}
	if (*code < least[length] || *code > 0x10ffff || *code >> 11 == 27)
		return 0;
	return length;
}

/* Whether the character shows itself as itself. Control characters do not, nor do those that turn the
 * direction of writing, which could make a line look like another one. */
static bool shows(uint32_t code)
{
	return code >= ' ' && !(code >= 0x7f && code < 0xa0) && code != 0x200e && code != 0x200f &&
	       !(code >= 0x2028 && code <= 0x202e) && !(code >= 0x2066 && code <= 0x2069);
}

void text_put(FILE *out, const char *text)
{
	const uint8_t *p = (const uint8_t *)text;

	while (*p) {
		uint32_t code;
		size_t length = character(p, &code);

		if (length && shows(code)) {
			fwrite_unlocked(p, 1, length, out);
		} else {
			if (!length)
				length = 1;
			for (size_t i = 0; i < length; i++)
				fprintf(out, "\\x%02x", p[i]);
		}
		p += length;
	}
}

void text_json(FILE *out, const char *text)
{
	const uint8_t *p = (const uint8_t *)text;

	if (!text) {
		fputs("null", out);
		return;
	}
	putc_unlocked('"', out);
	while (*p) {
		uint32_t code;
		size_t length = character(p, &code);

		if (!length) {
			fputs("\\ufffd", out);
			length = 1;
		} else if (code < ' ' || code == 0x7f) {
			fprintf(out, "\\u%04x", (unsigned)code);
		} else {
			if (code == '"' || code == '\\')
				putc_unlocked('\\', out);
			fwrite_unlocked(p, 1, length, out);
		}
		p += length;
	}
	putc_unlocked('"', out);
}

char *text_utf8(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	char *clean = mem_alloc(3 * strlen(text) + 1), *to = clean;

	while (*p) {
		uint32_t code;
		size_t length = character(p, &code);

		if (length) {
			memcpy(to, p, length);
			to += length;
			p += length;
		} else {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
			p++;
		}
	}
	*to = 0;
	return clean;
}

size_t text_width(const char *text)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t width = 0;

	while (*p) {
		uint32_t code;
		size_t length = character(p, &code);

		if (length && shows(code))
			width++;
		else
			width += 4 * (length ? length : 1);
		p += length ? length : 1;
	}
	return width;
}

void text_shell(FILE *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}
