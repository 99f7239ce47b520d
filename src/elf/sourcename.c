/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Just enough of LLVM's bitstream to find one record: SOURCE_FILENAME in the
 * module block. Bitcode is a stream of bits, lowest first:
 *
 *   magic 32 bits, then items; an item begins with an abbreviation number,
 *   2 bits wide outside blocks, inside as wide as the block says
 *
 *   0 END_BLOCK      align to 32
 *   1 ENTER_SUBBLOCK block vbr8, width vbr4, align to 32, length in words 32
 *   2 DEFINE_ABBREV  count vbr5; each: literal 1, then value vbr8, or encoding 3
 *                    (1 fixed, 2 vbr: + width vbr5; 3 array, 4 char6, 5 blob)
 *   3 UNABBREV       code vbr6, count vbr6, values vbr6
 *   4.. a record by the abbreviation defined as number n - 4 in this block
 *
 * Abbreviations can also come from the BLOCKINFO block; LLVM has none there
 * for the module block. Should it have one day, the name is not found, and
 * nothing worse.
 */
#include "elf/sourcename.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { END_BLOCK, ENTER_SUBBLOCK, DEFINE_ABBREV, UNABBREV, FIRST_ABBREV };
enum { FIXED = 1, VBR, ARRAY, CHAR6, BLOB, LITERAL };
enum { MODULE_BLOCK = 8, SOURCE_FILENAME = 16 };
enum { MAX_ABBREVS = 64, MAX_OPERANDS = 32, MAX_NAME = 4096 };

struct bits {
	const unsigned char *bytes;
	uint64_t size, at; /* in bits */
	int failed;
};

struct abbrev {
	int count;
	struct {
		uint8_t encoding;
		uint64_t value; /* of a literal, else the width */
	} operands[MAX_OPERANDS];
};

struct name {
	char text[MAX_NAME + 1];
	size_t length;
	uint64_t code;
	int position; /* 0: the next value is the record's code */
};

static uint64_t fixed(struct bits *bits, unsigned width)
{
	uint64_t value = 0;

	if (width > 64 || width > bits->size - bits->at) {
		bits->failed = 1;
		return 0;
	}
	for (unsigned i = 0; i < width; i++, bits->at++)
		value |= (uint64_t)(bits->bytes[bits->at / 8] >> bits->at % 8 & 1) << i;
	return value;
}

static uint64_t vbr(struct bits *bits, unsigned width)
{
	uint64_t value = 0, more;
	unsigned shift = 0;

	if (width < 2 || width > 32) {
		bits->failed = 1;
		return 0;
	}
	do {
		uint64_t piece = fixed(bits, width);

		more = piece >> (width - 1);
		piece &= ~(1ull << (width - 1));
		if (shift < 64)
			value |= piece << shift;
		shift += width - 1;
	} while (more && !bits->failed);
	return value;
}

static void align(struct bits *bits)
{
	uint64_t at = (bits->at + 31) / 32 * 32;

	if (at > bits->size)
		bits->failed = 1;
	else
		bits->at = at;
}

static void skip(struct bits *bits, uint64_t n)
{
	if (n > bits->size - bits->at)
		bits->failed = 1;
	else
		bits->at += n;
}

static void define(struct bits *bits, struct abbrev *abbrev)
{
	uint64_t count = vbr(bits, 5);

	abbrev->count = 0;
	if (count > MAX_OPERANDS)
		bits->failed = 1;
	for (uint64_t i = 0; i < count && !bits->failed; i++) {
		int literal = fixed(bits, 1);
		int encoding = literal ? LITERAL : fixed(bits, 3);
		uint64_t value = literal ? vbr(bits, 8) : 0;

		if (encoding == FIXED || encoding == VBR)
			value = vbr(bits, 5);
		if (!encoding || encoding > LITERAL)
			bits->failed = 1;
		abbrev->operands[i].encoding = encoding;
		abbrev->operands[i].value = value;
		abbrev->count = i + 1;
	}
}

