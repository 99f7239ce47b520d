/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Names to consecutive numbers from 0. The names themselves lie one after the
 * other in `text`, each with its NUL, in the order of their numbers.
 */
#ifndef ATOMSAN_TRACE_NAMETABLE_H
#define ATOMSAN_TRACE_NAMETABLE_H

#include <stddef.h>
#include <stdint.h>

struct nametable {
	char *text;
	uint64_t length, text_room;
	uint64_t *starts; /* of each name in text */
	uint32_t *hashes;
	uint32_t count, room;
	uint32_t *slots; /* open addressing: number + 1 */
	uint32_t slot_mask;
};

/* The number of the name, which is new if it equals the count before. */
uint32_t nametable_number(struct nametable *table, const char *name, size_t length);
static inline const char *nametable_name(const struct nametable *table, uint32_t number)
{
	return table->text + table->starts[number];
}
void nametable_release(struct nametable *table);

#endif
