/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words, kinds, and where a place of the repository lies among a program's sites. */
#include "atomicity/atomicity.h"

/* ---- words ---- */

static char letter(struct atomicity_word word, uint32_t *at)
{
	char c = word.at[(*at)++];

	if (c != '\\' || !word.quoted || *at == word.length)
		return c;
	c = word.at[(*at)++];
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

bool atomicity_word_is(struct atomicity_word word, const char *text)
{
	uint32_t at = 0;

	while (at < word.length) {
		char c = letter(word, &at);

		if (!*text || c != *text++)
			return false;
	}
	return !*text;
}

uint32_t atomicity_word_copy(struct atomicity_word word, char *to, uint32_t room)
{
	uint32_t length = 0;

	for (uint32_t at = 0; at < word.length; length++) {
		char c = letter(word, &at);

		if (length + 1 < room)
			to[length] = c;
	}
	if (room)
		to[length < room ? length : room - 1] = 0;
	return length;
}

/* The word is "A.B". */
static bool is_joined(struct atomicity_word word, const char *a, const char *b)
{
	uint32_t at = 0;

	for (int part = 0; part < 2; part++) {
		const char *text = part ? b : a;

		for (; *text; text++)
			if (at >= word.length || letter(word, &at) != *text)
				return false;
		if (!part && (at >= word.length || letter(word, &at) != '.'))
			return false;
	}
	return at == word.length;
}

static bool same_file(struct atomicity_word word, const char *path)
{
	for (uint32_t i = 0; i < word.length; i++)
		if (word.at[i] == '/') {
			word.at += i + 1;
			word.length -= i + 1;
			i = (uint32_t)-1;
		}
	return atomicity_word_is(word, atomicity_last_part(path));
}

unsigned atomicity_serializable(unsigned first, unsigned last)
{
	/* Between two writes a write is overwritten, and a read sees what was never meant to be seen. */
	return first == ATOMICITY_WRITE && last == ATOMICITY_WRITE ? ATOMICITY_WRITE : ATOMICITY_READ;
}

/* ---- sites ---- */

static const char *text_at(const int32_t *field)
{
	return *field ? (const char *)field + *field : "";
}

unsigned atomicity_site_kinds(const struct atomsan_site *site)
{
	switch (site->kind) {
	case ATOMSAN_READ:
	case ATOMSAN_ATOMIC_LOAD:
		return ATOMICITY_READ;
	case ATOMSAN_WRITE:
	case ATOMSAN_ATOMIC_STORE:
		return ATOMICITY_WRITE;
	case ATOMSAN_UPDATE:
	case ATOMSAN_ATOMIC_RMW:
		return ATOMICITY_READ | ATOMICITY_WRITE;
	default:
		return 0;
	}
}

int atomicity_site_variable(const struct atomsan_site *site, struct atomicity_word variable)
{
	const char *type = text_at(&site->type), *member = text_at(&site->member),
		   *base = text_at(&site->base);

	if (*type && *member)
		return is_joined(variable, type, member);
	if ((site->base_kind & ATOMSAN_BASE_MASK) == ATOMSAN_BASE_GLOBAL && *base)
		return atomicity_word_is(variable, base);
	return -1;
}

bool atomicity_site_function(const struct atomsan_site *site, struct atomicity_word function,
			     struct atomicity_word file)
{
	return atomicity_word_is(function, text_at(&site->function)) && same_file(file, text_at(&site->file));
}

bool atomicity_function_is(const struct atomsan_function *entry, struct atomicity_word function,
			   struct atomicity_word file)
{
	return !(entry->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_ARGUMENT)) &&
	       atomicity_word_is(function, text_at(&entry->name)) && same_file(file, text_at(&entry->file));
}

static bool is_of(const struct atomicity_place *place, const struct atomsan_site *site)
{
	return atomicity_site_kinds(site) & place->kind &&
	       atomicity_site_function(site, place->function, place->file) &&
	       atomicity_site_variable(site, place->variable);
}

bool atomicity_place_at(const struct atomicity_place *place, uint32_t line, uint32_t column,
			const struct atomsan_site *site)
{
	return site->line == line && (!column || site->column == column) && is_of(place, site);
}

bool atomicity_place_is(const struct atomicity_place *place, const struct atomsan_site *site)
{
	return atomicity_place_at(place, place->line, place->column, site);
}

/* ---- tables of sites ---- */