static void take(struct name *name, uint64_t value)
{
	if (!name->position++)
		name->code = value;
	else if (name->code == SOURCE_FILENAME && name->length < MAX_NAME)
		name->text[name->length++] = value;
}

static uint64_t scalar(struct bits *bits, int encoding, uint64_t value)
{
	static const char char6[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

	switch (encoding) {
	case LITERAL:
		return value;
	case FIXED:
		return fixed(bits, value > 64 ? 65 : value);
	case VBR:
		return value ? vbr(bits, value > 32 ? 33 : value) : 0;
	case CHAR6:
		return char6[fixed(bits, 6)];
	}
	bits->failed = 1;
	return 0;
}

static void record(struct bits *bits, const struct abbrev *abbrev, struct name *name)
{
	for (int i = 0; i < abbrev->count && !bits->failed; i++) {
		int encoding = abbrev->operands[i].encoding;
		uint64_t count;

		switch (encoding) {
		case ARRAY:
			count = vbr(bits, 6);
			if (i + 2 != abbrev->count)
				bits->failed = 1;
			i++;
			/* An element may have no bits at all: the count alone must not keep us here. */
			if (count > bits->size - bits->at)
				bits->failed = 1;
			for (; count && !bits->failed; count--)
				take(name,
				     scalar(bits, abbrev->operands[i].encoding, abbrev->operands[i].value));
			break;
		case BLOB:
			count = vbr(bits, 6);
			align(bits);
			if (count > bits->size / 8)
				bits->failed = 1;
			else
				skip(bits, 8 * count);
			align(bits);
			break;
		default:
			take(name, scalar(bits, encoding, abbrev->operands[i].value));
		}
	}
}

static void plain_record(struct bits *bits, struct name *name)
{
	uint64_t code = vbr(bits, 6), count = vbr(bits, 6);

	take(name, code);
	for (; count && !bits->failed; count--)
		take(name, vbr(bits, 6));
}

/* Returns the block's number and stands behind its header; *width and *words describe it. */
static uint64_t enter(struct bits *bits, unsigned *width, uint64_t *words)
{
	uint64_t block = vbr(bits, 8);

	*width = vbr(bits, 4);
	align(bits);
	*words = fixed(bits, 32);
	return block;
}

static int search_module(struct bits *bits, unsigned width, struct name *name)
{
	struct abbrev *abbrevs = mem_zalloc(MAX_ABBREVS, sizeof *abbrevs);
	int count = 0, found = 0;

	while (!bits->failed && !found) {
		uint64_t id = fixed(bits, width), words;
		unsigned inner;

		*name = (struct name){.length = 0};
		if (bits->failed || id == END_BLOCK)
			break;
		if (id == ENTER_SUBBLOCK) {
			enter(bits, &inner, &words);
			skip(bits, 32 * words);
		} else if (id == DEFINE_ABBREV && count < MAX_ABBREVS) {
			define(bits, &abbrevs[count++]);
		} else if (id == UNABBREV) {
			plain_record(bits, name);
		} else if (id >= FIRST_ABBREV && id - FIRST_ABBREV < count) {
			record(bits, &abbrevs[id - FIRST_ABBREV], name);
		} else {
			bits->failed = 1;
		}
		found = !bits->failed && name->position && name->code == SOURCE_FILENAME;
	}
	free(abbrevs);
	return found;
}

char *sourcename(const unsigned char *bytes, size_t size)
{
	struct bits bits = {.bytes = bytes, .size = 8 * (uint64_t)size, .at = 32};
	struct name name;
	uint64_t words;
	unsigned width;

	if (size < 4 || memcmp(bytes, "BC\300\336", 4))
		return NULL;
	while (!bits.failed && bits.at < bits.size) {
		if (fixed(&bits, 2) != ENTER_SUBBLOCK)
			return NULL;
		if (enter(&bits, &width, &words) == MODULE_BLOCK && !bits.failed)
			return search_module(&bits, width, &name) ? mem_text(name.text) : NULL;
		if (!bits.failed)
			skip(&bits, 32 * words);
	}
	return NULL;
}
