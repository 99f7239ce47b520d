/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The repository's language, line by line. A section is a line that begins
 * with the word `section`, and the lines after it up to the next one that
 * begins something else; whether lines are indented does not matter.
 */
#include "atomicity/atomicity.h"

enum { MOST_WORDS = 16 };

struct line {
	struct atomicity_word words[MOST_WORDS];
	uint32_t count;
};

static bool is(struct atomicity_word word, const char *text)
{
	return !word.quoted && atomicity_word_is(word, text);
}

static int bad(struct atomicity_reader *reader, const char *sentence)
{
	reader->sentence = sentence;
	return -1;
}

/* ---- words ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next line that says something: 1, 0 at the end, -1. The reader stands behind it then. */
static int split(struct atomicity_reader *reader, struct line *line)
{
	const char *p = reader->next, *end = reader->end;

	line->count = 0;
	while (p < end && !line->count) {
		reader->line_after++;
		while (p < end && *p != '\n') {
			struct atomicity_word word = {.at = p};

			if (is_blank(*p)) {
				p++;
				continue;
			}
			if (*p == '#' && !line->count) {
				while (p < end && *p != '\n')
					p++;
				break;
			}
			if (*p == '"') {
				word = (struct atomicity_word){.at = ++p, .quoted = true};
				while (p < end && *p != '"' && *p != '\n')
					p += *p == '\\' && p + 1 < end && p[1] != '\n' ? 2 : 1;
				if (p >= end || *p != '"')
					return bad(reader, "a quote is opened and not closed");
				word.length = (uint32_t)(p++ - word.at);
				if (p < end && *p != '\n' && !is_blank(*p))
					return bad(reader, "something stands right behind a closing quote");
			} else {
				while (p < end && *p != '\n' && !is_blank(*p)) {
					if (!*p)
						return bad(reader, "this is no text");
					p++;
				}
				word.length = (uint32_t)(p - word.at);
			}
			if (line->count == MOST_WORDS)
				return bad(reader, "this has too many words");
			line->words[line->count++] = word;
		}
		p += p < end;
	}
	reader->next = p;
	return line->count != 0;
}

static bool number_of(const char *at, uint32_t length, uint64_t most, uint64_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < length; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(at[i] - '0');
		if (*number > most)
			return false;
	}
	return length != 0;
}

static bool number_word(struct atomicity_word word, uint64_t most, uint64_t *number)
{
	return !word.quoted && number_of(word.at, word.length, most, number);
}

/* "R", "W", "RW"; 0 for anything else. */
static unsigned kinds_of(struct atomicity_word word)
{
	return is(word, "R")    ? ATOMICITY_READ
	       : is(word, "W")  ? ATOMICITY_WRITE
	       : is(word, "RW") ? ATOMICITY_READ | ATOMICITY_WRITE
				: 0;
}

/* FILE:LINE:COLUMN, from behind: names of files may have colons. */
static bool position_of(struct atomicity_place *place, struct atomicity_word word)
{
	uint64_t numbers[2];

	for (int i = 1; i >= 0; i--) {
		uint32_t colon = word.length;

		while (colon && word.at[colon - 1] != ':')
			colon--;
		if (colon < 2 || !number_of(word.at + colon, word.length - colon, i ? UINT16_MAX : UINT32_MAX,
					    &numbers[i]))
			return false;
		word.length = colon - 1;
	}
	place->file = word;
	place->line = (uint32_t)numbers[0];
	place->column = (uint32_t)numbers[1];
	return place->line != 0;
}

/* #K/N */
static bool ordinal_of(struct atomicity_place *place, struct atomicity_word word)
{
	uint64_t k, n;
	uint32_t slash = 1;

	while (slash < word.length && word.at[slash] != '/')
		slash++;
	if (slash == word.length || !number_of(word.at + 1, slash - 1, UINT32_MAX, &k) ||
	    !number_of(word.at + slash + 1, word.length - slash - 1, UINT32_MAX, &n) || !k || k > n)
		return false;
	place->ordinal = (uint32_t)k;
	place->count = (uint32_t)n;
	return true;
}

/* KIND VARIABLE FUNCTION FILE:LINE:COLUMN [#K/N], from the word `*at` on. */
static int place_of(struct atomicity_reader *reader, const struct line *line, uint32_t *at,
		    struct atomicity_place *place)
{
	*place = (struct atomicity_place){0};
	if (line->count < *at + 4)
		return bad(reader, "a place has a kind, a variable, a function and FILE:LINE:COLUMN");
	place->kind = kinds_of(line->words[*at]);
	if (place->kind != ATOMICITY_READ && place->kind != ATOMICITY_WRITE)
		return bad(reader, "a place is read (R) or written (W)");
	place->variable = line->words[*at + 1];
	place->function = line->words[*at + 2];
	if (!position_of(place, line->words[*at + 3]))
		return bad(reader, "a place lies at FILE:LINE:COLUMN");
	*at += 4;
	if (*at < line->count && !line->words[*at].quoted && line->words[*at].at[0] == '#') {
		if (!ordinal_of(place, line->words[*at]))
			return bad(reader, "which of how many places it is stands as #1/2");
		++*at;
	}
	return 0;
}

