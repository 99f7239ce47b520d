/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * section VARIABLE entry FILE:LINE (end FILE:LINE [allow KINDS])... [unit FUNCTION]
 *
 * What the sources do not say about atomic sections. Checkers have no use for
 * them; `atomsan learn` puts them into the atomicity repository.
 */
#include "model/spec_inside.h"

#include <stdlib.h>
#include <string.h>

static bool is_position(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon && colon != word && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1) &&
	       strlen(colon + 1) < 10 && atoi(colon + 1) > 0;
}

/* ~0: none of the words. */
static unsigned kinds_of(const char *word)
{
	static const struct {
		const char *word;
		unsigned kinds;
	} known[] = {{"none", 0}, {"R", 1}, {"W", 2}, {"RW", 3}};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(word, known[i].word))
			return known[i].kinds;
	return ~0u;
}

static void release(struct spec_section *section)
{
	free(section->variable);
	free(section->entry);
	free(section->unit);
	for (uint32_t i = 0; i < section->end_count; i++)
		free(section->ends[i]);
	free(section->ends);
	free(section->allow);
}

static const char *read_words(struct spec_section *section, char **words, int count)
{
	static const char usage[] =
		"expected 'section VARIABLE entry FILE:LINE end FILE:LINE [allow R|W|RW|none] "
		"[end ...] [unit FUNCTION]'";
	int at = 4;

	if (count < 6 || strcmp(words[2], "entry") != 0 || !is_position(words[3]))
		return usage;
	section->variable = mem_text(words[1]);
	section->entry = mem_text(words[3]);
	for (; at + 1 < count && !strcmp(words[at], "end"); at += 2) {
		uint32_t n = section->end_count;

		if (!is_position(words[at + 1]))
			return usage;
		section->ends = mem_resize(section->ends, n + 1ul, sizeof(*section->ends));
		section->allow = mem_resize(section->allow, n + 1ul, sizeof(*section->allow));
		section->ends[n] = mem_text(words[at + 1]);
		section->allow[n] = ~0u;
		section->end_count++;
		if (at + 3 < count && !strcmp(words[at + 2], "allow")) {
			section->allow[n] = kinds_of(words[at + 3]);
			if (section->allow[n] == ~0u)
				return usage;
			at += 2;
		}
	}
	if (at + 1 < count && !strcmp(words[at], "unit")) {
		section->unit = mem_text(words[at + 1]);
		at += 2;
	}
	return at == count && section->end_count ? NULL : usage;
}

const char *spec_add_section(struct spec *spec, char **words, int count, const char *where, unsigned line)
{
	struct spec_section section = {.where = where, .line = line};
	const char *wrong = read_words(&section, words, count);

	if (wrong) {
		release(&section);
		return wrong;
	}
	spec->sections = mem_resize(spec->sections, spec->section_count + 1ul, sizeof(*spec->sections));
	spec->sections[spec->section_count++] = section;
	return NULL;
}

const struct spec_section *spec_sections(const struct spec *spec, uint32_t *count)
{
	*count = spec->section_count;
	return spec->sections;
}

void spec_release_sections(struct spec *spec)
{
	for (uint32_t i = 0; i < spec->section_count; i++)
		release(&spec->sections[i]);
	free(spec->sections);
}