/* An index has a head for each hash of a function's name, and for each site the next one of its hash; all
 * count from 1. */
enum { HEADS = 4096 };

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	return (hash ^ hash >> 12) % HEADS;
}

static uint32_t hash_word(struct atomicity_word word)
{
	uint32_t hash = 2166136261u;

	for (uint32_t at = 0; at < word.length;)
		hash = (hash ^ (unsigned char)letter(word, &at)) * 16777619u;
	return (hash ^ hash >> 12) % HEADS;
}

uint64_t atomicity_index_room(uint64_t count)
{
	return HEADS + count + 1;
}

void atomicity_index(struct atomicity_table *table, uint32_t *memory)
{
	/* From behind, so that the order is that of the table. */
	for (uint64_t i = table->count; i; i--) {
		uint32_t *head = &memory[hash_text(text_at(&table->sites[i - 1].function))];

		memory[HEADS + i] = *head;
		*head = (uint32_t)i;
	}
	table->index = memory;
}

/* The first site (counted from 1) that may belong to the place's function, and the one after another; 0:
 * none. */
static uint64_t step(const struct atomicity_place *place, const struct atomicity_table *table, uint64_t site)
{
	if (table->index)
		return site ? table->index[HEADS + site] : table->index[hash_word(place->function)];
	return site < table->count ? site + 1 : 0;
}

static uint64_t position(const struct atomsan_site *site)
{
	return (uint64_t)site->line << 16 | site->column;
}

/* More places of one kind in one function than this are not told apart. */
enum { MOST_PLACES = 512 };

/*
 * The positions at which the function has such a place, each once and in order;
 * their number. Places with a known variable are counted among themselves,
 * others are counted together.
 */
static uint32_t positions(const struct atomicity_place *place, const struct atomicity_table *table,
			  bool named, uint64_t *sorted)
{
	uint32_t count = 0;

	for (uint64_t i = 0; (i = step(place, table, i));) {
		const struct atomsan_site *site = &table->sites[i - 1];
		uint64_t at = position(site);
		uint32_t low = 0, high = count;

		if (!is_of(place, site) || (atomicity_site_variable(site, place->variable) > 0) != named)
			continue;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (sorted[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < count && sorted[low] == at)
			continue;
		if (count == MOST_PLACES)
			return 0;
		for (uint32_t k = count++; k > low; k--)
			sorted[k] = sorted[k - 1];
		sorted[low] = at;
	}
	return count;
}

uint64_t atomicity_next_site(const struct atomicity_place *place, uint32_t line, uint32_t column,
			     const struct atomicity_table *table, uint64_t before)
{
	while ((before = step(place, table, before)))
		if (atomicity_place_at(place, line, column, &table->sites[before - 1]))
			return before;
	return 0;
}

static bool lies_at(const struct atomicity_place *place, const struct atomicity_table *table, bool *named)
{
	bool found = false;

	*named = false;
	for (uint64_t i = 0; (i = atomicity_next_site(place, place->line, place->column, table, i));) {
		found = true;
		*named |= atomicity_site_variable(&table->sites[i - 1], place->variable) > 0;
	}
	return found;
}

void atomicity_number(struct atomicity_place *place, const struct atomicity_table *table)
{
	uint64_t here = (uint64_t)place->line << 16 | place->column, sorted[MOST_PLACES];
	uint32_t count;
	bool named;

	place->ordinal = place->count = 0;
	if (!place->column || !lies_at(place, table, &named))
		return;
	count = positions(place, table, named, sorted);
	for (uint32_t i = 0; i < count; i++)
		if (sorted[i] == here) {
			place->ordinal = i + 1;
			place->count = count;
		}
}

bool atomicity_match(const struct atomicity_place *place, const struct atomicity_table *table,
		     bool same_build, uint32_t *line, uint32_t *column)
{
	uint64_t sorted[MOST_PLACES];
	bool named;

	if (!same_build && place->ordinal)
		for (int with_name = 1; with_name >= 0; with_name--) {
			uint32_t count = positions(place, table, with_name, sorted);

			if (count == place->count) {
				*line = (uint32_t)(sorted[place->ordinal - 1] >> 16);
				*column = (uint32_t)(sorted[place->ordinal - 1] & 0xffff);
				return true;
			}
			if (count)
				break; /* the function has changed */
		}
	*line = place->line;
	*column = place->column;
	return lies_at(place, table, &named);
}
