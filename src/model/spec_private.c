/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Private places: what `atomsan lint --private` found. No wildcards and no
 * precedence, only many of them: a table by hash.
 */
#include "model/spec_inside.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash * 0x100000001b3ull;
}

/* Its number, or 0 and *key where it would be. */
static uint32_t find(const struct spec *spec, const struct private_place *place, uint64_t *key)
{
	uint32_t number;

	*key = hash_text(hash_text(0xcbf29ce484222325ull, place->file), place->function) ^
	       (uint64_t)place->line << 20 ^ place->column;
	for (; (number = map_get(&spec->place_numbers, *key)); ++*key) {
		const struct private_place *other = &spec->places[number - 1];

		if (other->line == place->line && other->column == place->column &&
		    !strcmp(other->file, place->file) && !strcmp(other->function, place->function))
			break;
	}
	return number;
}

void spec_add_private(struct spec *spec, const char *file, unsigned line, unsigned column,
		      const char *function)
{
	struct private_place place = {(char *)file, (char *)function, line, column};
	uint64_t key;

	if (find(spec, &place, &key))
		return;
	if (spec->place_count == spec->place_room) {
		spec->place_room = spec->place_room ? spec->place_room * 2 : 64;
		spec->places = mem_resize(spec->places, spec->place_room, sizeof(*spec->places));
	}
	place.file = mem_text(file);
	place.function = mem_text(function);
	spec->places[spec->place_count++] = place;
	map_set(&spec->place_numbers, key, spec->place_count);
}

bool spec_private(const struct spec *spec, const char *file, unsigned line, unsigned column,
		  const char *function)
{
	struct private_place place = {(char *)file, (char *)function, line, column};
	uint64_t key;

	return spec->place_count && find(spec, &place, &key);
}

void spec_release_private(struct spec *spec)
{
	for (uint32_t i = 0; i < spec->place_count; i++) {
		free(spec->places[i].file);
		free(spec->places[i].function);
	}
	free(spec->places);
	map_release(&spec->place_numbers);
}