/* ---- what a section has ---- */

static int end_of(struct atomicity_reader *reader, const struct line *line)
{
	struct atomicity_section *section = &reader->section;
	struct atomicity_end *end = &section->ends[section->end_count];
	uint32_t at = 1;

	if (section->end_count == ATOMICITY_ENDS)
		return bad(reader, "a section has at most 64 ends");
	if (!section->entry.kind)
		return bad(reader, "the entry of a section comes before its ends");
	if (place_of(reader, line, &at, &end->place) < 0)
		return -1;
	end->allow = atomicity_serializable(section->entry.kind, end->place.kind);
	if (at < line->count) {
		if (!is(line->words[at], "allow") || ++at == line->count)
			return bad(reader, "behind an end only 'allow' and kinds can stand");
		end->allow = 0;
		for (; at < line->count; at++) {
			unsigned kinds = kinds_of(line->words[at]);

			if (!kinds && !is(line->words[at], "none"))
				return bad(reader, "others can be allowed R, W, RW or none");
			end->allow |= kinds;
		}
	}
	section->end_count++;
	return 0;
}

static int from_of(struct atomicity_reader *reader, const struct line *line)
{
	struct atomicity_section *section = &reader->section;
	struct atomicity_from *from = &section->from[section->from_count];
	const struct atomicity_word *words = line->words;
	uint64_t number;

	if (section->from_count == ATOMICITY_FROMS)
		return bad(reader, "a section comes from at most 16 sources");
	*from = (struct atomicity_from){0};
	if (line->count == 3 && is(words[1], "spec")) {
		from->origin = ATOMICITY_SPEC;
		from->what = words[2];
	} else if (line->count == 2 && is(words[1], "annotation")) {
		from->origin = ATOMICITY_ANNOTATION;
	} else if (line->count == 4 && is(words[1], "finding")) {
		from->origin = ATOMICITY_FINDING;
		from->what = words[2];
		from->state = words[3];
	} else if (line->count == 4 && is(words[1], "lint") && number_word(words[3], 1000, &number)) {
		from->origin = ATOMICITY_LINT;
		from->what = words[2];
		from->confidence = (uint32_t)number;
	} else if ((line->count == 6 || (line->count == 7 && is(words[6], "guarded"))) &&
		   is(words[1], "learned") && is(words[3], "runs") && is(words[5], "times") &&
		   number_word(words[2], INT64_MAX / 16, &from->runs) &&
		   number_word(words[4], INT64_MAX / 16, &from->times)) {
		from->origin = ATOMICITY_LEARNED;
		from->guarded = line->count == 7;
	} else {
		return bad(reader, "a section is from 'spec WHERE', 'annotation', 'finding ID STATE', "
				   "'lint PATTERN PER-MILLE' or 'learned N runs M times [guarded]'");
	}
	section->from_count++;
	return 0;
}

/* 1: the line is part of the section; 0: it begins something else. */
static int section_line(struct atomicity_reader *reader, const struct line *line)
{
	struct atomicity_section *section = &reader->section;
	struct atomicity_word word = line->words[0];
	uint32_t at = 1;

	if (is(word, "entry")) {
		if (section->entry.kind)
			return bad(reader, "a section has one entry");
		if (place_of(reader, line, &at, &section->entry) < 0)
			return -1;
		return at == line->count ? 1 : bad(reader, "nothing can stand behind an entry");
	}
	if (is(word, "end"))
		return end_of(reader, line) < 0 ? -1 : 1;
	if (is(word, "from"))
		return from_of(reader, line) < 0 ? -1 : 1;
	if (is(word, "unit")) {
		if (line->count != 3)
			return bad(reader, "a unit is a function and its file");
		section->unit = line->words[1];
		section->unit_file = line->words[2];
		return 1;
	}
	if (is(word, "instance")) {
		if (line->count != 2 || (!is(line->words[1], "same") && !is(line->words[1], "any")))
			return bad(reader, "an instance is 'same' or 'any'");
		section->any = is(line->words[1], "any");
		return 1;
	}
	if (is(word, "heal")) {
		static const char *const ways[] = {NULL, "lock", "schedule", "off"};

		for (unsigned i = 1; i < sizeof ways / sizeof *ways && line->count == 2; i++)
			if (is(line->words[1], ways[i])) {
				section->heal = (enum atomicity_heal)i;
				return 1;
			}
		return bad(reader, "healing is 'lock', 'schedule' or 'off'");
	}
	if (line->count == 1 && is(word, "circular"))
		return section->circular = true;
	if (line->count == 1 && is(word, "recursive"))
		return section->recursive = true;
	if (line->count == 1 && is(word, "consecutive"))
		return section->consecutive = true;
	return 0;
}

