/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "repository/repository.h"

#include "repository/inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct repository_memory {
	struct repository_memory *next;
};

void *repository_memory(struct repository *repository, size_t size)
{
	struct repository_memory *block = mem_zalloc(1, sizeof(*block) + size);

	block->next = repository->memory;
	repository->memory = block;
	return block + 1;
}

const char *repository_text(struct repository *repository, const char *text)
{
	return text ? memcpy(repository_memory(repository, strlen(text) + 1), text, strlen(text) + 1) : NULL;
}

void repository_release(struct repository *repository)
{
	struct repository_memory *next;

	for (; repository->memory; repository->memory = next) {
		next = repository->memory->next;
		free(repository->memory);
	}
	for (uint32_t i = 0; i < repository->section_count; i++) {
		free(repository->sections[i].ends);
		free(repository->sections[i].from);
	}
	free(repository->sections);
	free(repository->broken);
	free(repository->orders);
	map_release(&repository->ids);
	map_release(&repository->broken_ids);
	*repository = (struct repository){0};
}

static void *grow(void *array, uint32_t count, size_t size)
{
	return count & (count - 1) ? array : mem_resize(array, count ? 2ul * count : 1, size);
}

/* ---- what a section is known by ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++)
		hash = (hash ^ *p) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
	for (int i = 0; i < 8; i++, number >>= 8)
		hash = (hash ^ (number & 0xff)) * 0x100000001b3ull;
	return hash;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Where it is in its function, not in its file: lines move. */
static uint64_t hash_place(uint64_t hash, const struct repository_place *place)
{
	hash = hash_number(hash, place->kind);
	hash = hash_text(hash, place->variable);
	hash = hash_text(hash, place->function);
	hash = hash_text(hash, last_part(place->file));
	if (place->ordinal)
		return hash_number(hash, place->ordinal);
	return hash_number(hash_number(hash, (uint64_t)place->line << 32), place->column);
}

static const uint64_t first_hash = 0xcbf29ce484222325ull;

static uint64_t hash_section(const struct repository_section *section)
{
	uint64_t hash = hash_place(first_hash, &section->entry), ends = 0;

	/* In whatever order they stand. */
	for (uint32_t i = 0; i < section->end_count; i++)
		ends += hash_place(first_hash, &section->ends[i].place);
	return hash_number(hash_number(hash, ends), section->any);
}

void repository_identify(struct repository_section *section)
{
	uint64_t hash = hash_section(section);

	snprintf(section->id, sizeof(section->id), "A-%012llx",
		 (unsigned long long)((hash ^ hash >> 48) & 0xffffffffffffull));
}

static uint64_t id_key(const char *id)
{
	return hash_text(first_hash, id);
}

struct repository_section *repository_find(const struct repository *repository, const char *id)
{
	uint32_t number = map_get(&repository->ids, id_key(id));

	return number ? &repository->sections[number - 1] : NULL;
}

/* ---- adding ---- */

static struct repository_place copy_place(struct repository *repository, struct repository_place place)
{
	place.variable = repository_text(repository, place.variable);
	place.function = repository_text(repository, place.function);
	place.file = repository_text(repository, place.file);
	return place;
}

static bool is_learned(const struct repository_section *section)
{
	for (uint32_t i = 0; i < section->from_count; i++)
		if (section->from[i].origin != ATOMICITY_LEARNED)
			return false;
	return section->from_count != 0;
}

static bool says_the_same(const struct repository_from *a, const struct repository_from *b)
{
	return a->origin == b->origin && (!a->what) == (!b->what) && (!a->what || !strcmp(a->what, b->what));
}

/* What the reader takes at most. */
static uint64_t sum(uint64_t a, uint64_t b)
{
	return a + b < INT64_MAX / 16 ? a + b : INT64_MAX / 16;
}

static void add_from(struct repository *repository, struct repository_section *section,
		     const struct repository_from *from)
{
	struct repository_from *to;

	for (uint32_t i = 0; i < section->from_count; i++) {
		to = &section->from[i];
		if (!says_the_same(to, from))
			continue;
		to->runs = sum(to->runs, from->runs);
		to->times = sum(to->times, from->times);
		to->guarded &= from->guarded;
		/* The latest word counts. */
		to->confidence = from->confidence;
		if (from->state)
			to->state = repository_text(repository, from->state);
		return;
	}
	if (section->from_count == ATOMICITY_FROMS)
		return;
	section->from = grow(section->from, section->from_count, sizeof(*section->from));
	to = &section->from[section->from_count++];
	*to = *from;
	to->what = repository_text(repository, from->what);
	to->state = repository_text(repository, from->state);
}

