/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/nametable.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *name, size_t length)
{
	uint64_t h = length * 0x9e3779b97f4a7c15ull, word;

	for (; length >= 8; name += 8, length -= 8) {
		memcpy(&word, name, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, name, length);
	h = (h ^ word) * 0xff51afd7ed558ccdull;
	return (uint32_t)(h ^ h >> 29 ^ h >> 47);
}

static void grow_slots(struct nametable *t)
{
	uint32_t size = t->slots ? (t->slot_mask + 1) * 2 : 256;

	free(t->slots);
	t->slots = mem_zalloc(size, sizeof *t->slots);
	t->slot_mask = size - 1;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t slot = t->hashes[i] & t->slot_mask;

		while (t->slots[slot])
			slot = (slot + 1) & t->slot_mask;
		t->slots[slot] = i + 1;
	}
}

static uint32_t add(struct nametable *t, const char *name, size_t length, uint32_t h)
{
	if (t->count == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->starts = mem_resize(t->starts, t->room, sizeof *t->starts);
		t->hashes = mem_resize(t->hashes, t->room, sizeof *t->hashes);
	}
	if (t->length + length + 1 > t->text_room) {
		t->text_room = (t->length + length) * 2 + 1024;
		t->text = mem_resize(t->text, t->text_room, 1);
	}
	t->starts[t->count] = t->length;
	t->hashes[t->count] = h;
	memcpy(t->text + t->length, name, length);
	t->text[t->length + length] = 0;
	t->length += length + 1;
	return t->count++;
}

uint32_t nametable_number(struct nametable *t, const char *name, size_t length)
{
	uint32_t h = hash(name, length), slot, number;

	if (!t->slots || t->count >= t->slot_mask / 2)
		grow_slots(t);
	for (slot = h & t->slot_mask; t->slots[slot]; slot = (slot + 1) & t->slot_mask) {
		number = t->slots[slot] - 1;
		/* The NUL is compared too: a longer name of the same beginning differs there. */
		if (t->hashes[number] == h && !strncmp(t->text + t->starts[number], name, length) &&
		    !t->text[t->starts[number] + length])
			return number;
	}
	number = add(t, name, length, h);
	t->slots[slot] = number + 1;
	return number;
}

void nametable_release(struct nametable *t)
{
	free(t->text);
	free(t->starts);
	free(t->hashes);
	free(t->slots);
	*t = (struct nametable){0};
}