static bool well_formed_id(struct atomicity_word word)
{
	if (word.quoted || word.length < 3 || word.length > 24 || word.at[0] != 'A' || word.at[1] != '-')
		return false;
	for (uint32_t i = 2; i < word.length; i++)
		if (!(word.at[i] >= '0' && word.at[i] <= '9') && !(word.at[i] >= 'a' && word.at[i] <= 'f'))
			return false;
	return true;
}

/* Member by member: as a whole it is large enough for the compiler to call memset, which the runtime must
 * not. */
static void clear(struct atomicity_section *section)
{
	section->entry.kind = 0;
	section->end_count = section->from_count = 0;
	section->unit = section->unit_file = (struct atomicity_word){0};
	section->any = section->circular = section->recursive = section->consecutive = false;
	section->heal = ATOMICITY_HEAL_DEFAULT;
}

static int read_section(struct atomicity_reader *reader, const struct line *head)
{
	uint32_t first = reader->line;
	struct line line;
	int more;

	clear(&reader->section);
	if (head->count != 3 || !well_formed_id(head->words[1]))
		return bad(reader, "a section has an id, A- and hexadecimal digits, and a variable");
	reader->section.id = head->words[1];
	reader->section.variable = head->words[2];
	for (;;) {
		const char *next = reader->next;
		uint32_t line_after = reader->line_after;

		more = split(reader, &line);
		reader->line = reader->line_after;
		if (more > 0)
			more = section_line(reader, &line);
		if (more < 0)
			return -1;
		if (!more) {
			reader->next = next;
			reader->line_after = line_after;
			break;
		}
	}
	reader->line = first;
	if (!reader->section.entry.kind || !reader->section.end_count)
		return bad(reader, "this section lacks its entry or its ends");
	reader->item = ATOMICITY_SECTION;
	return 1;
}

/* ---- the file ---- */

static int header(struct atomicity_reader *reader)
{
	struct line line;
	int more = split(reader, &line);
	uint64_t version;

	reader->started = true;
	/* An empty file has no line, but people count from 1. */
	reader->line = reader->line_after ? reader->line_after : 1;
	if (more < 0)
		return -1;
	if (!more || line.count != 2 || !is(line.words[0], "atomicity") ||
	    !number_word(line.words[1], UINT32_MAX, &version))
		return bad(reader, "this is no atomicity repository: it must begin with 'atomicity 1'");
	if (version != ATOMICITY_VERSION)
		return bad(reader, "this repository is written in a version of the language that is not "
				   "known here");
	return 1;
}

void atomicity_begin(struct atomicity_reader *reader, const char *text, size_t length)
{
	reader->next = text;
	reader->end = text + length;
	reader->line = reader->line_after = 0;
	reader->program = reader->build = (struct atomicity_word){0};
	reader->sentence = NULL;
	reader->started = false;
}

int atomicity_next(struct atomicity_reader *reader)
{
	struct line line;
	int more;

	if (reader->sentence || (!reader->started && header(reader) < 0))
		return -1;
	while ((more = split(reader, &line)) > 0) {
		struct atomicity_word word = line.words[0];

		reader->line = reader->line_after;
		if (is(word, "program") && line.count == 2) {
			reader->program = line.words[1];
		} else if (is(word, "build") && line.count == 2) {
			reader->build = line.words[1];
		} else if (is(word, "section")) {
			return read_section(reader, &line);
		} else if (is(word, "order") && line.count == 3) {
			reader->order[0] = line.words[1];
			reader->order[1] = line.words[2];
			reader->item = ATOMICITY_ORDER;
			return 1;
		} else if (is(word, "broken")) {
			uint32_t at = 1;

			if (place_of(reader, &line, &at, &reader->broken[0]) < 0 ||
			    place_of(reader, &line, &at, &reader->broken[1]) < 0)
				return -1;
			if (at != line.count)
				return bad(reader, "nothing can stand behind a broken pair");
			reader->item = ATOMICITY_BROKEN;
			return 1;
		} else {
			return bad(reader, "this line begins with no word that is known here");
		}
	}
	if (more < 0)
		reader->line = reader->line_after;
	return more;
}