struct repository_section *repository_add(struct repository *repository,
					  const struct repository_section *section)
{
	struct repository_section *to = repository_find(repository, section->id);

	if (!to) {
		repository->sections =
			grow(repository->sections, repository->section_count, sizeof(*repository->sections));
		to = &repository->sections[repository->section_count++];
		map_set(&repository->ids, id_key(section->id), repository->section_count);
		*to = *section;
		to->variable = repository_text(repository, section->variable);
		to->entry = copy_place(repository, section->entry);
		to->ends = mem_zalloc(section->end_count, sizeof(*to->ends));
		for (uint32_t i = 0; i < section->end_count; i++)
			to->ends[i] = (struct repository_end){copy_place(repository, section->ends[i].place),
							      section->ends[i].allow};
		to->unit = repository_text(repository, section->unit);
		to->unit_file = repository_text(repository, section->unit_file);
		to->from = NULL;
		to->from_count = 0;
	} else {
		/* Who knows more than a run about it outweighs what was learned. */
		if (is_learned(to) && !is_learned(section)) {
			to->unit = repository_text(repository, section->unit);
			to->unit_file = repository_text(repository, section->unit_file);
			for (uint32_t i = 0; i < to->end_count && i < section->end_count; i++)
				to->ends[i].allow = section->ends[i].allow;
		}
		to->consecutive &= section->consecutive;
		to->circular |= section->circular;
		to->recursive |= section->recursive;
		if (section->heal != ATOMICITY_HEAL_DEFAULT)
			to->heal = section->heal;
	}
	for (uint32_t i = 0; i < section->from_count; i++)
		add_from(repository, to, &section->from[i]);
	return to;
}

void repository_add_order(struct repository *repository, const char *held, const char *taken)
{
	for (uint32_t i = 0; i < repository->order_count; i++)
		if (!strcmp(repository->orders[i][0], held) && !strcmp(repository->orders[i][1], taken))
			return;
	repository->orders = grow(repository->orders, repository->order_count, sizeof(*repository->orders));
	repository->orders[repository->order_count][0] = repository_text(repository, held);
	repository->orders[repository->order_count++][1] = repository_text(repository, taken);
}

/* ---- pairs that are no invariants ---- */

static uint64_t pair_key(const struct repository_place *first, const struct repository_place *last)
{
	return hash_place(hash_place(first_hash, first), last);
}

bool repository_is_broken(const struct repository *repository, const struct repository_place *first,
			  const struct repository_place *last)
{
	return map_get(&repository->broken_ids, pair_key(first, last)) != 0;
}

static void remove_section(struct repository *repository, uint32_t number)
{
	free(repository->sections[number].ends);
	free(repository->sections[number].from);
	memmove(&repository->sections[number], &repository->sections[number + 1],
		(--repository->section_count - number) * sizeof(*repository->sections));
}

void repository_index(struct repository *repository)
{
	map_clear(&repository->ids);
	for (uint32_t i = 0; i < repository->section_count; i++)
		map_set(&repository->ids, id_key(repository->sections[i].id), i + 1);
	map_clear(&repository->broken_ids);
	for (uint32_t i = 0; i < repository->broken_count; i++)
		map_set(&repository->broken_ids,
			pair_key(&repository->broken[i][0], &repository->broken[i][1]), i + 1);
}

void repository_remove(struct repository *repository, bool (*unwanted)(struct repository_section *, void *),
		       void *arg)
{
	for (uint32_t i = 0; i < repository->section_count;)
		if (unwanted(&repository->sections[i], arg))
			remove_section(repository, i);
		else
			i++;
	repository_index(repository);
}

static bool is_only_from(struct repository_section *section, void *arg)
{
	const enum atomicity_origin *origin = arg;
	uint32_t kept = 0, before = section->from_count;

	for (uint32_t i = 0; i < before; i++)
		if (section->from[i].origin != *origin)
			section->from[kept++] = section->from[i];
	section->from_count = kept;
	return before && !kept;
}

void repository_forget(struct repository *repository, enum atomicity_origin origin)
{
	repository_remove(repository, is_only_from, &origin);
}

static bool was_learned_and_is_broken(struct repository_section *section, void *arg)
{
	const uint64_t *key = arg;

	return section->end_count == 1 && is_learned(section) &&
	       pair_key(&section->entry, &section->ends[0].place) == *key;
}

void repository_add_broken(struct repository *repository, const struct repository_place *first,
			   const struct repository_place *last)
{
	uint64_t key = pair_key(first, last);

	if (map_get(&repository->broken_ids, key))
		return;
	repository->broken = grow(repository->broken, repository->broken_count, sizeof(*repository->broken));
	repository->broken[repository->broken_count][0] = copy_place(repository, *first);
	repository->broken[repository->broken_count++][1] = copy_place(repository, *last);
	map_set(&repository->broken_ids, key, repository->broken_count);
	for (uint32_t i = 0; i < repository->section_count; i++)
		if (was_learned_and_is_broken(&repository->sections[i], &key)) {
			remove_section(repository, i);
			repository_index(repository);
			return;
		}
}
